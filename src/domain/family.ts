/**
 * Which targets are one workload: a server with its workers, or what is left of one. For the eyes of people only: a family
 * ticks nobody, signals nobody and is no part of what a go covers.
 */
import type {Diagnosis} from './diagnosis.ts';
import {ancestors, isEnvironment, isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import type {Family, Target} from './plan.ts';
import {isSameMachine} from './process.ts';
import {frameworkOf} from './roles.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

/** The same targets in the same order, each with its family. `earlier`: looks in which dead parents still lived. */
export function withFamilies(
  targets: readonly Target[],
  diagnosis: Diagnosis,
  earlier: readonly Snapshot[],
): readonly Target[] {
  const {snapshot} = diagnosis;
  const looks = earlier
    .filter((look) => isSameMachine(look.machine, snapshot.machine))
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs)
    .map(processTable);
  const table = processTable(snapshot);
  const pids = new Set(targets.map((target) => target.identity.pid));
  const traces = targets.map((target) => ({target, trace: traceOf(target, {pids, table, looks})}));
  return joined(traces)
    .flatMap((members) => {
      const [first] = members;
      if (first === undefined) return [];
      const framework =
        members.map(({trace}) => trace.framework).find((name) => name !== null) ??
        members.map(({trace}) => trace.deadFramework).find((name) => name !== null) ??
        null;
      const family: Family = {framework, rootPid: first.trace.deadRootPid ?? first.target.identity.pid};
      return members.map(({target, at}) => ({at, target: {...target, family}}));
    })
    .toSorted((a, b) => a.at - b.at)
    .map(({target}) => target);
}

/** What ties one target to others. Targets with a key in common are one family. */
interface Trace {
  readonly keys: readonly string[];
  readonly framework: string | null;
  readonly deadFramework: string | null;
  /** The topmost parent that an earlier look saw above it and that is no more. */
  readonly deadRootPid: number | null;
}

interface Traces {
  readonly pids: ReadonlySet<number>;
  readonly table: ProcessTable;
  /** Newest first. */
  readonly looks: readonly ProcessTable[];
}

function traceOf(target: Target, {pids, table, looks}: Traces): Trace {
  const {pid} = target.identity;
  const process = table.get(pid);
  if (process === undefined) return {keys: [keyOf(pid)], framework: null, deadFramework: null, deadRootPid: null};
  const framework = frameworkOf(process);
  const deadPids = target.belonging.by === 'ghost' ? target.belonging.deadPids : [];
  const [parent] = workAbove(pid, table);
  const before = [pid, ...deadPids].flatMap((one) => seenAbove(one, one === pid ? process.startTicks : null, looks));
  const dead = before.filter((one) => !isAlive(one, table));
  return {
    keys: [
      keyOf(pid),
      ...ancestors(pid, table).flatMap((one) => (pids.has(one.pid) ? [keyOf(one.pid)] : [])),
      ...[process.session, process.processGroup].flatMap((id) => (id !== 0 && pids.has(id) ? [keyOf(id)] : [])),
      // A group whose leader is gone is one workload's if all its members are of one framework.
      ...(framework !== null && process.processGroup !== 0 && !table.has(process.processGroup)
        ? [`group ${process.processGroup} ${framework}`]
        : []),
      ...(parent === undefined ? [] : [keyOf(parent.pid)]),
      ...before.map((one) => (isAlive(one, table) ? keyOf(one.pid) : `dead ${one.pid} ${one.startTicks}`)),
      ...deadPids.map((one) => `billed ${one}`),
    ],
    framework,
    deadFramework: dead.map(frameworkOf).find((name) => name !== null) ?? null,
    deadRootPid: dead.at(-1)?.pid ?? earlierAncestorOf(target),
  };
}

/** Parents up to the first shell, multiplexer or supervisor: what stands above that is somebody's surroundings. */
function workAbove(pid: number, table: ProcessTable): readonly ProcessFacts[] {
  const line = ancestors(pid, table);
  const end = line.findIndex(isEnvironment);
  return end === -1 ? line : line.slice(0, end);
}

/** The process itself, if it is dead, and those above it, nearest first, as the newest look that saw it has them. */
function seenAbove(pid: number, startTicks: string | null, looks: readonly ProcessTable[]): readonly ProcessFacts[] {
  for (const look of looks) {
    const then = look.get(pid);
    if (then === undefined || (startTicks !== null && then.startTicks !== startTicks) || isPlainZombie(then)) continue;
    const above = workAbove(pid, look);
    if (startTicks === null) return [then, ...above];
    if (above.length > 0) return above;
  }
  return [];
}

function isAlive(then: ProcessFacts, table: ProcessTable): boolean {
  const now = table.get(then.pid);
  return now !== undefined && now.startTicks === then.startTicks && !isPlainZombie(now);
}

function earlierAncestorOf({belonging}: Target): number | null {
  return belonging.by === 'earlier-look' ? belonging.ancestorPid : null;
}

function keyOf(pid: number): string {
  return `process ${pid}`;
}

/** Targets that share a key, directly or by a third; each list in the order of the targets. */
function joined(
  traces: readonly {readonly target: Target; readonly trace: Trace}[],
): readonly (readonly {readonly at: number; readonly target: Target; readonly trace: Trace}[])[] {
  const leaderOf = traces.map((_, at) => at);
  const find = (at: number): number => {
    let top = at;
    while (leaderOf[top] !== top) top = leaderOf[top] ?? top;
    leaderOf[at] = top;
    return top;
  };
  const firstWith = new Map<string, number>();
  for (const [at, {trace}] of traces.entries()) {
    for (const key of trace.keys) {
      const other = firstWith.get(key);
      if (other === undefined) firstWith.set(key, at);
      else {
        const [low, high] = [find(other), find(at)].toSorted((a, b) => a - b);
        if (low !== undefined && high !== undefined) leaderOf[high] = low;
      }
    }
  }
  const families = new Map<number, {at: number; target: Target; trace: Trace}[]>();
  for (const [at, one] of traces.entries()) {
    const top = find(at);
    families.set(top, [...(families.get(top) ?? []), {at, ...one}]);
  }
  return [...families.values()];
}
