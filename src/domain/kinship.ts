/** Belonging (design 2.1): why a process is part of what was asked for. PPID 1 alone is never kinship: it only means detached. */
import {kinshipCgroups} from './cgroup.ts';
import type {Belonging} from './diagnosis.ts';
import {
  ancestors,
  belowTyping,
  isEnvironment,
  isPlainZombie,
  leadsStrangers,
  type ProcessTable,
  processTable,
} from './lineage.ts';
import {titleOf} from './roles.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

/**
 * How `process` belongs to one of the `named` processes; null if it does not, or is one of them itself. `lends` says
 * which of the named may lend a session, a group or a unit: the name of a log file in `tee vllm.log` makes nobody kin.
 */
export function kinshipTo(
  process: ProcessFacts,
  named: readonly ProcessFacts[],
  table: ProcessTable,
  lends: (one: ProcessFacts) => boolean,
): Belonging | null {
  const namedPids = new Set(named.map((one) => one.pid));
  if (namedPids.has(process.pid)) return null;

  for (const parent of belowTyping(ancestors(process.pid, table))) {
    if (namedPids.has(parent.pid)) return {by: 'parents', ancestorPid: parent.pid, ancestorName: titleOf(parent)};
  }
  const units = kinshipCgroups(process.cgroups);
  for (const one of named) {
    const {session, processGroup} = process;
    const mayLend = lends(one);
    if (session === one.session && (mayLend || one.pid === session) && isKin(session, table))
      return {by: 'session', id: session, sharedWithPid: one.pid};
    if (processGroup === one.processGroup && (mayLend || one.pid === processGroup) && isKin(processGroup, table)) {
      return {by: 'process-group', id: processGroup, sharedWithPid: one.pid};
    }
    const theirs = mayLend ? kinshipCgroups(one.cgroups) : [];
    const shared = units.find((path) => theirs.includes(path));
    if (shared !== undefined) return {by: 'cgroup', path: shared, sharedWithPid: one.pid};
  }
  return null;
}

/** A session or group says something unless it is 0, which is shared by all that were started outside our namespace. */
function isKin(id: number, table: ProcessTable): boolean {
  return id !== 0 && !leadsStrangers(table.get(id));
}

/**
 * The same question put to earlier looks of the same boot: was this very process (PID and start ticks) a descendant of
 * a process that `isNamed` then? The newest look that says so answers. A shell or multiplexer above it names nothing.
 */
export function kinshipEarlier(
  process: ProcessFacts,
  earlier: readonly Snapshot[],
  isNamed: (one: ProcessFacts, look: Snapshot) => boolean,
): Belonging | null {
  for (const look of earlier.toSorted((a, b) => b.takenAtMs - a.takenAtMs)) {
    const table = processTable(look);
    const then = table.get(process.pid);
    if (then === undefined || then.startTicks !== process.startTicks) continue;
    const parent = belowTyping(ancestors(then.pid, table)).find((one) => !isEnvironment(one) && isNamed(one, look));
    if (parent !== undefined)
      return {by: 'earlier-look', ancestorPid: parent.pid, ancestorName: titleOf(parent), seenAtMs: look.takenAtMs};
  }
  return null;
}

/**
 * What dead PIDs were called while they lived, by the newest look of this boot that saw them alive and billed. In words
 * for people only: a PID may have been used twice.
 */
export function knownAs(
  deadPids: readonly number[],
  snapshot: Snapshot,
  earlier: readonly Snapshot[],
): readonly {readonly pid: number; readonly title: string; readonly seenAtMs: number}[] {
  const looks = earlier
    .filter((look) => look.machine.bootId === snapshot.machine.bootId && look.takenAtMs < snapshot.takenAtMs)
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs);
  return deadPids.flatMap((pid) => {
    for (const look of looks) {
      const then = look.processes.find((one) => one.pid === pid);
      if (then === undefined || isPlainZombie(then) || !look.charges.some((charge) => charge.pid === pid)) continue;
      return [{pid, title: titleOf(then), seenAtMs: look.takenAtMs}];
    }
    return [];
  });
}
