/**
 * What a campaign's samples add up to on one host: the highest figure of each GPU, how many looks that rests on, what they
 * cost, and where there were none. A gap is told, never filled. All times are epoch ms by the bot's clock.
 */
import type {HostName} from './host.ts';

/** One light look. `null` where nvidia-smi had no figure. */
export interface Sample {
  readonly host: HostName;
  readonly bootId: string;
  /** What it took on the host, ms, by the host's own uptime (10 ms steps). */
  readonly costMs: number;
  readonly gpus: readonly {
    readonly uuid: string;
    readonly index: number | null;
    readonly usedMiB: number | null;
    readonly utilizationPercent: number | null;
  }[];
  /** `UUID PID` of each bill; null: they could not be read. */
  readonly bills: readonly string[] | null;
}

/** `not-made`: nobody was there to look, or a look took too long · `run`: a reclaim worked there · `failed`: it did not answer. */
export type GapWhy = 'not-made' | 'run' | 'failed' | 'host-gone';

export interface SampleGap {
  /** The first and the last sample that is missing. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly missed: number;
  readonly why: GapWhy;
}

export interface GpuPeak {
  readonly uuid: string;
  readonly index: number | null;
  readonly maxMiB: number;
  readonly maxAtMs: number;
  /** Samples that had a figure of it. */
  readonly count: number;
  readonly lastMiB: number;
  readonly lastAtMs: number;
  /** When memory last fell by more than a little: between these two samples. null: it never did. */
  readonly fell: {
    readonly afterMs: number;
    readonly byMs: number;
    readonly fromMiB: number;
    readonly toMiB: number;
  } | null;
}

export interface HostSamples {
  readonly host: HostName;
  readonly count: number;
  readonly missed: number;
  /** Sum over all samples, ms, and the dearest one. */
  readonly costMs: number;
  readonly dearestMs: number;
  readonly lastAtMs: number | null;
  /** The newest; `gapsLeftOut` older ones are only counted. */
  readonly gaps: readonly SampleGap[];
  readonly gapsLeftOut: number;
  readonly gpus: readonly GpuPeak[];
  /** Since when every sample showed 0 % on every GPU and no new bill; null: not now, or that cannot be told. */
  readonly quietSinceMs: number | null;
  readonly bills: readonly string[];
}

/** Epoch ms at which the next one is due. */
export interface DueSamples {
  readonly nextMs: number;
  readonly samples: HostSamples;
}

/** People's own looks that are further apart say nothing of the time between. */
export const LOOKS_APART_MS = 15 * 60_000;
const MOST_GAPS = 20;
/** A fall of less than this is no "freed": figures breathe. */
const FELL_MIB = 256;

export function noSamples(host: HostName): HostSamples {
  return {
    host,
    count: 0,
    missed: 0,
    costMs: 0,
    dearestMs: 0,
    lastAtMs: null,
    gaps: [],
    gapsLeftOut: 0,
    gpus: [],
    quietSinceMs: null,
    bills: [],
  };
}

/** `isMeant`: by index, which of the host's GPUs the campaign is about; one without an index is. */
export function withSample(
  before: HostSamples,
  sample: Sample,
  atMs: number,
  isMeant: (index: number | null) => boolean,
): HostSamples {
  const meant = sample.gpus.filter(({index}) => isMeant(index));
  const known = meant.flatMap(({uuid, index, usedMiB}) => (usedMiB === null ? [] : [{uuid, index, usedMiB}]));
  const gone = before.gpus.filter(({uuid}) => !known.some((gpu) => gpu.uuid === uuid));
  const uuids = new Set(meant.map(({uuid}) => uuid));
  const bills = (sample.bills ?? []).filter((bill) => uuids.has(bill.split(' ')[0] ?? ''));
  return {
    ...before,
    count: before.count + 1,
    costMs: before.costMs + sample.costMs,
    dearestMs: Math.max(before.dearestMs, sample.costMs),
    lastAtMs: atMs,
    gpus: [
      ...known.map((gpu) => peakWith(before.gpus.find(({uuid}) => uuid === gpu.uuid) ?? null, gpu, atMs)),
      ...gone,
    ],
    quietSinceMs: quietSince(before, meant, sample.bills === null ? null : bills, atMs),
    bills,
  };
}

/** Nothing is known of the time of a gap: a row of quiet samples ends there. */
export function withGap(before: HostSamples, gap: SampleGap): HostSamples {
  if (gap.missed <= 0) return before;
  const last = before.gaps.at(-1);
  const joins =
    last !== undefined && last.why === gap.why && (before.lastAtMs === null || before.lastAtMs < last.fromMs);
  const gaps = joins
    ? [...before.gaps.slice(0, -1), {...last, toMs: gap.toMs, missed: last.missed + gap.missed}]
    : [...before.gaps, gap];
  const kept = gaps.slice(-MOST_GAPS);
  return {
    ...before,
    missed: before.missed + gap.missed,
    gaps: kept,
    gapsLeftOut: before.gapsLeftOut + gaps.length - kept.length,
    quietSinceMs: null,
  };
}

/** How many were due from `nextMs` on and before `endMs`, and the one after them. */
export function slotsBefore(
  nextMs: number,
  everyMs: number,
  endMs: number,
): {readonly missed: number; readonly nextMs: number} {
  const missed = Math.max(0, Math.ceil((endMs - nextMs) / everyMs));
  return {missed, nextMs: nextMs + missed * everyMs};
}

/** As they stand when the campaign is over at `endMs`: what was due by then and not made is a gap like any other. */
export function closedAt({nextMs, samples}: DueSamples, everyMs: number, endMs: number): HostSamples {
  const {missed} = slotsBefore(nextMs, everyMs, endMs - SLACK_MS);
  return withGap(samples, {fromMs: nextMs, toMs: nextMs + Math.max(0, missed - 1) * everyMs, missed, why: 'not-made'});
}

/** One that was due just now may still be under way. */
const SLACK_MS = 5_000;

function peakWith(
  before: GpuPeak | null,
  {uuid, index, usedMiB}: {readonly uuid: string; readonly index: number | null; readonly usedMiB: number},
  atMs: number,
): GpuPeak {
  const isHigher = before === null || usedMiB > before.maxMiB;
  const fell =
    before !== null && before.lastMiB - usedMiB >= FELL_MIB
      ? {afterMs: before.lastAtMs, byMs: atMs, fromMiB: before.lastMiB, toMiB: usedMiB}
      : (before?.fell ?? null);
  return {
    uuid,
    index,
    maxMiB: isHigher ? usedMiB : before.maxMiB,
    maxAtMs: isHigher ? atMs : before.maxAtMs,
    count: (before?.count ?? 0) + 1,
    lastMiB: usedMiB,
    lastAtMs: atMs,
    fell,
  };
}

/** A bill that goes is no work; one that comes is. */
function quietSince(
  before: HostSamples,
  meant: Sample['gpus'],
  bills: readonly string[] | null,
  atMs: number,
): number | null {
  if (bills === null || meant.length === 0) return null;
  if (meant.some(({utilizationPercent}) => utilizationPercent !== 0)) return null;
  if (before.quietSinceMs === null) return atMs;
  return bills.every((bill) => before.bills.includes(bill)) ? before.quietSinceMs : atMs;
}
