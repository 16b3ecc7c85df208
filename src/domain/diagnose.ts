/** The cross-reference: every holder named with evidence, every GPU accounted for. */
import {accountFor} from './account.ts';
import {oneBillEach} from './bills.ts';
import {deadCharges} from './dead-charges.ts';
import {holdsDevice} from './devices.ts';
import type {Diagnosis, GpuAccount, HolderDiagnosis} from './diagnosis.ts';
import {diagnoseProcess} from './holder.ts';
import type {Host} from './host.ts';
import {looseAccounts, queueGaps} from './keepers.ts';
import {ancestors, isEnvironment, processTable} from './lineage.ts';
import type {Policy} from './policy.ts';
import {type Charge, mibOf, type Snapshot} from './snapshot.ts';

export interface DiagnoseContext {
  readonly host: Host;
  readonly policy: Policy;
  readonly baselines: ReadonlyMap<string, number>;
}

/** Same snapshot and context, same diagnosis. */
export function diagnose(given: Snapshot, context: DiagnoseContext): Diagnosis {
  const {host, policy, baselines} = context;
  const snapshot = {...given, charges: oneBillEach(given.charges)};
  const table = processTable(snapshot);
  // The driver knows only the initial PID namespace's numbers; elsewhere its PIDs name strangers.
  const foreignPids = snapshot.sight.foreignPidNamespace && !host.labPidNamespace;
  const dead = deadCharges(snapshot, table, foreignPids);
  const own = new Set(snapshot.ownPids);
  // What a stranger's number is billed is nobody's bill here.
  const placed = foreignPids ? {...snapshot, charges: []} : snapshot;
  const billed = new Set(placed.charges.map((charge) => charge.pid));
  const holding = new Set(snapshot.holdings.flatMap((one) => (holdsDevice(one) ? [one.pid] : [])));
  const isHolder = (one: HolderDiagnosis): boolean =>
    holding.has(one.process.pid) || billed.has(one.process.pid) || one.mayKeep.length > 0;
  const account = (holders: readonly HolderDiagnosis[]): readonly GpuAccount[] =>
    snapshot.gpus.map((gpu) => accountFor(gpu, {snapshot, holders, dead, policy, baselines, foreignPids}));
  const everybody = (loose: readonly GpuAccount[]): readonly HolderDiagnosis[] =>
    snapshot.processes
      .filter((process) => !own.has(process.pid))
      .map((process) => diagnoseProcess(process, {snapshot: placed, table, dead, loose, host, policy}));

  // First who is proven to hold, then, for what is left over, who may.
  const proven = everybody([]);
  const loose = looseAccounts(account(proven.filter(isHolder)));
  const all = loose.length === 0 ? proven : everybody(loose);
  const holders = all.filter(isHolder).toSorted(byPid);
  // A nameless zombie says nothing about GPUs: only one whose name matches may be a dead worker that waits for its parent.
  const named = all.filter((one) => !isHolder(one) && one.matched.length > 0);
  const above = new Set(holders.flatMap((holder) => ancestors(holder.process.pid, table).map((parent) => parent.pid)));
  const others = named.map((one) => (above.has(one.process.pid) ? asServer(one) : one)).toSorted(byPid);
  return {
    snapshot,
    holders: deadBillsOnce(onlyKeeperNamed(holders, snapshot), dead),
    others,
    gpus: account(holders),
    foreignPids,
  };
}

/** Where one process alone may keep what is left over, protected daemons aside, its evidence says that there is no other. */
function onlyKeeperNamed(holders: readonly HolderDiagnosis[], snapshot: Snapshot): readonly HolderDiagnosis[] {
  if (snapshot.deep === null || queueGaps(snapshot).length > 0) return holders;
  const keepers = holders.filter((one) => one.mayKeep.length > 0 && !one.findings.includes('protected'));
  const [only] = keepers;
  if (only === undefined || keepers.length > 1) return holders;
  const guarded = holders.filter((one) => one.mayKeep.length > 0).length - 1;
  const fact = `no other process in sight may keep it${guarded === 0 ? '' : `, ${guarded} protected aside`}`;
  return holders.map((one) =>
    one === only ? {...one, evidence: [...one.evidence, {source: 'socket-queues' as const, fact}]} : one,
  );
}

/**
 * A dead PID's bill that several keep (126 data workers of one training rank, say) is one memory: it stands with the first
 * of them, so that no sum over holders counts it again. It ends with the last.
 */
function deadBillsOnce(holders: readonly HolderDiagnosis[], dead: readonly Charge[]): readonly HolderDiagnosis[] {
  const counted = new Set<Charge>();
  return holders.map((one) => {
    // Who keeps such is billed for nothing itself.
    if (one.deadCharged.length === 0) return one;
    const uses = new Set(one.gpus.filter((use) => use.how !== 'opened').map((use) => use.gpuUuid));
    const kept = dead.filter((bill) => one.deadCharged.includes(bill.pid) && uses.has(bill.gpuUuid));
    const firsts = kept.filter((bill) => !counted.has(bill));
    for (const bill of firsts) counted.add(bill);
    return firsts.length === kept.length ? one : {...one, chargedMiB: totalOf(firsts)};
  });
}

/** null where no bill has a figure. */
function totalOf(bills: readonly Charge[]): number | null {
  const figures = bills.flatMap((bill) => mibOf(bill.usedMiB) ?? []);
  return figures.length === 0 ? null : figures.reduce((total, MiB) => total + MiB, 0);
}

/** A named parent of a holder would start its workers again: more than a name. */
function asServer(one: HolderDiagnosis): HolderDiagnosis {
  if (!one.findings.includes('name-only') || isEnvironment(one.process)) return one;
  return {...one, findings: one.findings.map((kind) => (kind === 'name-only' ? 'server' : kind))};
}

function byPid(a: HolderDiagnosis, b: HolderDiagnosis): number {
  return a.process.pid - b.process.pid;
}
