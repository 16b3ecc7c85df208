/** Ancestors that hold no GPU themselves but would start the work again: "server, holds no GPU". */
import type {Belonging} from './diagnosis.ts';
import {diagnoseProcess} from './holder.ts';
import {ancestors, isEnvironment, isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import type {Target} from './plan.ts';
import {type PlanInput, targetFacts} from './plan-input.ts';
import {titleOf} from './roles.ts';
import {mayGoAlone, namedBy} from './selection.ts';
import type {ProcessFacts} from './snapshot.ts';

/**
 * Living ancestors of targets, up to the topmost that the request names. None above a holder that stays: its end would
 * be the end of that one too.
 */
export function serversOf(holders: readonly Target[], input: PlanInput): readonly Target[] {
  const {diagnosis, context, request} = input;
  const {snapshot} = diagnosis;
  const table = processTable(snapshot);
  const named = new Map(namedBy(request, diagnosis).map((process) => [process.pid, process]));
  const taken = new Set([...diagnosis.holders.map((holder) => holder.process.pid), ...snapshot.ownPids]);
  const aboveKept = ancestorsOfKept(holders, input, table);
  const servers = new Map<number, Target>();
  for (const target of holders) {
    const line = ancestors(target.identity.pid, table);
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
      if (seen.identity === null || seen.findings.includes('protected') || seen.container !== null) continue;
      const belonging = belongingOf(parent, line.slice(at + 1), named, input);
      servers.set(parent.pid, {
        ...targetFacts({...seen, findings: ['server', ...seen.findings.filter((kind) => kind !== 'name-only')]}, input),
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
  return new Set(staying.flatMap((holder) => ancestors(holder.process.pid, table).map((parent) => parent.pid)));
}
