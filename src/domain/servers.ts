/** Ancestors that hold no GPU themselves but would start the work again: "server, holds no GPU". */
import {diagnoseProcess} from './holder.ts';
import {ancestors, isEnvironment, processTable} from './lineage.ts';
import type {Target} from './plan.ts';
import {type PlanInput, targetFacts} from './plan-input.ts';
import {mayGoAlone, namedBy} from './selection.ts';

/** Living ancestors of targets, up to the topmost that the request names: "server, holds no GPU". */
export function serversOf(holders: readonly Target[], input: PlanInput): readonly Target[] {
  const {diagnosis, context, request} = input;
  const {snapshot} = diagnosis;
  const table = processTable(snapshot);
  const named = new Set(namedBy(request, diagnosis).map((process) => process.pid));
  const taken = new Set(diagnosis.holders.map((holder) => holder.process.pid));
  const servers = new Map<number, Target>();
  for (const target of holders) {
    const line = ancestors(target.identity.pid, table);
    const top = line.findLastIndex((parent) => named.has(parent.pid));
    for (const parent of line.slice(0, top + 1)) {
      if (
        taken.has(parent.pid) ||
        servers.has(parent.pid) ||
        isEnvironment(parent) ||
        snapshot.ownPids.includes(parent.pid)
      )
        continue;
      const seen = diagnoseProcess(parent, {snapshot, table, dead: [], host: context.host, policy: context.policy});
      if (seen.identity === null || seen.findings.includes('protected') || seen.container !== null) continue;
      servers.set(parent.pid, {
        ...targetFacts(
          {
            ...seen,
            findings: ['server', ...seen.findings.filter((kind) => kind !== 'name-only' && kind !== 'bystander')],
          },
          input,
        ),
        identity: seen.identity,
        role: 'server',
        belonging:
          named.has(parent.pid) && request.match !== null
            ? {by: 'named', literal: request.match}
            : {by: 'parents', ancestorPid: target.identity.pid, ancestorName: target.name},
        holdsDevice: false,
        selfGo: mayGoAlone(seen, {by: 'pid'}, request),
      });
    }
  }
  return [...servers.values()];
}
