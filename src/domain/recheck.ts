/** The approved plan held against a fresh look: what may still be signalled is what was approved, or less. */
import {seesTheLiving} from './dead-charges.ts';
import {needsDeeper} from './deepen.ts';
import type {Diagnosis} from './diagnosis.ts';
import {isPlainZombie} from './lineage.ts';
import type {Plan, Target} from './plan.ts';
import {isSameMachine, isSameProcess} from './process.ts';
import type {Drift} from './run.ts';

export type Recheck =
  | {readonly go: true; readonly targets: readonly Target[]; readonly drift: readonly Drift[]}
  /** Nothing of the plan is left to signal, or the machine is another: stand down. */
  | {readonly go: false; readonly because: 'machine-changed' | 'no-target-left'; readonly drift: readonly Drift[]};

/** Never adds a target. Growth of memory and new holders are said, and change nothing that is sent. */
export function recheck(plan: Plan, fresh: Diagnosis): Recheck {
  if (!isSameMachine(plan.machine, fresh.snapshot.machine)) {
    return {
      go: false,
      because: 'machine-changed',
      drift: [{pid: 0, what: 'machine-changed', detail: machineDetail(plan, fresh)}],
    };
  }
  const drift: Drift[] = [];
  const targets: Target[] = [];
  for (const target of plan.targets) {
    const found = differenceOf(target, fresh);
    if (found === null) targets.push(asHeldNow(target, fresh));
    else drift.push(found);
  }
  return targets.length === 0
    ? {go: false, because: 'no-target-left', drift: [...drift, ...newcomers(plan, fresh)]}
    : {go: true, targets, drift: [...drift, ...newcomers(plan, fresh)]};
}

/** What it must be seen to hold when it is signalled: files that waited in its socket may be open in it by now. */
function asHeldNow(target: Target, fresh: Diagnosis): Target {
  if (target.heldBy === 'nothing') return target;
  const holder = fresh.holders.find((one) => one.process.pid === target.identity.pid);
  return holder === undefined || holder.heldBy === target.heldBy ? target : {...target, heldBy: holder.heldBy};
}

function differenceOf(target: Target, fresh: Diagnosis): Drift | null {
  const {pid} = target.identity;
  const process = fresh.snapshot.processes.find((one) => one.pid === pid);
  const say = (what: Drift['what'], detail: string): Drift => ({pid, what, detail});
  if (process === undefined)
    return seesTheLiving(fresh.snapshot)
      ? say('gone', 'ended since the plan')
      : say('unreadable', 'not among the processes that could be read');
  if (process.startTicks !== target.identity.startTicks)
    return say('replaced', `started at tick ${process.startTicks}, planned ${target.identity.startTicks}`);
  if (isPlainZombie(process)) return say('gone', `dead, waits for its parent PID ${process.ppid}`);
  const holder = fresh.holders.find((one) => one.process.pid === pid);
  if (holder?.findings.includes('protected')) return say('now-protected', holder.evidence[0]?.fact ?? '');
  if (process.uid === null || process.executable === null) return say('unreadable', process.unreadable.join(', '));
  const now = {pid, startTicks: process.startTicks, uid: process.uid, executable: process.executable.id};
  if (!isSameProcess(now, target.identity))
    return say('replaced', process.uid === target.identity.uid ? 'runs another program' : `runs as uid ${process.uid}`);
  if (target.heldBy === 'nothing') return null;
  if (holder === undefined || holder.heldBy === 'nothing') return notHolding(target, fresh);
  // It was proven to hold a device; that it may keep something is less than what was approved.
  if (holder.heldBy === 'queue' && target.heldBy !== 'queue') return say('not-holding', 'holds no GPU device any more');
  // Ticked only as a ghost: without the proof it may be somebody's live work.
  if (target.belonging.by === 'ghost' && !holder.findings.includes('inheritor') && !holder.orphaned) {
    const blind = fresh.snapshot.smi.state !== 'answered';
    return blind
      ? say('unreadable', 'nvidia-smi does not answer, so nothing proves it a ghost')
      : say('not-holding', 'no longer a ghost');
  }
  return null;
}

/** Files in sockets and nodes under other names show in a deeper look only: without one, not seen is not gone. */
function notHolding(target: Target, fresh: Diagnosis): Drift {
  const {pid} = target.identity;
  const {deep} = fresh.snapshot;
  const due = target.heldBy === 'queue' ? ['queue'] : ['numbers', 'network', 'mapped'];
  const isCut = deep?.sections.some((section) => due.includes(section.name) && !section.complete) ?? false;
  // Nothing left over, so that no deeper look was due, is proof enough that no socket keeps anything.
  const isUnread = deep === null ? target.heldBy === 'numbers' || needsDeeper(fresh) : isCut;
  if ((target.heldBy === 'queue' || target.heldBy === 'numbers') && isUnread)
    return {pid, what: 'unreadable', detail: 'the deeper look that would show what it holds did not come whole'};
  if (target.heldBy === 'queue')
    return {pid, what: 'not-holding', detail: 'nothing is left that files in its sockets may keep'};
  return {pid, what: 'not-holding', detail: 'holds no GPU device any more'};
}

function newcomers(plan: Plan, fresh: Diagnosis): readonly Drift[] {
  const known = new Set([...plan.targets.map((target) => target.identity.pid), ...plan.kept.map((one) => one.pid)]);
  const requested = new Set(plan.gpus.filter((gpu) => gpu.requested).map((gpu) => gpu.gpuUuid));
  return fresh.holders
    .filter(
      (holder) =>
        !known.has(holder.process.pid) &&
        !holder.findings.includes('monitor') &&
        holder.gpus.some((use) => requested.has(use.gpuUuid)),
    )
    .map((holder) => ({pid: holder.process.pid, what: 'new-holder' as const, detail: holder.process.comm}));
}

function machineDetail(plan: Plan, fresh: Diagnosis): string {
  const now = fresh.snapshot.machine;
  if (plan.machine.hostKey !== now.hostKey) return 'another host key';
  return plan.machine.bootId === now.bootId ? 'another PID namespace' : 'rebooted since the plan';
}
