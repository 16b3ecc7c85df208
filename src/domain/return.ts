/**
 * What came back after a run was closed: the host now, held against the look before the first signal and the closing one.
 * Only a ghost, memory that nobody explains, or a restart by the same supervisor is a return. What a person starts is not.
 */
import {isGhost} from './account.ts';
import {seesTheLiving} from './dead-charges.ts';
import type {Diagnosis, GpuAccount, HolderDiagnosis, Ownership} from './diagnosis.ts';
import {ancestors, isEnvironment, isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import type {Plan} from './plan.ts';
import {isSameMachine} from './process.ts';
import {titleOf} from './roles.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';
import {type Supervisor, sharedSupervisor} from './supervisor.ts';

/** `known`: an earlier look at this run noted the same already. `gpus`: indexes, as far as they are known. */
export type Return = {readonly known: boolean; readonly gpus: readonly number[]; readonly MiB: number | null} & (
  | {readonly by: 'ghost'; readonly pid: number; readonly startTicks: string; readonly name: string}
  | {readonly by: 'unexplained'; readonly gpuUuid: string}
  | {readonly by: 'restart'; readonly supervisor: Supervisor; readonly pids: readonly number[]; readonly name: string}
);

/** Somebody's new work on these GPUs. */
export interface Start {
  readonly pid: number;
  readonly startTicks: string;
  readonly name: string;
  readonly ownership: Ownership;
  readonly gpus: readonly number[];
  readonly MiB: number | null;
}

export interface ReturnInput {
  readonly plan: Plan;
  /** The last whole look before the first signal. */
  readonly before: Snapshot;
  /** The closing look; null if none came back: then nothing counts as having been there already. */
  readonly closing: Diagnosis | null;
  readonly later: Diagnosis;
  /** What earlier looks at this run noted: a return is said as a known one, a start is not said again. */
  readonly noted: {readonly returns: readonly Return[]; readonly starts: readonly Start[]};
  readonly toleranceMiB: number;
}

export interface Comparison {
  readonly returns: readonly Return[];
  readonly starts: readonly Start[];
  readonly unseenGpus: readonly (number | null)[];
  readonly fullSight: boolean;
}

/** null where the host is another machine or was started again since: no PID and no figure of then means anything now. */
export function compareLater(input: ReturnInput): Comparison | null {
  const {plan, later} = input;
  if (!isSameMachine(plan.machine, later.snapshot.machine)) return null;
  const requested = plan.gpus.filter((gpu) => gpu.requested);
  const accounts = requested.map(({gpuUuid, index}) => ({
    index,
    account: later.gpus.find((one) => one.gpuUuid === gpuUuid),
  }));
  const uuids = new Set(requested.map((gpu) => gpu.gpuUuid));
  const restarts = restartsOf(input);
  const ghosts = later.holders.filter((one) => isNewGhost(one, input) && usesOneOf(one, uuids));
  const taken = new Set([...restarts.flatMap(({pids}) => pids), ...ghosts.map((one) => one.process.pid)]);
  const returns = [
    ...ghosts.map((one): Found => ({by: 'ghost', ...processOf(one), ...shareOf([one], later)})),
    ...accounts.flatMap(({account}) => (account === undefined ? [] : (leakOf(account, input) ?? []))),
    ...restarts,
  ];
  return {
    returns: returns.map((one) => ({...one, known: input.noted.returns.some((other) => keyOf(other) === keyOf(one))})),
    starts: later.holders
      .filter((one) => !taken.has(one.process.pid) && isNewHolder(one, input) && usesOneOf(one, uuids))
      .map((one) => ({...processOf(one), ownership: one.ownership, ...shareOf([one], later)})),
    unseenGpus: accounts.flatMap(({index, account}) =>
      account === undefined || account.state === 'unknown' ? [index] : [],
    ),
    fullSight: later.snapshot.sight.full && seesTheLiving(later.snapshot),
  };
}

type Found = Return extends infer R ? (R extends Return ? Omit<R, 'known'> : never) : never;

/** The same return at another look. A supervisor may start it again and again: its PIDs say nothing. */
function keyOf(found: Found): string {
  switch (found.by) {
    case 'ghost':
      return `ghost ${found.pid} ${found.startTicks}`;
    case 'unexplained':
      return `unexplained ${found.gpuUuid}`;
    case 'restart':
      return `restart ${supervisorKey(found.supervisor)}`;
  }
}

function supervisorKey({kind, name, pid}: Supervisor): string {
  return `${kind} ${name} ${pid ?? ''}`;
}

/** It keeps what a dead process was billed for, or lost its server, and did neither before. */
function isNewGhost(holder: HolderDiagnosis, {plan, closing}: ReturnInput): boolean {
  if (!isGhost(holder) || holder.findings.includes('protected')) return false;
  const {pid, startTicks} = holder.process;
  if (plan.targets.some(({identity}) => identity.pid === pid && identity.startTicks === startTicks)) return false;
  const then = closing?.holders ?? [];
  return !then.some((one) => isSame(one.process, holder.process) && isGhost(one));
}

/** Memory that no process explains, and more of it than at the close. Where a ghost holds the GPU, that one says it. */
function leakOf(account: GpuAccount, {closing, later, toleranceMiB}: ReturnInput): Found | null {
  const {gpuUuid, index, unexplainedMiB, baselineMiB} = account;
  const haunted = later.holders.some((one) => isGhost(one) && usesOneOf(one, new Set([gpuUuid])));
  if (account.state !== 'dirty' || haunted || unexplainedMiB === null) return null;
  const thenMiB = closing?.gpus.find((one) => one.gpuUuid === gpuUuid)?.unexplainedMiB ?? 0;
  if (unexplainedMiB <= Math.max(thenMiB, baselineMiB) + toleranceMiB) return null;
  return {by: 'unexplained', gpuUuid, gpus: index === null ? [] : [index], MiB: unexplainedMiB};
}

/** Work of the plan's targets that was started again meanwhile by what had started it. */
export function restartsSince(
  plan: Plan,
  before: Snapshot,
  later: Diagnosis,
): readonly {readonly supervisor: Supervisor; readonly holders: readonly HolderDiagnosis[]}[] {
  const none = {returns: [], starts: []};
  return restartsOf({plan, before, closing: null, later, noted: none, toleranceMiB: 0}).map(({supervisor, pids}) => ({
    supervisor,
    holders: later.holders.filter((one) => pids.includes(one.process.pid)),
  }));
}

/** New processes with a target's command under that target's supervisor, with what they have started since. */
function restartsOf(input: ReturnInput): readonly Extract<Found, {by: 'restart'}>[] {
  const {plan, before, later} = input;
  const then = processTable(before);
  const now = processTable(later.snapshot);
  const targets = plan.targets.flatMap(({identity}) => {
    const process = then.get(identity.pid);
    return process?.startTicks === identity.startTicks ? [process] : [];
  });
  const groups = new Map<string, {readonly supervisor: Supervisor; readonly processes: ProcessFacts[]}>();
  for (const process of later.snapshot.processes) {
    if (!isNewProcess(process, input) || isEnvironment(process)) continue;
    for (const target of targets) {
      const supervisor = isSameCommand(target, process) ? sharedSupervisor(target, then, process, now) : null;
      if (supervisor === null) continue;
      const key = supervisorKey(supervisor);
      const group = groups.get(key) ?? {supervisor, processes: []};
      group.processes.push(process);
      groups.set(key, group);
      break;
    }
  }
  return [...groups.values()].map(({supervisor, processes}) => {
    const holders = later.holders.filter((one) => isOneOf(one.process, processes, now));
    const pids = new Set([...processes, ...holders.map((one) => one.process)].map((one) => one.pid));
    const [first] = processes;
    return {
      by: 'restart',
      supervisor,
      pids: [...pids].toSorted((a, b) => a - b),
      name: first === undefined ? '' : titleOf(first),
      ...shareOf(holders, later),
    };
  });
}

/** One of them, or started by one of them. */
function isOneOf(process: ProcessFacts, found: readonly ProcessFacts[], table: ProcessTable): boolean {
  return [process, ...ancestors(process.pid, table)].some((one) => found.includes(one));
}

/** Started after the look before the first signal, by the kernel's own clock (proc(5): field 22 counts from boot). */
function isNewProcess(process: ProcessFacts, {before, later}: ReturnInput): boolean {
  if (isPlainZombie(process) || process.kernelThread || later.snapshot.ownPids.includes(process.pid)) return false;
  const startedMs = (Number(process.startTicks) / later.snapshot.clockTicksPerSecond) * 1_000;
  return startedMs > before.uptimeMs && !before.processes.some((one) => isSame(one, process));
}

/**
 * The very same words, or the same script or module of the same program with other arguments. The bare name of an
 * interpreter names no work.
 */
function isSameCommand(then: ProcessFacts, now: ProcessFacts): boolean {
  if (then.words.length > 0 && then.words.join('\0') === now.words.join('\0')) return true;
  const title = titleOf(then);
  const program = then.executable?.path;
  if (program === undefined || program !== now.executable?.path || title !== titleOf(now)) return false;
  return program.split('/').at(-1) !== title && then.words[0]?.split('/').at(-1) !== title;
}

function isNewHolder(holder: HolderDiagnosis, {plan, before, closing, noted}: ReturnInput): boolean {
  const {process, findings} = holder;
  if (noted.starts.some((one) => one.pid === process.pid && one.startTicks === process.startTicks)) return false;
  if (findings.includes('protected') || findings.includes('monitor') || findings.includes('unreaped')) return false;
  const planned = [...plan.targets, ...plan.kept].some(
    ({identity}) => identity?.pid === process.pid && identity.startTicks === process.startTicks,
  );
  const held = before.processes.some(
    (one) => isSame(one, process) && before.holdings.some((holding) => holding.pid === one.pid),
  );
  return !planned && !held && !(closing?.holders ?? []).some((one) => isSame(one.process, process));
}

function isSame(a: ProcessFacts, b: ProcessFacts): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks;
}

/** An open node alone is no use of a GPU. */
function usesOneOf(holder: HolderDiagnosis, gpuUuids: ReadonlySet<string>): boolean {
  return holder.gpus.some((use) => use.how !== 'opened' && gpuUuids.has(use.gpuUuid));
}

function processOf({process}: HolderDiagnosis): {
  readonly pid: number;
  readonly startTicks: string;
  readonly name: string;
} {
  return {pid: process.pid, startTicks: process.startTicks, name: titleOf(process)};
}

/** The GPUs that these use, and the MiB that end with them; null where nothing is billed to any. */
function shareOf(
  holders: readonly HolderDiagnosis[],
  {gpus}: Diagnosis,
): {readonly gpus: readonly number[]; readonly MiB: number | null} {
  const uuids = new Set(
    holders.flatMap((one) => one.gpus.filter((use) => use.how !== 'opened').map((use) => use.gpuUuid)),
  );
  const billed = holders.flatMap((one) => one.chargedMiB ?? []);
  return {
    gpus: gpus.flatMap((gpu) => (uuids.has(gpu.gpuUuid) && gpu.index !== null ? [gpu.index] : [])),
    MiB: billed.length === 0 ? null : billed.reduce((sum, MiB) => sum + MiB, 0),
  };
}
