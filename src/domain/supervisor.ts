/**
 * Who starts a process again by itself: what keeps its control group, or a living parent. A person's door (a login, a
 * terminal, an interactive shell) is none: what comes through it was typed.
 */
import {slurmIn} from './cgroup.ts';
import {ancestors, isTypedInto, opensTerminals, type ProcessTable, programName} from './lineage.ts';
import type {Owner, OwnerKind} from './owner.ts';
import {ownersOf} from './owners-of.ts';
import {titleOf} from './roles.ts';
import type {ProcessFacts} from './snapshot.ts';

export interface Supervisor {
  readonly kind: OwnerKind | 'process';
  /** Unit, short container id, pod uid, job step, or the parent's own name: hostile. */
  readonly name: string;
  /** Of a parent; null for the others. */
  readonly pid: number | null;
  readonly stopCommand: string | null;
}

/** Owners that start a process again inside the control group that they gave it. */
const KEEPERS: ReadonlySet<OwnerKind> = new Set([
  'unit',
  'user-unit',
  'docker',
  'containerd',
  'podman',
  'kubernetes',
  'kubernetes-pod',
  'slurm-step',
  'slurm-job',
]);

/** The supervisor that had `then` and now has `now`; null where none is proven, which is how a person's start looks. */
export function sharedSupervisor(
  then: ProcessFacts,
  before: ProcessTable,
  now: ProcessFacts,
  later: ProcessTable,
): Supervisor | null {
  const had = ownersOf(then, before);
  // A pod's container is made anew at each restart; the pod, which is farther out, stays.
  const keeper = ownersOf(now, later).find(
    (one) =>
      one.by === 'cgroup' &&
      KEEPERS.has(one.kind) &&
      had.some((other) => other.by === 'cgroup' && isSameOwner(one, other)) &&
      (!one.kind.startsWith('slurm') || sharesStep(then, now)),
  );
  if (keeper === undefined) return sharedParent(then, before, now, later);
  return {kind: keeper.kind, name: keeper.name, pid: null, stopCommand: keeper.stopCommand};
}

function isSameOwner(a: Owner, b: Owner): boolean {
  return a.kind === b.kind && a.id === b.id && a.uid === b.uid;
}

/** A person may have typed the next step of a job; one that was requeued has its steps' old names. */
function sharesStep(then: ProcessFacts, now: ProcessFacts): boolean {
  const steps = then.cgroups.flatMap((path) => slurmIn(path)?.stepPath ?? []);
  return now.cgroups.some((path) => steps.includes(slurmIn(path)?.stepPath ?? ''));
}

function sharedParent(
  then: ProcessFacts,
  before: ProcessTable,
  now: ProcessFacts,
  later: ProcessTable,
): Supervisor | null {
  const had = untilDoor(ancestors(then.pid, before));
  const has = untilDoor(ancestors(now.pid, later));
  const shared = had.find((one) => has.some((other) => other.pid === one.pid && other.startTicks === one.startTicks));
  return shared === undefined ? null : {kind: 'process', name: titleOf(shared), pid: shared.pid, stopCommand: null};
}

/** Beyond a person's door stands what all persons share, and so does PID 1. */
function untilDoor(line: readonly ProcessFacts[]): readonly ProcessFacts[] {
  const at = line.findIndex(isDoor);
  return at === -1 ? line : line.slice(0, at);
}

function isDoor(process: ProcessFacts): boolean {
  // A user's own systemd has everything of that user below it; what it starts by itself has a unit.
  if (process.pid <= 1 || programName(process) === 'systemd' || opensTerminals(process)) return true;
  // With a script or -c it reads no keyboard: `while true; do serve; done` in a file is a supervisor.
  return isTypedInto(process);
}
