/** A campaign's memory on one host: before, peak, after and now, and what the peak rests on. */
import type {CampaignGpu, SeenCampaignHost} from '../domain/campaign-report.ts';
import type {GapWhy, HostSamples, SampleGap} from '../domain/samples.ts';
import type {GpuTime} from '../domain/time-to-free.ts';
import {dateTime, plural, ranges, span, thousands} from './amounts.ts';
import {column} from './safe-text.ts';
import {timesLines} from './time-to-free-lines.ts';
import {STATE_WORD} from './wording.ts';

const MOST_GAPS = 6;

/** At most 42 columns: a phone shows no more. So with a peak the states stand below. */
export function memoryTable({gpus, samples}: SeenCampaignHost): readonly string[] {
  const sampled = samples !== null && samples.count > 0;
  const row = (index: string, cells: readonly string[], note: string): string =>
    `  ${column(index, 3)}${cells.map((cell) => column(cell, 9, 'right')).join('')}  ${note}`.trimEnd();
  const table = sampled
    ? [
        row('GPU', ['before', 'peak', 'after', 'now'], ''),
        ...gpus.map(({index, beforeMiB, peakMiB, afterMiB, nowMiB}) =>
          row(` ${index ?? '?'}`, [beforeMiB, peakMiB, afterMiB, nowMiB].map(figure), ''),
        ),
        `  MiB; now ${stateWords(gpus)}`,
      ]
    : [
        row('GPU', ['before', 'after', 'now'], 'MiB'),
        ...gpus.map(({index, beforeMiB, afterMiB, nowMiB, state}) =>
          row(` ${index ?? '?'}`, [beforeMiB, afterMiB, nowMiB].map(figure), STATE_WORD[state]),
        ),
      ];
  return [
    ...table,
    ...gpus
      .filter(({state, unexplainedMiB}) => state === 'dirty' && (unexplainedMiB ?? 0) > 0)
      .map(({index, unexplainedMiB}) => `  GPU ${index ?? '?'}: ${thousands(unexplainedMiB ?? 0)} MiB unexplained`),
  ];
}

/** "GPU 0-1, 3 clean; GPU 2 occupied" */
function stateWords(gpus: readonly CampaignGpu[]): string {
  const states = [...new Set(gpus.map(({state}) => state))];
  return states
    .map((state) => {
      const these = gpus.filter((gpu) => gpu.state === state);
      const indexes = these.flatMap(({index}) => index ?? []);
      return `${indexes.length === these.length ? `GPU ${ranges(indexes)}` : plural(these.length, 'GPU', 'GPUs')} ${STATE_WORD[state]}`;
    })
    .join('; ');
}

/** What the peak is: the highest of so many samples, at that price, with these gaps. Or why there is none. */
export function peakLines({samples, sampleMs}: Pick<SeenCampaignHost, 'samples' | 'sampleMs'>): readonly string[] {
  if (samples === null || sampleMs === null)
    return ['  peak: not sampled; nobody looked between start and stop, so that no look is in the measurement'];
  const every = `one every ${span(sampleMs)}`;
  if (samples.count === 0)
    return [
      `  peak: not known; ${every} was asked for, and none of ${plural(samples.missed, 'sample', 'samples')} was made`,
      ...gapLines(samples),
    ];
  const cost = `${span(samples.costMs / samples.count)} each on the host, ${span(samples.dearestMs)} at most`;
  return [
    `  peak: highest of ${plural(samples.count, 'sample', 'samples')}, ${every}, ${cost}; ${samples.missed === 0 ? 'none' : thousands(samples.missed)} missed`,
    ...fewer(samples),
    ...gapLines(samples),
  ];
}

/** A GPU that not every sample had a figure of. */
function fewer({gpus, count}: HostSamples): readonly string[] {
  return gpus
    .filter((gpu) => gpu.count < count)
    .map((gpu) => `    GPU ${gpu.index ?? '?'}: only ${thousands(gpu.count)} of them had its figure`);
}

/** When memory came back, as exactly as it was seen; where nobody looked, that. */
export function freedLines({freed, samples}: Pick<SeenCampaignHost, 'freed' | 'samples'>): readonly string[] {
  if (freed.length === 0)
    return samples === null
      ? ['  time to free: not known; nobody looked between start and stop']
      : ['  time to free: no memory was seen to come back'];
  const runs = new Map(freed.flatMap(({how}) => (how.kind === 'run' ? [[how.id, [] as GpuTime[]] as const] : [])));
  const spans = new Map<string, number[]>();
  for (const {index, how} of freed) {
    if (how.kind === 'run') runs.get(how.id)?.push(how.time);
    else {
      const what = how.kind === 'samples' ? 'two samples' : 'two looks';
      const between = `between ${dateTime(how.afterMs)} and ${dateTime(how.byMs)}, by ${what}`;
      spans.set(between, [...(spans.get(between) ?? []), index ?? -1]);
    }
  }
  return [
    ...[...runs].flatMap(([id, times]) =>
      timesLines(times).map((line) => `  time to free: ${line}; run ${id.slice(0, 6)}, from its last signal`),
    ),
    ...[...spans].map(([between, indexes]) => `  time to free: ${gpuNames(indexes)} ${between}`),
  ];
}

/** -1 stands for one without a number. */
function gpuNames(indexes: readonly number[]): string {
  const known = indexes.filter((index) => index >= 0);
  return [
    ...(known.length === 0 ? [] : [`GPU ${ranges(known)}`]),
    ...(known.length < indexes.length ? ['GPU ?'] : []),
  ].join(', ');
}

const GAP_WHY: Readonly<Record<GapWhy, string>> = {
  'not-made': 'no bot was there to look, or a look took too long',
  run: 'a reclaim worked on this host',
  failed: 'the host did not answer',
  'host-gone': 'the host was not in the hosts file',
};

function gapLines({gaps, gapsLeftOut}: HostSamples): readonly string[] {
  const shown = gaps.slice(-MOST_GAPS);
  const more = gapsLeftOut + gaps.length - shown.length;
  return [...(more > 0 ? [`    … ${more} earlier gaps`] : []), ...shown.map((gap) => `    gap: ${gapWords(gap)}`)];
}

function gapWords({fromMs, toMs, missed, why}: SampleGap): string {
  const when =
    missed === 1 ? dateTime(fromMs) : `${dateTime(fromMs)} to ${dateTime(toMs)}, ${thousands(missed)} missed`;
  return `${when}; ${GAP_WHY[why]}`;
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
