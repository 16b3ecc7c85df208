/** The cross-reference: every holder named with evidence, every GPU accounted for. */
import {accountFor} from './account.ts';
import {deadCharges} from './dead-charges.ts';
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import {diagnoseProcess} from './holder.ts';
import type {Host} from './host.ts';
import {ancestors, isEnvironment, processTable} from './lineage.ts';
import type {Policy} from './policy.ts';
import type {Snapshot} from './snapshot.ts';

export interface DiagnoseContext {
  readonly host: Host;
  readonly policy: Policy;
  readonly baselines: ReadonlyMap<string, number>;
}

/** Same snapshot and context, same diagnosis. */
export function diagnose(snapshot: Snapshot, context: DiagnoseContext): Diagnosis {
  const {host, policy, baselines} = context;
  const table = processTable(snapshot);
  // The driver knows only the initial PID namespace's numbers; elsewhere its PIDs name strangers.
  const foreignPids = snapshot.sight.foreignPidNamespace && !host.labPidNamespace;
  const dead = deadCharges(snapshot, table, foreignPids);
  const own = new Set(snapshot.ownPids);
  // What a stranger's number is billed is nobody's bill here.
  const placed = foreignPids ? {...snapshot, charges: []} : snapshot;
  const billed = new Set(placed.charges.map((charge) => charge.pid));
  const holding = new Set(snapshot.holdings.map((one) => one.pid));

  const all = snapshot.processes
    .filter((process) => !own.has(process.pid))
    .map((process) => diagnoseProcess(process, {snapshot: placed, table, dead, host, policy}));
  const isHolder = (one: HolderDiagnosis): boolean => holding.has(one.process.pid) || billed.has(one.process.pid);
  const holders = all.filter(isHolder).toSorted(byPid);
  // A nameless zombie says nothing about GPUs: only one whose name matches may be a dead worker that waits for its parent.
  const named = all.filter((one) => !isHolder(one) && one.matched.length > 0);
  const above = new Set(holders.flatMap((holder) => ancestors(holder.process.pid, table).map((parent) => parent.pid)));
  const others = named.map((one) => (above.has(one.process.pid) ? asServer(one) : one)).toSorted(byPid);
  return {
    snapshot,
    holders,
    others,
    gpus: snapshot.gpus.map((gpu) => accountFor(gpu, {snapshot, holders, dead, policy, baselines, foreignPids})),
    foreignPids,
  };
}

/** A named parent of a holder would start its workers again: more than a name. */
function asServer(one: HolderDiagnosis): HolderDiagnosis {
  if (!one.findings.includes('name-only') || isEnvironment(one.process)) return one;
  return {...one, findings: one.findings.map((kind) => (kind === 'name-only' ? 'server' : kind))};
}

function byPid(a: HolderDiagnosis, b: HolderDiagnosis): number {
  return a.process.pid - b.process.pid;
}
