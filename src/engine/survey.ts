/** One look at a host: probe, parse, remember. Signals nothing. */

import type {DeepRequest} from '../domain/deep.ts';
import {deepen, needsDeeper, needsDeeperFor} from '../domain/deepen.ts';
import {diagnose} from '../domain/diagnose.ts';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {withMovedBills} from '../domain/moved-bill.ts';
import {parseDeep} from '../domain/parse/deep.ts';
import {parseProbe} from '../domain/parse/probe-output.ts';
import type {Plan} from '../domain/plan.ts';
import {INITIAL_PID_NAMESPACE} from '../domain/process.ts';
import {mibOf, type Snapshot} from '../domain/snapshot.ts';
import type {Transcript} from '../domain/transcript.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import type {Look} from './ports.ts';
import {noteLook} from './sampling.ts';

/** How far back an earlier look may tell whose child, or whose memory, something was. */
export const EARLIER_LOOKS_MS = 7 * 24 * 3_600_000;

/** `deeperMs`: how long deeper looks took after the first had come back, monotonic. The host's uptime went on meanwhile. */
export interface Surveyed extends Look {
  readonly deeperMs: number;
}

/** Literals are always the policy's workloads; `match` is the request's own. `pids` are wanted even if they hold nothing. */
export async function survey(
  deps: EngineDeps,
  name: HostName,
  wanted: {readonly match: string | null; readonly pids: readonly number[]},
): Promise<Result<Surveyed>> {
  const literals = [
    ...new Set([
      ...deps.policy.workloads.flatMap((workload) => workload.literals),
      ...(wanted.match === null ? [] : [wanted.match]),
    ]),
  ];
  const answer = await deps.remote.host(name).probe({literals, pids: wanted.pids});
  if (!answer.ok) return answer;
  const takenAtMs = deps.clock.now();
  const look = await deps.turns(() => understand(deps, answer.value, takenAtMs));
  if (!look.ok) return look;
  if (!needsDeeper(look.value.diagnosis)) return ok({...look.value, deeperMs: 0});
  return ok(await lookDeeper(deps, look.value, {pids: [], sinceUptimeMs: null}));
}

/** A look at what became of a plan. What only a deeper look showed when it was made, only a deeper look can show again. */
export async function surveyFor(
  deps: EngineDeps,
  name: HostName,
  plan: Plan,
  wanted: Parameters<typeof survey>[2],
): Promise<Result<Surveyed>> {
  const look = await survey(deps, name, wanted);
  if (!look.ok || !needsDeeperFor(plan, look.value.diagnosis)) return look;
  return ok(await lookDeeper(deps, look.value, {pids: [], sinceUptimeMs: null}));
}

/** A look, and what the earlier ones of this boot tell of it. A store that cannot be read tells nothing, and fails nothing. */
export async function lookWithEarlier(deps: EngineDeps, name: HostName): Promise<Result<Look>> {
  const look = await survey(deps, name, {match: null, pids: []});
  if (!look.ok) return look;
  const {snapshot, diagnosis} = look.value;
  const earlier = await deps.store
    .looksAt(name, snapshot.machine.bootId, snapshot.takenAtMs - EARLIER_LOOKS_MS)
    .catch(() => []);
  return ok({snapshot, diagnosis: withMovedBills(diagnosis, earlier)});
}

/** The same look with what a second exec finds; as it was, where that one fails: the account then says what is missing. */
export async function lookDeeper(
  deps: EngineDeps,
  look: Look & Partial<Surveyed>,
  request: DeepRequest,
): Promise<Surveyed> {
  const host = look.snapshot.host;
  const beganTicks = deps.clock.ticks();
  const tookMs = () => (look.deeperMs ?? 0) + deps.clock.ticks() - beganTicks;
  const answer = await deps.remote.host(host).deep(request);
  const deep = answer.ok ? parseDeep(answer.value, deps.clock.now()) : answer;
  if (!deep.ok) {
    deps.log.warn({host, reason: deep.failure.reason}, 'no deeper look');
    return {...look, deeperMs: tookMs()};
  }
  return deps.turns(async () => {
    const snapshot = deepen(look.snapshot, deep.value);
    await keep(deps, snapshot);
    const diagnosis = await diagnoseWithMemory(deps, snapshot);
    return {snapshot, diagnosis, deeperMs: tookMs()};
  });
}

async function understand(deps: EngineDeps, transcript: Transcript, takenAtMs: number): Promise<Result<Look>> {
  const parsed = parseProbe(transcript, takenAtMs);
  if (!parsed.ok) return parsed;
  const snapshot = parsed.value;
  await keep(deps, snapshot);
  await noteLook(deps, snapshot).catch((error: unknown) =>
    deps.log.warn({host: snapshot.host, error: String(error)}, 'look not noted for a campaign'),
  );
  return ok({snapshot, diagnosis: await diagnoseWithMemory(deps, snapshot)});
}

/** A look that cannot be remembered is still a look: only signalling needs the store. */
async function keep(deps: EngineDeps, snapshot: Snapshot): Promise<void> {
  await remember(deps, snapshot).catch((error: unknown) =>
    deps.log.warn({host: snapshot.host, error: String(error)}, 'look not remembered'),
  );
}

export async function diagnoseWithMemory(deps: EngineDeps, snapshot: Snapshot): Promise<Diagnosis> {
  const baselines = await deps.store
    .baselines(snapshot.gpus.map((gpu) => gpu.uuid))
    .catch(() => new Map<string, number>());
  return diagnose(snapshot, {host: hostOf(deps, snapshot.host), policy: deps.policy, baselines});
}

/** Keeps the look, and a GPU's figure as its baseline where nobody holds it and nothing was hidden from us. */
async function remember(deps: EngineDeps, snapshot: Snapshot): Promise<void> {
  await deps.store.keepLook(snapshot);
  const inSight =
    snapshot.sight.full &&
    (snapshot.machine.pidNamespace === INITIAL_PID_NAMESPACE || hostOf(deps, snapshot.host).labPidNamespace);
  if (!inSight || snapshot.smi.state !== 'answered' || snapshot.holdings.length > 0 || snapshot.charges.length > 0)
    return;
  for (const gpu of snapshot.gpus) {
    const usedMiB = mibOf(gpu.usedMiB);
    if (usedMiB !== null && gpu.fault === null) await deps.store.noteBaseline(gpu.uuid, usedMiB, snapshot.takenAtMs);
  }
}
