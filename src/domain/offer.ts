/** What "Choose…" offers: the plan that waits, held against a fresh look. Signals nothing and decides nothing. */
import type {Failure} from './failure.ts';
import type {Family, Kept, Plan, Target} from './plan.ts';
import {isSameMachine, type ProcessIdentity} from './process.ts';
import type {Drift, RunId} from './run.ts';
import type {Snapshot} from './snapshot.ts';

export interface Offer {
  readonly runId: RunId;
  /** Digest of the plan that waited when this was made: a choice from it replaces that plan, or none. */
  readonly basedOn: string;
  /**
   * Of a fresh look: the next version, in which those are targets that were before and are the same process still. Who is
   * new is offered and never ticked by itself. `stale`: the plan as it waits, of its own time.
   */
  readonly plan: Plan;
  /** By PID: the workload of everybody who may be chosen. */
  readonly families: Readonly<Record<string, Family>>;
  /** What became of the targets, and who is new. Empty for a stale one. */
  readonly drift: readonly Drift[];
  /** null: `plan` is of a fresh look. */
  readonly stale: Stale | null;
}

/** Why no fresh look stands behind an offer. */
export type Stale =
  | {readonly why: 'no-look'; readonly failure: Failure}
  /** It saw less than the look behind the plan: who is missing may only be unread. */
  | {readonly why: 'saw-less'; readonly missing: 'nvidia-smi' | 'processes' | 'files'}
  /** Another boot or another host: nothing of the plan is there any more, and nothing of it may be chosen. */
  | {readonly why: 'machine-changed'};

export type Choosable = (Target | Kept) & {readonly identity: ProcessIdentity};

/** Everybody who may be ticked, targets first; the order in which ticks are counted. */
export function choosableIn(plan: Plan): readonly Choosable[] {
  return [...plan.targets, ...plan.kept.filter((one) => one.choosable)].filter(
    (one): one is Choosable => one.identity !== null,
  );
}

export function isTarget(one: Target | Kept): one is Target {
  return 'role' in one;
}

/** null where this look may stand in for the one behind the plan. */
export function staleBecause(plan: Plan, before: Snapshot, fresh: Snapshot): Stale | null {
  if (!isSameMachine(plan.machine, fresh.machine)) return {why: 'machine-changed'};
  if (before.smi.state === 'answered' && fresh.smi.state !== 'answered')
    return {why: 'saw-less', missing: 'nvidia-smi'};
  if (isWhole(before, 'facts') && !isWhole(fresh, 'facts')) return {why: 'saw-less', missing: 'processes'};
  return before.sight.full && !fresh.sight.full ? {why: 'saw-less', missing: 'files'} : null;
}

/** By PID, from a plan in which everybody is a target. */
export function familiesOf(everybody: Pick<Plan, 'targets'>): Offer['families'] {
  return Object.fromEntries(everybody.targets.map(({identity, family}) => [String(identity.pid), family]));
}

/** Offered now, and by no means known to the plan that waited: neither as a target nor as one who stays. */
export function isNewSince(was: Plan, one: Choosable): boolean {
  const {pid, startTicks} = one.identity;
  return ![...was.targets, ...was.kept].some(
    ({identity}) => identity !== null && identity.pid === pid && identity.startTicks === startTicks,
  );
}

/** Targets of an earlier version that a later one, of a look of its own, knows nothing of any more. */
export function vanishedSince(was: Plan, now: Plan): readonly Target[] {
  const there = new Set(
    [...now.targets, ...now.kept].flatMap(({identity}) =>
      identity === null ? [] : [`${identity.pid} ${identity.startTicks}`],
    ),
  );
  return was.targets.filter(({identity}) => !there.has(`${identity.pid} ${identity.startTicks}`));
}

/** Memory of a GPU then and now, MiB. */
export interface MemoryMove {
  readonly index: number | null;
  readonly beforeMiB: number;
  readonly nowMiB: number;
}

/** GPUs whose use has moved by more than `noiseMiB` since the plan that waited. */
export function memoryMoves(was: Plan, now: Plan, noiseMiB: number): readonly MemoryMove[] {
  return now.gpus.flatMap(({gpuUuid, index, beforeMiB: nowMiB}) => {
    const beforeMiB = was.gpus.find((gpu) => gpu.gpuUuid === gpuUuid)?.beforeMiB ?? null;
    if (beforeMiB === null || nowMiB === null || Math.abs(nowMiB - beforeMiB) <= noiseMiB) return [];
    return [{index, beforeMiB, nowMiB}];
  });
}

function isWhole(snapshot: Snapshot, name: string): boolean {
  return snapshot.sections.find((section) => section.name === name)?.complete === true;
}
