/** A look and the deeper one taken right after it, as one snapshot: what follows need not know that there were two. */
import type {DeepLook, NumberedDevice} from './deep.ts';
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

/**
 * A deeper look of another boot or namespace is of no use: the snapshot then stays as it was. Between the two a PID may have
 * got another process, and a process its GPU: whoever started or opened it since is billed only later, and would look like
 * the keeper of a dead one's memory. So nothing is added but to processes that the first look could have seen with it.
 */
export function deepen(snapshot: Snapshot, deep: DeepLook): Snapshot {
  if (!isSameMachine(snapshot.machine, deep.machine)) return snapshot;
  const known = new Map(snapshot.processes.map((process) => [process.pid, process]));
  const later = new Map(deep.processes.map((process) => [process.pid, process]));
  const own = new Set(snapshot.ownPids);
  const isOther = (pid: number): boolean => {
    const [then, now] = [known.get(pid), later.get(pid)];
    return then !== undefined && now !== undefined && then.startTicks !== now.startTicks;
  };
  const wasThere = (pid: number): boolean => {
    if (known.has(pid)) return !isOther(pid);
    const now = later.get(pid);
    return now !== undefined && startedMs(now.startTicks, snapshot) <= snapshot.uptimeMs;
  };
  const processes = [
    ...snapshot.processes,
    ...deep.processes.filter((process) => !known.has(process.pid) && wasThere(process.pid)),
  ];
  const holdings = new Map(snapshot.holdings.map((holding) => [holding.pid, holding]));
  const grow = (pid: number, change: (holding: Holding) => Partial<Holding>): void => {
    // Gone between the two looks, or one of us.
    if (!wasThere(pid) || own.has(pid)) return;
    const before = holdings.get(pid) ?? {pid, opens: [], mappings: [], threadOpens: [], numbered: [], queued: 0};
    holdings.set(pid, {...before, ...change(before)});
  };
  for (const {pid, devices} of deep.numbered) {
    const numbered = snapshot.sight.full ? devices.filter((device) => !isPlainNode(device)) : devices;
    if (numbered.length > 0) grow(pid, () => ({numbered}));
  }
  for (const {pid, count} of deep.queued) grow(pid, (before) => ({queued: before.queued + count}));
  for (const {pid, devices, files} of deep.rings) {
    grow(pid, (before) => ({queued: before.queued + (devices?.length ?? files)}));
  }
  return {
    ...snapshot,
    processes,
    holdings: [...holdings.values()].toSorted((a, b) => a.pid - b.pid),
    deep: {...deep, kernel: deep.kernel.filter(({pid}) => !isOther(pid))},
  };
}

/** Under its usual name, where the first look found all there were: what it did not find was opened later. */
function isPlainNode({path}: NumberedDevice): boolean {
  return path.startsWith('/dev/nvidia');
}

/** Host uptime, ms (proc(5), field 22). */
function startedMs(startTicks: string, {clockTicksPerSecond}: Snapshot): number {
  return (Number(startTicks) / clockTicksPerSecond) * 1_000;
}
