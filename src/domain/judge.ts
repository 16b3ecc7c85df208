/** Two snapshots and what was seen between them -> the outcome. A difference in MiB, never a count of signals. */
import {seesTheLiving} from './dead-charges.ts';
import type {Diagnosis} from './diagnosis.ts';
import {billedToOthers} from './expect-memory.ts';
import type {Failure} from './failure.ts';
import type {Evidence} from './finding.ts';
import {gpuChanges, movedMiB} from './gpu-changes.ts';
import {isPlainZombie} from './lineage.ts';
import type {Observation, OrderResult} from './order.ts';
import type {GpuChange, Outcome, OutcomeWord, Survivor} from './outcome.ts';
import type {Plan, Target} from './plan.ts';
import {isSameMachine, isSameProcess} from './process.ts';
import type {Signal} from './signal.ts';
import {threadsInKernel} from './stuck.ts';

/** The last thing tried on one target. `signalled`: some signal went out to it, or may have. */
export interface AttemptResult {
  readonly signal: Signal;
  readonly result: OrderResult;
  readonly signalled: boolean;
}

export interface JudgeInput {
  readonly plan: Plan;
  /** The survey that the plan was made from. */
  readonly before: Diagnosis;
  /** The closing look; null if none came back. */
  readonly after: Diagnosis | null;
  /** Last known result per PID. */
  readonly results: ReadonlyMap<number, AttemptResult>;
  readonly observations: ReadonlyMap<number, Observation>;
  readonly freedAfterMs: number | null;
  /** What cut the run short, if anything did. */
  readonly because: Failure | null;
  /** The run ended before its ladder did: cancelled, paused or interrupted. */
  readonly stopped: boolean;
  /** The tool of an owner was called, or may have been. */
  readonly ownerCalled?: boolean;
  readonly toleranceMiB: number;
}

/** `unknown` whenever the closing look is missing, partial or of another boot: never taken for success. */
export function judge(input: JudgeInput): Outcome {
  const {plan, after} = input;
  const stillThere = new Set(
    plan.targets
      .filter((target) => !['gone', 'replaced'].includes(observe(target, input)))
      .map((target) => target.identity.pid),
  );
  const gpus = gpuChanges({...input, stillThere});
  const survivors = survivorsOf(input);
  const signalled = input.ownerCalled === true || [...input.results.values()].some((one) => one.signalled);
  return {
    word: wordFor(input, gpus, survivors, signalled),
    gpus,
    survivors,
    because: input.because,
    freedAfterMs: after !== null && isWholeLook(after, plan) ? input.freedAfterMs : null,
  };
}

function wordFor(
  input: JudgeInput,
  gpus: readonly GpuChange[],
  survivors: readonly Survivor[],
  signalled: boolean,
): OutcomeWord {
  const {plan, after} = input;
  if (after === null || !isWholeLook(after, plan)) return 'unknown';
  const asked = gpus.filter((gpu) => gpu.requested);
  if (asked.length === 0 || asked.some((gpu) => gpu.beforeMiB === null || gpu.afterMiB === null)) return 'unknown';
  if (!signalled && survivors.length > 0) return 'stood-down';
  const all = asked.every(
    (gpu) => gpu.afterMiB !== null && gpu.expectedMiB !== null && gpu.afterMiB <= gpu.expectedMiB,
  );
  if (all && survivors.length === 0) return 'reclaimed';
  return freedMiB(input, asked) > input.toleranceMiB ? 'partly' : 'nothing-freed';
}

/** What fell, GPU by GPU, beside what others took or gave back meanwhile. What only changed its owner has not fallen. */
function freedMiB(input: JudgeInput, asked: readonly GpuChange[]): number {
  const planned = new Set(input.plan.targets.map((target) => target.identity.pid));
  return asked.reduce((sum, {gpuUuid, beforeMiB, afterMiB, movedTo}) => {
    const othersMiB = (look: Diagnosis | null) => {
      const account = look?.gpus.find((one) => one.gpuUuid === gpuUuid);
      return look === null || account === undefined ? 0 : billedToOthers(look, account, planned);
    };
    const newlyTheirsMiB = othersMiB(input.after) - movedMiB(movedTo ?? []);
    const fellMiB = (beforeMiB ?? 0) - othersMiB(input.before) - ((afterMiB ?? 0) - newlyTheirsMiB);
    return sum + Math.max(0, fellMiB);
  }, 0);
}

/** Of the planned machine and boot, with everybody alive in it: only then is a target that is not there gone. */
function isWholeLook(after: Diagnosis, plan: Plan): boolean {
  return isSameMachine(after.snapshot.machine, plan.machine) && seesTheLiving(after.snapshot);
}

/** Targets that the closing look still sees as the same process, plain zombies aside. */
function survivorsOf(input: JudgeInput): readonly Survivor[] {
  const {plan, after} = input;
  return plan.targets.flatMap((target): readonly Survivor[] => {
    const seen = observe(target, input);
    if (seen === 'gone' || seen === 'replaced') return [];
    if (seen === 'zombie' && after !== null) return [];
    const evidence = kernelEvidence(target, input);
    return [
      {
        pid: target.identity.pid,
        name: target.name,
        observation: seen,
        findings: target.findings,
        why: whyAlive(target, seen, evidence, input),
        ...(evidence.length === 0 ? {} : {evidence}),
      },
    ];
  });
}

function observe(target: Target, input: JudgeInput): Survivor['observation'] {
  const {pid} = target.identity;
  if (input.after === null) return input.observations.get(pid) ?? 'unknown';
  if (input.after.snapshot.machine.bootId !== input.plan.machine.bootId) return 'gone';
  if (!isWholeLook(input.after, input.plan)) return input.observations.get(pid) ?? 'unknown';
  const process = input.after.snapshot.processes.find((one) => one.pid === pid);
  if (process === undefined) return isUnasked(target, input) ? (input.observations.get(pid) ?? 'unknown') : 'gone';
  if (process.startTicks !== target.identity.startTicks) return 'replaced';
  if (isPlainZombie(process)) return 'zombie';
  const now =
    process.uid === null || process.executable === null
      ? null
      : {pid, startTicks: process.startTicks, uid: process.uid, executable: process.executable.id};
  if (now !== null && !isSameProcess(now, target.identity)) return 'replaced';
  return process.state === 'D' ? 'stuck' : 'alive';
}

/**
 * A look knows who holds a device and who was watched to the end. A server whose signal was refused is neither: that it
 * is not among what was read says nothing.
 */
function isUnasked(target: Target, input: JudgeInput): boolean {
  const result = input.results.get(target.identity.pid)?.result;
  return (
    target.heldBy === 'nothing' &&
    result !== undefined &&
    result !== 'sent' &&
    result !== 'gone' &&
    result !== 'replaced'
  );
}

/** That a thread of it stands in the kernel, by the closing look: state D, or its stack in the driver. */
function kernelEvidence(target: Target, input: JudgeInput): readonly Evidence[] {
  if (input.after === null || !isWholeLook(input.after, input.plan)) return [];
  const {snapshot} = input.after;
  const {pid} = target.identity;
  const threads = threadsInKernel(pid, snapshot);
  if (threads.length > 0) return threads.map((thread) => thread.evidence);
  const state = snapshot.processes.find((one) => one.pid === pid)?.state;
  return state === 'D' ? [{source: 'process', fact: 'state D in the closing look; where it stands was not read'}] : [];
}

function whyAlive(
  target: Target,
  seen: Survivor['observation'],
  evidence: readonly Evidence[],
  input: JudgeInput,
): Survivor['why'] {
  if (seen === 'unknown') return 'no-answer';
  if (seen === 'zombie') return 'unreaped';
  const last = input.results.get(target.identity.pid);
  if (last === undefined) return input.stopped ? 'run-stopped' : 'not-signalled';
  switch (last.result) {
    case 'not-permitted':
      return 'not-permitted';
    case 'denied-by-host':
      return 'denied-by-host';
    case 'late':
      return 'late';
    case 'unreadable':
      return 'cannot-see';
    case 'sent':
      // Still there is no proof: it may be ending, or its signal may have come to nothing in a way nobody saw.
      if (last.signal === 'SIGKILL') return evidence.length > 0 ? 'stuck-in-kernel' : 'outlived-kill';
      return input.stopped ? 'run-stopped' : 'ignored-sigterm';
    case 'gone':
    case 'replaced':
    case 'not-holding':
    case 'other-machine':
    case 'failed':
      return 'not-signalled';
  }
}
