/** How memory went down on the GPUs of a run's targets, beside the moments of its signals: what `time-to-free.ts` sums up. */
import type {ExpectedGpu} from './plan.ts';
import type {Run} from './run.ts';
import {attemptsOf, planOf, stopsOf} from './run-state.ts';
import {figuresBefore, type GpuTime, type HowFreed, samplesOf, timeToFree} from './time-to-free.ts';

export interface CurvePoint {
  /** ms of the host's clock since the first signal. */
  readonly ms: number;
  readonly usedMiB: number;
}

export interface GpuCurve {
  readonly gpuUuid: string;
  readonly index: number | null;
  readonly how: HowFreed;
  /** The first is what was used when the first signal went out; each holds until the next. */
  readonly points: readonly [CurvePoint, ...CurvePoint[]];
  /** ms of the first sample that shows all gone that was to go; null if none does. */
  readonly freeMs: number | null;
}

export interface SignalMoment {
  readonly ms: number;
  readonly what: 'SIGTERM' | 'SIGKILL' | 'stop';
  /** Processes that got it; owners for `stop`. */
  readonly count: number;
}

export interface MemoryCurve {
  readonly gpus: readonly GpuCurve[];
  /** In order; those of one kind within a second of each other are one, at the first of them. */
  readonly signals: readonly [SignalMoment, ...SignalMoment[]];
  /** ms of the last sample, or of the last signal if that is later. */
  readonly endMs: number;
}

const ONE_MOMENT_MS = 1_000;

/** null without a signal that was sent, or without a sample after it: then there is nothing to see. */
export function memoryCurve(run: Run): MemoryCurve | null {
  const sent = sentIn(run);
  const [first, ...more] = momentsOf(sent);
  const plan = planOf(run)?.plan;
  if (first === undefined || plan === undefined) return null;
  const lastMs = sent.at(-1)?.ms ?? first.ms;
  const times = new Map(timeToFree(run).map((time) => [time.gpuUuid, time]));
  const touched = new Set(plan.targets.flatMap((target) => target.gpuUuids));
  const gpus = plan.gpus
    .filter((gpu) => touched.has(gpu.gpuUuid))
    .flatMap((gpu) => curveOf(run, gpu, times.get(gpu.gpuUuid) ?? null, [first.ms, lastMs]));
  if (gpus.length === 0) return null;
  const signals = [{...first, ms: 0}, ...more.map((one) => ({...one, ms: one.ms - first.ms}))] as const;
  const lastSampleMs = Math.max(...gpus.map(({points}) => points.at(-1)?.ms ?? 0));
  return {gpus, signals, endMs: Math.max(lastSampleMs, signals.at(-1)?.ms ?? 0)};
}

/** Those that were empty before anything was sent have no curve. */
function curveOf(
  run: Run,
  gpu: ExpectedGpu,
  time: GpuTime | null,
  [firstMs, lastMs]: readonly [number, number],
): readonly GpuCurve[] {
  const {gpuUuid, index, afterAtMostMiB: levelMiB} = gpu;
  const fromMiB = figuresBefore(run, gpuUuid, firstMs).at(-1)?.usedMiB ?? time?.fromMiB;
  const after = samplesOf(run, gpuUuid).filter((sample) => sample.uptimeMs >= firstMs);
  if (fromMiB === undefined || after.length === 0 || (levelMiB !== null && fromMiB <= levelMiB)) return [];
  const points = after.map(({uptimeMs, usedMiB}) => ({ms: uptimeMs - firstMs, usedMiB}));
  // Not timed from the last signal: it had all gone by then.
  const how = time?.how ?? 'earlier';
  const earlier = (): number | null => points.find((one) => levelMiB !== null && one.usedMiB <= levelMiB)?.ms ?? null;
  const timed = time === null || time.allMs === null ? null : time.allMs + lastMs - firstMs;
  const freeMs = how === 'earlier' ? earlier() : timed;
  return [{gpuUuid, index, how, points: [{ms: 0, usedMiB: fromMiB}, ...points], freeMs}];
}

function sentIn(run: Run): readonly SignalMoment[] {
  const sent = attemptsOf(run).flatMap(({signal, result, uptimeMs}): readonly SignalMoment[] =>
    result === 'sent' && uptimeMs !== null ? [{ms: uptimeMs, what: signal, count: 1}] : [],
  );
  const stopped = stopsOf(run).flatMap(({result, uptimeMs}): readonly SignalMoment[] =>
    result === 'stopped' && uptimeMs !== null ? [{ms: uptimeMs, what: 'stop', count: 1}] : [],
  );
  return [...stopped, ...sent].toSorted((a, b) => a.ms - b.ms);
}

function momentsOf(sent: readonly SignalMoment[]): readonly SignalMoment[] {
  const moments: SignalMoment[] = [];
  for (const one of sent) {
    const last = moments.at(-1);
    if (last !== undefined && last.what === one.what && one.ms - last.ms <= ONE_MOMENT_MS)
      moments[moments.length - 1] = {...last, count: last.count + 1};
    else moments.push(one);
  }
  return moments;
}
