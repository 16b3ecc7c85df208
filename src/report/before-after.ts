/** A closed run as words: before and after per GPU, survivors with their reason, what to do next. */
import type {GpuChange, Outcome} from '../domain/outcome.ts';
import type {Plan} from '../domain/plan.ts';
import type {Run} from '../domain/run.ts';
import {ranges, roughMemory, span, thousands} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {column, safeLine} from './safe-text.ts';
import {sentLines} from './sent-lines.ts';
import {OUTCOME_SIGN, OUTCOME_WORD, SURVIVOR_WHY} from './wording.ts';

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
  return `${OUTCOME_SIGN[outcome.word]} ${run.host}: ${OUTCOME_WORD[outcome.word]}${amount}${known}`;
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

/** What was sent, how fast it freed, who survived and why, what stays. */
export function outcomeLines(run: Run, outcome: Outcome): readonly string[] {
  const plan = planOf(run);
  const lines: string[] = [];
  if (outcome.because !== null) lines.push(failureSentence(outcome.because));
  lines.push(...sentLines(run));
  if (outcome.freedAfterMs !== null)
    lines.push(
      `${outcome.word === 'reclaimed' ? 'Verified free' : 'Memory settled'} ${span(outcome.freedAfterMs)} after the last signal`,
    );
  const unexplained = outcome.gpus.filter((gpu) => gpu.requested && (gpu.unexplainedMiB ?? 0) > (gpu.expectedMiB ?? 0));
  for (const gpu of unexplained)
    lines.push(
      `GPU ${gpu.index ?? '?'}: ${thousands(gpu.unexplainedMiB ?? 0)} MiB that no process explains; "gpu-reclaim diagnose ${run.host}" says which causes are possible`,
    );
  if (plan !== null && plan.targets.length > 0 && run.events.some((event) => event.kind === 'approved')) {
    lines.push(outcome.survivors.length === 0 ? 'Surviving targets: none' : 'Surviving targets:');
    for (const survivor of outcome.survivors)
      lines.push(`  PID ${survivor.pid} ${safeLine(survivor.name, 30)}: ${SURVIVOR_WHY[survivor.why]}`);
    const kept = plan.kept.filter((one) => one.why !== 'monitor' && one.why !== 'name-only');
    if (kept.length > 0)
      lines.push(`Kept alive: ${kept.map((one) => `${one.pid} ${safeLine(one.name, 16)}`).join(', ')}`);
  }
  if (outcome.gpus.length > 0) lines.push(freeNow(outcome));
  return lines;
}

/** "6 of 8 free", with what is unknown said as unknown. */
function counts(outcome: Outcome): string {
  const unknown = outcome.gpus.filter((gpu) => gpu.afterMiB === null).length;
  const free = `${outcome.gpus.filter(isFree).length} of ${outcome.gpus.length} free`;
  return unknown === 0 ? free : `${free}, ${unknown} unknown`;
}

/** "GPUs free now: 7 of 8; 8-GPU start not possible: GPU 6" */
function freeNow(outcome: Outcome): string {
  const busy = outcome.gpus.filter((gpu) => !isFree(gpu));
  const total = outcome.gpus.length;
  const names = (gpus: readonly GpuChange[]) =>
    `GPU ${ranges(gpus.flatMap((gpu) => (gpu.index === null ? [] : [gpu.index])))}`;
  return `GPUs free now: ${total - busy.length} of ${total}${busy.length === 0 ? '' : `; ${total}-GPU start not possible: ${names(busy)}`}`;
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

/** Known, and nobody is billed above the baseline. */
function isFree(gpu: GpuChange): boolean {
  return (
    gpu.afterMiB !== null &&
    gpu.expectedMiB !== null &&
    gpu.afterMiB <= gpu.expectedMiB &&
    gpu.heldBy.every((holder) => (holder.chargedMiB ?? 0) === 0)
  );
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
