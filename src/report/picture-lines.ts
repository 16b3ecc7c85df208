/** The lines of a time-to-free picture: GPUs that went down together are one, and what is too many becomes one band. */
import type {CurvePoint, GpuCurve, MemoryCurve} from '../domain/memory-curve.ts';
import {ranges, span} from './amounts.ts';

export interface CurveLine {
  readonly name: string;
  /** "free at 0.3 s", by the picture's own axis. */
  readonly how: string;
  readonly gpus: number;
  /** The highest of its GPUs at each moment. */
  readonly high: readonly CurvePoint[];
  /** The lowest, where they differ; null for a line. */
  readonly low: readonly CurvePoint[] | null;
  readonly fromMiB: number;
  readonly lastMiB: number;
}

/** More labels have no room. */
const MOST_LINES = 6;
/** Figures nearer to each other than this part of the start are the same line. */
const SAME_PART = 0.02;

/** What is left over first, then the slowest. */
export function curveLines(curve: MemoryCurve, zeroMs: number): readonly CurveLine[] {
  const groups = new Map<string, GpuCurve[]>();
  const step = Math.max(1, ...curve.gpus.map(({points}) => points[0]?.usedMiB ?? 0)) * SAME_PART;
  for (const gpu of curve.gpus) {
    const shape = gpu.points.map(({ms, usedMiB}) => `${ms}:${Math.round(usedMiB / step)}`).join(' ');
    const key = `${gpu.how} ${shape}`;
    groups.set(key, [...(groups.get(key) ?? []), gpu]);
  }
  const ordered = [...groups.values()].toSorted((a, b) => lastOf(b) - lastOf(a) || slowestOf(b) - slowestOf(a));
  if (ordered.length <= MOST_LINES) return ordered.map((group) => lineOf(group, 'line', zeroMs));
  const alone = ordered.slice(0, MOST_LINES - 1);
  return [
    ...alone.map((group) => lineOf(group, 'line', zeroMs)),
    lineOf(ordered.slice(MOST_LINES - 1).flat(), 'band', zeroMs),
  ];
}

function lastOf(group: readonly GpuCurve[]): number {
  return Math.max(...group.map(({points}) => points.at(-1)?.usedMiB ?? 0));
}

function slowestOf(group: readonly GpuCurve[]): number {
  return Math.max(...group.map(({freeMs}) => freeMs ?? Infinity));
}

function lineOf(group: readonly GpuCurve[], as: 'line' | 'band', zeroMs: number): CurveLine {
  const moments = [...new Set(group.flatMap(({points}) => points.map((point) => point.ms)))].toSorted((a, b) => a - b);
  const at = (pick: (...values: readonly number[]) => number): readonly CurvePoint[] =>
    moments.map((ms) => ({ms, usedMiB: pick(...group.map((gpu) => usedAt(gpu, ms)))}));
  const high = at(Math.max);
  const indexes = group.flatMap(({index}) => index ?? []);
  const name = indexes.length === group.length ? `GPU ${ranges(indexes)}` : `${group.length} GPUs`;
  return {
    name: name.length <= 13 ? name : `${group.length} GPUs`,
    how: howOf(group, zeroMs),
    gpus: group.length,
    high,
    low: as === 'line' ? null : at(Math.min),
    fromMiB: high[0]?.usedMiB ?? 0,
    lastMiB: high.at(-1)?.usedMiB ?? 0,
  };
}

/** A figure holds until the next. */
function usedAt(gpu: GpuCurve, ms: number): number {
  return gpu.points.findLast((point) => point.ms <= ms)?.usedMiB ?? gpu.points[0]?.usedMiB ?? 0;
}

function howOf(group: readonly GpuCurve[], zeroMs: number): string {
  const free = group.flatMap(({freeMs}) => freeMs ?? []);
  if (free.length === group.length) {
    const most = Math.max(0, Math.max(...free) - zeroMs);
    return Math.min(...free) === Math.max(...free) ? `free at ${span(most)}` : `free by ${span(most)}`;
  }
  const kinds = new Set(group.map(({how}) => how));
  const [how] = kinds;
  if (kinds.size > 1 || how === undefined) return 'some not free';
  switch (how) {
    case 'still-falling':
      return 'still falling';
    case 'stalled':
      return 'stalled';
    case 'free':
    case 'earlier':
    case 'not-seen':
      return 'end not seen';
  }
}
