/** Which deeper look a closing report needs: for survivors, what holds them; for a next start, Xid lines, shared memory, the port. */
import type {DeepRequest} from './deep.ts';
import type {Outcome} from './outcome.ts';
import type {Snapshot} from './snapshot.ts';

/**
 * null where another exec would tell nothing: nothing was signalled, the closing look failed, or it went deeper already and
 * nobody survived. `surveyed`: the look that the run began with; Xid lines count from there.
 */
export function closingRequest(
  surveyed: Snapshot,
  closing: Snapshot | null,
  outcome: Outcome,
  signalled: boolean,
): DeepRequest | null {
  if (closing === null || !signalled) return null;
  const pids = outcome.survivors.filter((one) => one.observation !== 'unknown').map((one) => one.pid);
  if (closing.deep !== null && pids.length === 0) return null;
  const isSameBoot = closing.machine.bootId === surveyed.machine.bootId;
  return {pids, sinceUptimeMs: isSameBoot ? surveyed.uptimeMs : null};
}
