/** Where a run stands, in few words; and what it is doing while it works. */
import type {Plan} from '../domain/plan.ts';
import type {GoChoice, Run, RunEvent} from '../domain/run.ts';
import {approvalOf, hasTried, lastSeenOf, outcomeOf, planOf} from '../domain/run-state.ts';
import {mib, plural, roughMemory, span} from './amounts.ts';
import {outcomeTitle} from './before-after.ts';
import {freesMiB, planTitle} from './plan-card.ts';
import {withPractice} from './practice.ts';
import {sentLines} from './sent-lines.ts';
import {OUTCOME_SIGN} from './wording.ts';

export type WorkState = 'starting' | 'terminating' | 'writing' | 'killing' | 'verifying' | 'looking-again';

const WORK_SIGN: Readonly<Record<WorkState, string>> = {
  starting: '🔄',
  terminating: '🔄',
  writing: '🔄',
  killing: '🔄',
  verifying: '🔄',
  'looking-again': '🔌',
};

const WORK_WORD: Readonly<Record<WorkState, string>> = {
  starting: 'Starting',
  terminating: 'Terminating',
  writing: 'Waiting for a file to be written',
  killing: 'Killing',
  verifying: 'Verifying',
  'looking-again': 'Connection lost, looking again',
};

export const CHOICE_WORD: Readonly<Record<GoChoice, string>> = {
  'terminate-then-kill': 'SIGTERM, then kill -9',
  'terminate-only': 'SIGTERM only',
};

/** "⏳ Waiting for a go · gpu-07: kill -9 1 process? ~378 GiB": sign and word of the state, verb and host. */
export function stateLine(run: Run): string {
  const outcome = outcomeOf(run);
  const plan = planOf(run)?.plan ?? null;
  // As the real card would read, but for its first words.
  if (outcome?.word === 'dry-run' && plan !== null)
    return withPractice(run, `${OUTCOME_SIGN['dry-run']} Dry run, nothing was changed · ${planTitle(plan)}`);
  return outcome === null ? withPractice(run, openLine(run, plan)) : outcomeTitle(run, outcome);
}

function openLine(run: Run, plan: Plan | null): string {
  switch (run.phase) {
    case 'looking':
      return `🔎 Looking · ${run.host}: nothing has been signalled`;
    case 'awaiting-go':
      return `⏳ Waiting for a go · ${plan === null ? run.host : planTitle(plan)}`;
    case 'executing':
    case 'closed': {
      const state = workState(run);
      const what =
        plan === null
          ? ''
          : `: ${plural(plan.targets.length, 'process', 'processes')}, ~${roughMemory(freesMiB(plan))} to free`;
      return `${WORK_SIGN[state]} ${WORK_WORD[state]} · ${run.host}${what}`;
    }
  }
}

/** The step that the newest events tell of, since the last go. */
export function workState(run: Run): WorkState {
  for (const event of run.events.toReversed()) {
    switch (event.kind) {
      case 'link-lost':
        return 'looking-again';
      case 'memory':
      case 'settled':
        return 'verifying';
      case 'still-writing':
        if (event.files.length > 0) return 'writing';
        break;
      case 'stop-intended':
        return 'terminating';
      case 'signal-intended':
        return event.signal === 'SIGKILL' ? 'killing' : 'terminating';
      case 'approved':
        return 'starting';
    }
  }
  return 'starting';
}

/** What was done so far, newest figures only: signals, who is gone, how the memory falls. */
export function workLines(run: Run): readonly string[] {
  const lines = [...sentLines(run)];
  const plan = planOf(run)?.plan;
  if (plan === undefined || !hasTried(run)) return lines;
  const seen = lastSeenOf(run);
  const ended = plan.targets.filter(({identity}) => {
    const last = seen.get(identity.pid);
    return last === 'gone' || last === 'replaced' || last === 'zombie';
  }).length;
  lines.push(`${ended} of ${plural(plan.targets.length, 'target has', 'targets have')} ended`);
  const draining = drainLine(run);
  return draining === null ? lines : [...lines, draining];
}

/** "Still draining: 12,345 MiB in use on the requested GPUs after 3.2 s"; null before memory is watched. */
function drainLine(run: Run): string | null {
  const plan = planOf(run)?.plan;
  const samples = run.events.filter((event) => event.kind === 'memory');
  const [first, last] = [samples[0], samples.at(-1)];
  if (plan === undefined || first === undefined || last === undefined) return null;
  const used = plan.gpus.filter((gpu) => gpu.requested).reduce((sum, gpu) => sum + (last.usedMiB[gpu.gpuUuid] ?? 0), 0);
  const settled = run.events.findLast((event) => event.kind === 'settled');
  if (settled?.kind === 'settled') return `${SETTLED_WORD[settled.how]}: ${mib(used)} in use on the requested GPUs`;
  return `Still draining: ${mib(used)} in use on the requested GPUs after ${span(Math.max(0, last.uptimeMs - first.uptimeMs))}`;
}

const SETTLED_WORD: Readonly<Record<Extract<RunEvent, {kind: 'settled'}>['how'], string>> = {
  expected: 'Drained',
  stalled: 'Stopped falling',
  'timed-out': 'Still falling when the time was over',
  unreadable: 'Could not be read to the end',
};

/** The newest decision on the run, whoever took it; null while none was taken. */
export function decisionOf(
  run: Run,
): Extract<RunEvent, {kind: 'approved' | 'denied' | 'expired' | 'cancelled'}> | null {
  const go = approvalOf(run);
  const other = run.events.findLast(
    (event) => event.kind === 'denied' || event.kind === 'expired' || event.kind === 'cancelled',
  );
  return other ?? go;
}
