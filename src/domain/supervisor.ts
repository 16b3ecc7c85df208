/**
 * Who starts a process again by itself: what keeps its control group, or a living parent. A person's door (a login, a
 * terminal, an interactive shell) is none: what comes through it was typed.
 */
import {containerOf} from './cgroup.ts';
import type {Container} from './diagnosis.ts';
import {ancestors, isShell, opensTerminals, type ProcessTable, programName} from './lineage.ts';
import {titleOf} from './roles.ts';
import type {ProcessFacts} from './snapshot.ts';

export interface Supervisor {
  readonly kind: Container['kind'] | 'pod' | 'process';
  /** Unit, short container id, job id, pod uid, or the parent's own name: hostile. */
  readonly name: string;
  /** Of a parent; null for the others. */
  readonly pid: number | null;
  readonly stopCommand: string | null;
}

/** The supervisor that had `then` and now has `now`; null where none is proven, which is how a person's start looks. */
export function sharedSupervisor(
  then: ProcessFacts,
  before: ProcessTable,
  now: ProcessFacts,
  later: ProcessTable,
): Supervisor | null {
  return sharedKeeper(then, now) ?? sharedParent(then, before, now, later);
}

function sharedKeeper(then: ProcessFacts, now: ProcessFacts): Supervisor | null {
  const had = containerOf(then.cgroups);
  const has = containerOf(now.cgroups);
  if (had !== null && has !== null && had.kind === has.kind && had.name === has.name)
    return {kind: has.kind, name: has.name, pid: null, stopCommand: has.stopCommand};
  // A pod's container is made anew at each restart; the pod stays.
  const pod = podOf(then.cgroups);
  return pod !== null && pod === podOf(now.cgroups) ? {kind: 'pod', name: pod, pid: null, stopCommand: null} : null;
}

/** `…/kubepods-burstable-pod0f2c….slice/…`, with `_` for `-` where systemd spells it. */
function podOf(cgroups: readonly string[]): string | null {
  for (const path of cgroups) {
    const uid = /kubepods.*\/(?:kubepods-[^/]*-)?pod([0-9a-f_-]{32,36})(?:\.slice)?(?:\/|$)/.exec(path)?.[1];
    if (uid !== undefined) return uid.replaceAll('_', '-');
  }
  return null;
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
  if (!isShell(process)) return false;
  // With a script or -c it reads no keyboard: `while true; do serve; done` in a file is a supervisor.
  return !process.words.slice(1).some((word) => !word.startsWith('-') || /^-[a-z]*c$/.test(word));
}
