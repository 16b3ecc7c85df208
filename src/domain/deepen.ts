/** A look and the deeper one taken right after it, as one snapshot: what follows need not know that there were two. */
import type {DeepLook} from './deep.ts';
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import {looseAccounts} from './keepers.ts';
import type {Plan} from './plan.ts';
import {isSameMachine} from './process.ts';
import type {Holding, Snapshot} from './snapshot.ts';

/**
 * True where a second look may tell what the first could not: memory that nobody in sight explains, a dead PID that is
 * billed while nobody was seen to keep its files, or a living one that is billed while no path shows what it holds. Poor
 * sight and a silent nvidia-smi are no reason: more reading cures neither.
 */
export function needsDeeper(diagnosis: Diagnosis): boolean {
  const {snapshot, holders, gpus} = diagnosis;
  if (snapshot.deep !== null) return false;
  if (looseAccounts(gpus).length > 0) return true;
  return snapshot.sight.full && holders.some((holder) => isHoldingUnseen(holder));
}

/** True if a plan names somebody whose device only a deeper look can show again, and this look is none. */
export function needsDeeperFor(plan: Plan, fresh: Diagnosis): boolean {
  return (
    fresh.snapshot.deep === null &&
    plan.targets.some((target) => target.heldBy === 'numbers' || target.heldBy === 'queue')
  );
}

/** Billed and alive, and neither by open files nor by mappings a holder: it knows the device by another name. */
function isHoldingUnseen(holder: HolderDiagnosis): boolean {
  return holder.heldBy === 'nothing' && !holder.findings.includes('protected') && !holder.findings.includes('unreaped');
}

/** A deeper look of another boot or namespace is of no use: the snapshot then stays as it was. */
export function deepen(snapshot: Snapshot, deep: DeepLook): Snapshot {
  if (!isSameMachine(snapshot.machine, deep.machine)) return snapshot;
  const known = new Set(snapshot.processes.map((process) => process.pid));
  const processes = [...snapshot.processes, ...deep.processes.filter((process) => !known.has(process.pid))];
  const seen = new Set(processes.map((process) => process.pid));
  const own = new Set(snapshot.ownPids);
  const holdings = new Map(snapshot.holdings.map((holding) => [holding.pid, holding]));
  const grow = (pid: number, change: (holding: Holding) => Partial<Holding>): void => {
    // Gone between the two looks, or one of us.
    if (!seen.has(pid) || own.has(pid)) return;
    const before = holdings.get(pid) ?? {pid, opens: [], mappings: [], threadOpens: [], numbered: [], queued: 0};
    holdings.set(pid, {...before, ...change(before)});
  };
  for (const {pid, devices} of deep.numbered) grow(pid, () => ({numbered: devices}));
  for (const {pid, count} of deep.queued) grow(pid, (before) => ({queued: before.queued + count}));
  for (const {pid, devices, files} of deep.rings) {
    grow(pid, (before) => ({queued: before.queued + (devices?.length ?? files)}));
  }
  return {...snapshot, processes, holdings: [...holdings.values()].toSorted((a, b) => a.pid - b.pid), deep};
}
