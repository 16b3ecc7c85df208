/** A closed run as words: before and after per GPU, survivors with their reason, what to do next. */
import type {GpuChange, Outcome} from '../domain/outcome.ts';
import type {Plan} from '../domain/plan.ts';
import {isFree, readinessOf} from '../domain/readiness.ts';
import type {Run} from '../domain/run.ts';
import {roughMemory, span, thousands} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {withPractice} from './practice.ts';
import {freeNow, readinessLines} from './readiness-lines.ts';
import {column, safeLine} from './safe-text.ts';
import {sentLines} from './sent-lines.ts';
import {movedLines, survivorLines, unexplainedLines} from './still-held.ts';
import {timeToFreeLines} from './time-to-free-lines.ts';
import {OUTCOME_SIGN, OUTCOME_WORD} from './wording.ts';

/** "✅ gpu-07: reclaimed 378 GiB, 7 of 8 free" */
export function outcomeTitle(run: Run, outcome: Outcome): string {
  const freed = freedMiB(outcome);
  const amount =
    outcome.word === 'reclaimed' ||
    outcome.word === 'partly' ||
    outcome.word === 'cancelled' ||
    outcome.word === 'interrupted'
      ? freed > 0
        ? ` ${roughMemory(freed)}`
        : ''
      : '';
  const known = outcome.gpus.length === 0 ? '' : `, ${counts(outcome)}`;
  return withPractice(run, `${OUTCOME_SIGN[outcome.word]} ${run.host}: ${OUTCOME_WORD[outcome.word]}${amount}${known}`);
}

/** One line per GPU and a sum; MiB throughout. "?" where a figure is missing: never counted as free. */
export function beforeAfterTable(outcome: Outcome): readonly string[] {
  if (outcome.gpus.length === 0) return [];
  const row = (gpu: string, before: string, after: string, note: string): string =>
    `${column(gpu, 3)}${column(before, 10, 'right')}${column(after, 10, 'right')}  ${note}`.trimEnd();
  const lines = outcome.gpus.map((gpu) =>
    row(gpu.index === null ? '?' : ` ${gpu.index}`, figure(gpu.beforeMiB), figure(gpu.afterMiB), noteFor(gpu)),
  );
  const before = sum(outcome.gpus.map((gpu) => gpu.beforeMiB));
  const after = sum(outcome.gpus.map((gpu) => gpu.afterMiB));
  const change =
    before === null || after === null
      ? 'unknown'
      : before === after
        ? '0'
        : `${after < before ? '-' : '+'}${thousands(Math.abs(before - after))}`;
  return [row('GPU', 'before', 'after', 'MiB'), ...lines, row('sum', figure(before), figure(after), change)];
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
    if (kept.length > 0)
      lines.push(`Kept alive: ${kept.map((one) => `${one.pid} ${safeLine(one.name, 16)}`).join(', ')}`);
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
  return outcome.gpus.reduce(
    (total, gpu) => total + (gpu.beforeMiB === null || gpu.afterMiB === null ? 0 : gpu.beforeMiB - gpu.afterMiB),
    0,
  );
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}

function sum(values: readonly (number | null)[]): number | null {
  let total = 0;
  for (const value of values) {
    if (value === null) return null;
    total += value;
  }
  return total;
}
