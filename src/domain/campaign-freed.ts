/** When a campaign's memory came back: by a reclaim that was watched, or between two looks that show it. Never guessed. */
import type {HostFacts} from './host-facts.ts';
import type {RunId} from './run.ts';
import type {HostSamples} from './samples.ts';
import type {GpuTime} from './time-to-free.ts';

/** A reclaim on the host since the campaign's start that signalled. */
export interface LinkedRun {
  readonly id: RunId;
  readonly times: readonly GpuTime[];
}

export interface Freed {
  readonly index: number | null;
  readonly how: /** Watched to its end, or as far as it was. */
    | {readonly kind: 'run'; readonly id: RunId; readonly time: GpuTime}
    /** Memory fell between these two, epoch ms: `samples`, or `looks` of which one is the end's or a later one's. */
    | {readonly kind: 'samples' | 'looks'; readonly afterMs: number; readonly byMs: number};
}

/** A fall of less than this is no "freed": figures breathe. */
const FELL_MIB = 256;

/** GPUs whose memory was seen to come back, each by the most exact that is known of its last fall. */
export function freedGpus(
  gpus: readonly {readonly uuid: string; readonly index: number | null}[],
  seen: {
    readonly samples: HostSamples | null;
    readonly runs: readonly LinkedRun[];
    /** At the end, and now; the same where it has just ended. */
    readonly after: HostFacts;
    readonly now: HostFacts;
  },
): readonly Freed[] {
  return gpus.flatMap(({uuid, index}): readonly Freed[] => {
    const run = seen.runs.findLast(({times}) => times.some(({gpuUuid}) => gpuUuid === uuid));
    const time = run?.times.find(({gpuUuid}) => gpuUuid === uuid);
    if (run !== undefined && time !== undefined) return [{index, how: {kind: 'run', id: run.id, time}}];
    const [after, now] = [usedMiB(seen.after, uuid), usedMiB(seen.now, uuid)];
    if (after !== null && now !== null && after - now >= FELL_MIB)
      return [{index, how: {kind: 'looks', afterMs: seen.after.seen.takenAtMs, byMs: seen.now.seen.takenAtMs}}];
    const peak = seen.samples?.gpus.find((gpu) => gpu.uuid === uuid);
    if (peak === undefined) return [];
    if (after !== null && peak.lastMiB - after >= FELL_MIB)
      return [{index, how: {kind: 'looks', afterMs: peak.lastAtMs, byMs: seen.after.seen.takenAtMs}}];
    return peak.fell === null
      ? []
      : [{index, how: {kind: 'samples', afterMs: peak.fell.afterMs, byMs: peak.fell.byMs}}];
  });
}

function usedMiB({seen}: HostFacts, uuid: string): number | null {
  return seen.gpus.find((gpu) => gpu.uuid === uuid)?.usedMiB ?? null;
}
