/** A closed run as words: before and after per GPU, survivors with their reason, what to do next. */
import type {GpuChange, Outcome} from '../domain/outcome.ts';
import type {Plan} from '../domain/plan.ts';
import {isFree, readinessOf} from '../domain/readiness.ts';
import type {Run} from '../domain/run.ts';
import {hasTried} from '../domain/run-state.ts';
import {exactMemory, ranges, span, thousands} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {withPractice} from './practice.ts';
import {freeNow, readinessLines} from './readiness-lines.ts';
import {column, safeLine} from './safe-text.ts';
import {sentLines} from './sent-lines.ts';
import {movedLines, survivorLines, unexplainedLines} from './still-held.ts';
import type {Cell, Table} from './table.ts';
import {timeToFreeLines} from './time-to-free-lines.ts';
import {OUTCOME_SIGN, OUTCOME_WORD} from './wording.ts';
import {PHONE_COLUMNS, wrapped} from './wrapped.ts';

/** Of those who stay, named before the rest is counted. */
const MOST_KEPT = 6;

/** "✅ gpu-07: reclaimed 378 GiB (387,360 MiB), 7 of 8 free"; the figure is the table's own sum. */
export function outcomeTitle(run: Run, outcome: Outcome): string {
  const known = outcome.gpus.length === 0 ? '' : `, ${counts(outcome)}`;
  return withPractice(run, `${OUTCOME_SIGN[outcome.word]} ${run.host}: ${endWords(run, outcome)}${known}`);
}

/** The word of the outcome; with what was freed where something can have been. */
function endWords(run: Run, outcome: Outcome): string {
  const freed = freedMiB(outcome);
  const word = OUTCOME_WORD[outcome.word];
  switch (outcome.word) {
    case 'reclaimed':
    case 'partly':
      return freed > 0 ? `${word} ${exactMemory(freed)}` : word;
    case 'cancelled':
    case 'interrupted':
      if (!hasTried(run)) return `${word}, nothing sent`;
      return freed > 0 ? `${word}, ${exactMemory(freed)} freed` : word;
    case 'stood-down':
      // Nothing else ended it: the host was no longer as the plan says.
      return outcome.because === null ? 'plan out of date, nothing sent' : word;
    default:
      return word;
  }
}

/** One line per GPU and a sum; MiB throughout. "?" where a figure is missing: never counted as free. */
export function beforeAfterTable(outcome: Outcome): readonly string[] {
  if (outcome.gpus.length === 0) return [];
  const row = (gpu: string, before: string, after: string, note: string): string =>
    `${column(gpu, 3)}${column(before, 10, 'right')}${column(after, 10, 'right')}  ${note}`.trimEnd();
  const lines = outcome.gpus.map((gpu) =>
    row(gpu.index === null ? '?' : ` ${gpu.index}`, figure(gpu.beforeMiB), figure(gpu.afterMiB), noteFor(gpu)),
  );
  const {before, after, missing} = sums(outcome);
  const change = `${signed(after - before)}${missing.length === 0 ? '' : `, ${missingWords(missing)}`}`;
  return [row('GPU', 'before', 'after', 'MiB'), ...lines, row('sum', thousands(before), thousands(after), change)];
}

/** The same for a phone: names are cut, the sum goes on below. */
export function narrowBeforeAfter(outcome: Outcome): readonly string[] {
  const lines = beforeAfterTable(outcome);
  return [
    ...lines.slice(0, -1).map((line) => column(line, PHONE_COLUMNS).trimEnd()),
    ...lines.slice(-1).flatMap((line) => ([...line].length > PHONE_COLUMNS ? wrapped(line) : [line])),
  ];
}

/** The same as data, with the change of each GPU; what is unknown says so in place of a figure. */
export function beforeAfter(outcome: Outcome): Table {
  const {before, after, missing} = sums(outcome);
  const cell = (value: number | null): Cell => value ?? 'unknown';
  return {
    columns: [
      {head: 'GPU', side: 'left'},
      {head: 'MiB before', side: 'right'},
      {head: 'after', side: 'right'},
      {head: 'change', side: 'right'},
      {head: 'now', side: 'left'},
    ],
    rows: [
      ...outcome.gpus.map((gpu): readonly Cell[] => [
        gpu.index === null ? '?' : `${gpu.index}`,
        cell(gpu.beforeMiB),
        cell(gpu.afterMiB),
        gpu.beforeMiB === null || gpu.afterMiB === null ? 'unknown' : signed(gpu.afterMiB - gpu.beforeMiB),
        noteFor(gpu),
      ]),
      ['sum', before, after, signed(after - before), missing.length === 0 ? '' : missingWords(missing)],
    ],
  };
}

/** Over the GPUs of which both figures are known: the amount in the headline is this difference. */
function sums(outcome: Outcome): {
  readonly before: number;
  readonly after: number;
  readonly missing: readonly GpuChange[];
} {
  const known = outcome.gpus.filter((gpu) => gpu.beforeMiB !== null && gpu.afterMiB !== null);
  return {
    before: known.reduce((sum, gpu) => sum + (gpu.beforeMiB ?? 0), 0),
    after: known.reduce((sum, gpu) => sum + (gpu.afterMiB ?? 0), 0),
    missing: outcome.gpus.filter((gpu) => !known.includes(gpu)),
  };
}

/** "without GPU 3": what a sum leaves out. */
function missingWords(missing: readonly GpuChange[]): string {
  const indexes = missing.flatMap(({index}) => (index === null ? [] : [index]));
  return indexes.length < missing.length ? `without ${missing.length} GPUs` : `without GPU ${ranges(indexes)}`;
}

function signed(change: number): string {
  return change === 0 ? '0' : `${change < 0 ? '-' : '+'}${thousands(Math.abs(change))}`;
}

/** What was sent, how fast it freed, who survived and why, what stays, and last whether a start is possible. */
export function outcomeLines(run: Run, outcome: Outcome): readonly string[] {
  const plan = planOf(run);
  const lines: string[] = [];
  if (outcome.because !== null) lines.push(failureSentence(outcome.because));
  lines.push(...sentLines(run));
  if (outcome.freedAfterMs !== null)
    lines.push(
      `${outcome.word === 'reclaimed' ? 'Verified free' : 'Memory settled'} ${span(outcome.freedAfterMs)} after the last signal`,
    );
  lines.push(...timeToFreeLines(run));
  lines.push(...movedLines(outcome), ...unexplainedLines(run, outcome));
  if (plan !== null && plan.targets.length > 0 && run.events.some((event) => event.kind === 'approved')) {
    lines.push(...survivorLines(outcome));
    const kept = plan.kept.filter((one) => one.why !== 'monitor' && one.why !== 'name-only');
    if (kept.length > 0) {
      const names = kept.slice(0, MOST_KEPT).map((one) => `${one.pid} ${safeLine(one.name, 16)}`);
      const more = kept.length - names.length;
      lines.push(`Kept alive: ${names.join(', ')}${more > 0 ? ` and ${thousands(more)} more` : ''}`);
    }
  }
  const readiness = readinessOf(run, outcome);
  if (readiness !== null) lines.push(...readinessLines(readiness).map((line) => line.text), freeNow(readiness));
  return lines;
}

/** "6 of 8 free", with what is unknown said as unknown. */
function counts(outcome: Outcome): string {
  const unknown = outcome.gpus.filter((gpu) => gpu.afterMiB === null).length;
  const free = `${outcome.gpus.filter(isFree).length} of ${outcome.gpus.length} free`;
  return unknown === 0 ? free : `${free}, ${unknown} unknown`;
}

function planOf(run: Run): Plan | null {
  const planned = run.events.findLast((event) => event.kind === 'planned');
  return planned?.kind === 'planned' ? planned.plan : null;
}

function noteFor(gpu: GpuChange): string {
  if (gpu.afterMiB === null) return 'unknown';
  const names = gpu.heldBy.filter((holder) => (holder.chargedMiB ?? 0) > 0).map((holder) => safeLine(holder.name, 14));
  if (names.length > 0) return names.slice(0, 2).join(', ');
  return isFree(gpu) ? 'free' : '';
}

function freedMiB(outcome: Outcome): number {
  const {before, after} = sums(outcome);
  return before - after;
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
