/** The fleet as the kept looks last showed it: for whoever only glances at it. No host is looked at for that. */
import type {HostName} from '../domain/host.ts';
import {type SeenHost, seenHost} from '../domain/host-report.ts';
import type {EngineDeps} from './deps.ts';
import type {KeptLook} from './ports.ts';
import {diagnoseWithMemory} from './survey.ts';

/** A look so young may still be made deeper under the same name. */
const SETTLED_MS = 60_000;

/** Each stored look is read and understood once; a big fleet is glanced at often. Hosts of the hosts file only. */
export function makeLastSeen(deps: EngineDeps): () => Promise<readonly SeenHost[]> {
  const known = new Map<HostName, SeenHost>();

  const read = async ({host, bootId, takenAtMs}: KeptLook): Promise<SeenHost | null> => {
    const before = known.get(host);
    const isSame = before?.takenAtMs === takenAtMs && before.bootId === bootId;
    if (isSame && deps.clock.now() - takenAtMs > SETTLED_MS) return before;
    const snapshot = (await deps.store.looksAt(host, bootId, takenAtMs)).at(-1);
    if (snapshot === undefined) return null;
    const seen = seenHost(await deps.turns(() => diagnoseWithMemory(deps, snapshot)));
    known.set(host, seen);
    return seen;
  };

  return async () => {
    const seen: SeenHost[] = [];
    for (const look of await deps.store.lastLooks()) {
      if (!deps.hosts.has(look.host)) continue;
      // A damaged look says nothing of the others.
      const host = await read(look).catch(() => null);
      if (host !== null) seen.push(host);
    }
    return seen;
  };
}
