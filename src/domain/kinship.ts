/** Belonging (design 2.1): why a process is part of what was asked for. PPID 1 alone is never kinship: it only means detached. */
import {kinshipCgroups} from './cgroup.ts';
import type {Belonging} from './diagnosis.ts';
import {ancestors, leadsStrangers, type ProcessTable, processTable, programName} from './lineage.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

/** How `process` belongs to one of the `named` processes; null if it does not, or is one of them itself. */
export function kinshipTo(
  process: ProcessFacts,
  named: readonly ProcessFacts[],
  table: ProcessTable,
): Belonging | null {
  const namedPids = new Map(named.map((one) => [one.pid, one]));
  if (namedPids.has(process.pid)) return null;

  for (const parent of ancestors(process.pid, table)) {
    if (namedPids.has(parent.pid)) return {by: 'parents', ancestorPid: parent.pid, ancestorName: programName(parent)};
  }
  for (const one of named) {
    if (process.session !== 0 && process.session === one.session && !leadsStrangers(table.get(process.session))) {
      return {by: 'session', id: process.session, sharedWithPid: one.pid};
    }
    if (
      process.processGroup !== 0 &&
      process.processGroup === one.processGroup &&
      !leadsStrangers(table.get(process.processGroup))
    ) {
      return {by: 'process-group', id: process.processGroup, sharedWithPid: one.pid};
    }
    const shared = kinshipCgroups(process.cgroups).find((path) => one.cgroups.includes(path));
    if (shared !== undefined) return {by: 'cgroup', path: shared, sharedWithPid: one.pid};
  }
  return null;
}

/**
 * The same question put to earlier looks of the same boot: was this very process (PID and start ticks) a descendant of
 * a process that `isNamed` then? The newest look that knows it answers.
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
    const parent = ancestors(then.pid, table).find((one) => isNamed(one, look));
    if (parent !== undefined)
      return {by: 'earlier-look', ancestorPid: parent.pid, ancestorName: programName(parent), seenAtMs: look.takenAtMs};
  }
  return null;
}
