/** Ancestors that hold no GPU themselves but would start the work again: "server, holds no GPU". */
import type {Belonging} from './diagnosis.ts';
import {diagnoseProcess} from './holder.ts';
import {ancestors, belowTyping, isEnvironment, isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import type {Target} from './plan.ts';
import {type PlanInput, targetFacts} from './plan-input.ts';
import {isSameMachine} from './process.ts';
import {titleOf} from './roles.ts';
import {mayGoAlone, namedBy} from './selection.ts';
import type {ProcessFacts} from './snapshot.ts';

/**
 * Living ancestors of targets, up to the topmost that the request names: by the parents of now, or by those that an
 * earlier look recorded, for a child of a dead worker has lost that line; and the named leader of a target's session or
 * group. None above a holder that stays: its end would be the end of that one too.
 */
export function serversOf(holders: readonly Target[], input: PlanInput): readonly Target[] {
  const {diagnosis, context, request} = input;
  const {snapshot} = diagnosis;
  const table = processTable(snapshot);
  const named = new Map(namedBy(request, diagnosis).map((process) => [process.pid, process]));
  const taken = new Set([...diagnosis.holders.map((holder) => holder.process.pid), ...snapshot.ownPids]);
  const aboveKept = ancestorsOfKept(holders, input, table);
  const servers = new Map<number, Target>();
  for (const line of holders.flatMap((target) => linesAbove(target.identity, input, table).map(belowTyping))) {
    const top = line.findLastIndex((parent) => named.has(parent.pid) && !isEnvironment(parent));
    for (const [at, parent] of line.slice(0, top + 1).entries()) {
      if (taken.has(parent.pid) || servers.has(parent.pid) || aboveKept.has(parent.pid)) continue;
      if (isEnvironment(parent) || isPlainZombie(parent)) continue;
      const seen = diagnoseProcess(parent, {
        snapshot: {...snapshot, charges: []},
        table,
        dead: [],
        host: context.host,
        policy: context.policy,
      });
      const {findings} = seen;
      if (seen.identity === null || findings.includes('protected') || findings.includes('stuck')) continue;
      if (findings.includes('contained')) continue;
      const belonging = belongingOf(parent, line.slice(at + 1), named, input);
      servers.set(parent.pid, {
        ...targetFacts({...seen, findings: ['server', ...findings.filter((kind) => kind !== 'name-only')]}, input),
        identity: seen.identity,
        role: 'server',
        belonging,
        heldBy: 'nothing',
        selfGo: mayGoAlone(seen, belonging, request),
      });
    }
  }
  return [...servers.values()];
}

type Started = Pick<ProcessFacts, 'pid' | 'startTicks'>;

/** Lines of living processes above one that holds, nearest first. */
function linesAbove(one: Started, input: PlanInput, table: ProcessTable): readonly (readonly ProcessFacts[])[] {
  const {pid} = one;
  const process = table.get(pid);
  const upFrom = (from: ProcessFacts | undefined): readonly ProcessFacts[] =>
    from === undefined ? [] : [from, ...ancestors(from.pid, table)];
  // 0 is whoever was started outside of our namespace.
  const leaders = [process?.session ?? 0, process?.processGroup ?? 0].filter((id) => id !== 0 && id !== pid);
  return [
    ancestors(pid, table),
    ...recordedAbove(one, input, table).map(upFrom),
    ...leaders.map((id) => upFrom(table.get(id))),
  ];
}

/** Who stood above this very process in the newest look of this boot that saw it, and lives on as the same process. */
function recordedAbove({pid, startTicks}: Started, input: PlanInput, table: ProcessTable): readonly ProcessFacts[] {
  const looks = input.earlier
    .filter((look) => isSameMachine(look.machine, input.diagnosis.snapshot.machine))
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs);
  for (const look of looks) {
    const then = processTable(look);
    if (then.get(pid)?.startTicks !== startTicks) continue;
    const line = ancestors(pid, then);
    // Above somebody's shell it is another story.
    const end = line.findIndex((one) => isEnvironment(one));
    const living = (end === -1 ? line : line.slice(0, end)).flatMap((one) => {
      const now = table.get(one.pid);
      return now === undefined || now.startTicks !== one.startTicks ? [] : [now];
    });
    if (living.length > 0) return living;
  }
  return [];
}

/** Named by itself, or a child of one that is. */
function belongingOf(
  process: ProcessFacts,
  above: readonly ProcessFacts[],
  named: ReadonlyMap<number, ProcessFacts>,
  input: PlanInput,
): Belonging {
  const {request} = input;
  if (named.has(process.pid)) {
    if (request.pids.includes(process.pid)) return {by: 'pid'};
    return request.match === null ? {by: 'user'} : {by: 'named', literal: request.match};
  }
  const parent = above.find((one) => named.has(one.pid));
  if (parent === undefined) throw new Error(`Internal error: server ${process.pid} has no named process above it`);
  return {by: 'parents', ancestorPid: parent.pid, ancestorName: titleOf(parent)};
}

function ancestorsOfKept(holders: readonly Target[], input: PlanInput, table: ProcessTable): ReadonlySet<number> {
  const ending = new Set(holders.map((target) => target.identity.pid));
  const staying = input.diagnosis.holders.filter(
    (holder) =>
      !ending.has(holder.process.pid) && !holder.findings.includes('unreaped') && !holder.findings.includes('monitor'),
  );
  // By the same lines that tie a server to a target, for its end would be theirs as much.
  return new Set(
    staying.flatMap((holder) =>
      linesAbove(holder.process, input, table)
        .flat()
        .map((parent) => parent.pid),
    ),
  );
}
