/** Drills: a lab host on the bot's own machine, on which everybody may give the go. What proves that a host is one. */
import type {Failure} from './failure.ts';
import type {Host} from './host.ts';
import type {Snapshot} from './snapshot.ts';

/** The name that a lab's `nvidia-smi` gives to each GPU; no driver does. */
export const STAND_IN_GPU = 'Lab stand-in GPU';

/**
 * Why nothing may be reclaimed on a host that is marked as practice: each of its GPUs must say that it is a stand-in, so
 * that a mark at the wrong host never opens real processes to everybody. null for a lab, and for any host without the mark.
 */
export function refusePractice(host: Host, snapshot: Snapshot): Failure | null {
  if (!host.practice) return null;
  const real = snapshot.gpus.find((gpu) => gpu.name !== STAND_IN_GPU);
  if (snapshot.gpus.length > 0 && real === undefined) return null;
  return {reason: 'not-a-practice-host', host: host.name, gpu: real?.name ?? null};
}

/** All hosts that count where nobody names any: drills are no part of a fleet, unless there is nothing else. */
export function fleetOf<T extends Pick<Host, 'practice'>>(hosts: readonly T[]): readonly T[] {
  const real = hosts.filter(({practice}) => !practice);
  return real.length === 0 ? hosts : real;
}
