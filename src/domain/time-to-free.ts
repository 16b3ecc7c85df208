/** How fast memory came back after the last signal, per GPU, by the host's own clock and the samples of its watch. */
import type {Plan} from './plan.ts';
import type {Run, RunEvent} from './run.ts';
import {attemptsOf, planOf, stopsOf} from './run-state.ts';
import {mibOf} from './snapshot.ts';

/**
 * `free`: down to what those that stay explain · `earlier`: its targets had ended before the last signal, which was for
 * others · `still-falling`: the time to watch was over while it fell · `stalled`: it had stopped falling above that level ·
 * `not-seen`: no figure of it after the last signal, or none to the end.
 */
export type HowFreed = 'free' | 'earlier' | 'still-falling' | 'stalled' | 'not-seen';

export interface GpuTime {
  readonly gpuUuid: string;
  readonly index: number | null;
  /** MiB in use as last seen before the last signal. */
  readonly fromMiB: number;
  /** MiB in use at the last sample; null without one. */
  readonly lastMiB: number | null;
  /**
   * ms from the last signal to the first sample that shows half of what was to go gone (T50), and all of it (T100); null
   * if none does. A sample is stamped when nvidia-smi has answered, so each is at most one call too long, never too short.
   */
  readonly halfMs: number | null;
  readonly allMs: number | null;
  readonly how: HowFreed;
}

/** The GPUs on which targets held memory that was to go; none without a signal. */
export function timeToFree(run: Run): readonly GpuTime[] {
  const plan = planOf(run)?.plan;
  const sent = attemptsOf(run).flatMap(({result, uptimeMs}) =>
    result === 'sent' && uptimeMs !== null ? uptimeMs : [],
  );
  // What an owner was asked to end, it ended by its own signals: the last of them was no later than this.
  const stopped = stopsOf(run).flatMap(({result, uptimeMs}) =>
    result === 'stopped' && uptimeMs !== null ? uptimeMs : [],
  );
  const ends = [...sent, ...stopped];
  if (plan === undefined || ends.length === 0) return [];
  const signalMs = Math.max(...ends);
  const touched = new Set(plan.targets.flatMap((target) => target.gpuUuids));
  return plan.gpus
    .filter((gpu) => touched.has(gpu.gpuUuid))
    .flatMap((gpu) =>
      timeOf(run, plan, {gpuUuid: gpu.gpuUuid, index: gpu.index, levelMiB: gpu.afterAtMostMiB}, signalMs),
    );
}

function timeOf(
  run: Run,
  plan: Plan,
  gpu: {readonly gpuUuid: string; readonly index: number | null; readonly levelMiB: number | null},
  signalMs: number,
): readonly GpuTime[] {
  const {gpuUuid, index} = gpu;
  const samples = samplesOf(run, gpuUuid);
  const fromMiB = figuresBefore(run, gpuUuid, signalMs).at(-1)?.usedMiB;
  const after = samples.filter((sample) => sample.uptimeMs >= signalMs);
  const last = after.at(-1);
  const settled = lastOf(run, 'settled');
  // The watch itself knew what the others had grown to; the plan may be older than that.
  const levelMiB =
    settled?.how === 'expected' && last !== undefined ? Math.max(gpu.levelMiB ?? 0, last.usedMiB) : gpu.levelMiB;
  if (fromMiB === undefined || (levelMiB !== null && fromMiB <= levelMiB)) return [];
  const atMost = (MiB: number): number | null => {
    const reached = after.find((sample) => sample.usedMiB <= MiB);
    return reached === undefined ? null : reached.uptimeMs - signalMs;
  };
  const halfMs = levelMiB === null ? null : atMost(fromMiB - (fromMiB - levelMiB) / 2);
  const allMs = levelMiB === null ? null : atMost(levelMiB);
  const how = howOf({after, fromMiB, allMs, settled, stalledMs: plan.stalledMs, signalMs});
  const earlier = how === 'free' && endedBefore(run, plan, gpuUuid, signalMs);
  return [
    {
      gpuUuid,
      index,
      fromMiB,
      lastMiB: last?.usedMiB ?? null,
      halfMs: earlier ? null : halfMs,
      allMs: earlier ? null : allMs,
      how: earlier ? 'earlier' : how,
    },
  ];
}

export interface Sample {
  readonly uptimeMs: number;
  readonly usedMiB: number;
}

function howOf(seen: {
  readonly after: readonly Sample[];
  readonly fromMiB: number;
  readonly allMs: number | null;
  readonly settled: EventOf<'settled'> | null;
  readonly stalledMs: number;
  readonly signalMs: number;
}): HowFreed {
  const {after, settled} = seen;
  if (seen.allMs !== null) return 'free';
  if (after.length === 0 || settled === null || settled.how === 'unreadable') return 'not-seen';
  // Only what the watch was still waiting for when its time was over can be on its way down.
  if (settled.how !== 'timed-out') return 'stalled';
  let lowestMiB = seen.fromMiB;
  let fellAtMs = seen.signalMs;
  for (const sample of after) {
    if (sample.usedMiB >= lowestMiB) continue;
    lowestMiB = sample.usedMiB;
    fellAtMs = sample.uptimeMs;
  }
  return settled.uptimeMs - fellAtMs < seen.stalledMs ? 'still-falling' : 'stalled';
}

/** Whether everybody who was to let go of this GPU had ended when the last signal went out. */
function endedBefore(run: Run, plan: Plan, gpuUuid: string, signalMs: number): boolean {
  const ended = new Set(
    run.events.flatMap((event) =>
      event.kind === 'seen' && event.uptimeMs < signalMs && ENDED.has(event.observation) ? event.pid : [],
    ),
  );
  return plan.targets
    .filter((target) => target.gpuUuids.includes(gpuUuid))
    .every((target) => ended.has(target.identity.pid));
}

const ENDED: ReadonlySet<string> = new Set(['gone', 'zombie', 'replaced']);

export function samplesOf(run: Run, gpuUuid: string): readonly Sample[] {
  return run.events
    .flatMap((event): readonly Sample[] => {
      const usedMiB = event.kind === 'memory' ? event.usedMiB[gpuUuid] : undefined;
      return event.kind !== 'memory' || usedMiB === undefined ? [] : [{uptimeMs: event.uptimeMs, usedMiB}];
    })
    .toSorted((a, b) => a.uptimeMs - b.uptimeMs);
}

/** Samples and whole looks of the same boot, oldest first. */
export function figuresBefore(run: Run, gpuUuid: string, signalMs: number): readonly Sample[] {
  const looks = run.events.flatMap((event): readonly Sample[] => {
    if ((event.kind !== 'surveyed' && event.kind !== 'rechecked') || event.snapshot.uptimeMs > signalMs) return [];
    const gpu = event.snapshot.gpus.find((one) => one.uuid === gpuUuid);
    const usedMiB = gpu === undefined ? null : mibOf(gpu.usedMiB);
    return usedMiB === null ? [] : [{uptimeMs: event.snapshot.uptimeMs, usedMiB}];
  });
  const samples = samplesOf(run, gpuUuid).filter((sample) => sample.uptimeMs < signalMs);
  return [...looks, ...samples].toSorted((a, b) => a.uptimeMs - b.uptimeMs);
}

type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, {kind: K}>;

function lastOf<K extends RunEvent['kind']>(run: Run, kind: K): EventOf<K> | null {
  return run.events.findLast((event): event is EventOf<K> => event.kind === kind) ?? null;
}
