/**
 * Dead PIDs that the driver still bills, and who keeps their device files. The driver frees a context when the last
 * descriptor of it closes; a child forked after cuInit keeps them all, and is billed for nothing itself.
 */
import {hasOpenFiles, holdsDevice, keepsContextFiles, keepsContextOn, keepsModeset, nodesHeld} from './devices.ts';
import {ancestors, isPlainZombie, type ProcessTable} from './lineage.ts';
import type {Charge, Holding, ProcessFacts, Snapshot} from './snapshot.ts';

/**
 * Charges whose PID is certainly dead: not in /proc, or a plain zombie. Empty where that cannot be known: facts
 * incomplete, others' processes hidden, or the driver counts PIDs of another namespace.
 */
export function deadCharges(snapshot: Snapshot, table: ProcessTable, foreignPids: boolean): readonly Charge[] {
  if (foreignPids || !seesTheLiving(snapshot)) return [];
  return snapshot.charges.filter((charge) => {
    const process = table.get(charge.pid);
    if (process !== undefined) return isPlainZombie(process);
    // A name that was still readable belongs to one that ended while we looked: its files may be closing right now.
    return isNameless(charge.name);
  });
}

/**
 * True if a wanted PID without facts is one that does not exist: every fact was read, and /proc hides nobody from us
 * (proc(5), hidepid).
 */
export function seesTheLiving(snapshot: Snapshot): boolean {
  const facts = snapshot.sections.find((section) => section.name === 'facts');
  return facts?.complete === true && (snapshot.sight.euid === 0 || snapshot.sight.hidepid === '0');
}

/**
 * The dead charges that this process keeps alive: it maps the GPU's node, has all files of a CUDA context there open, is billed
 * nowhere itself, and has no living ancestor that holds a device by its own right (else it is part of that one's live work).
 */
export function chargesKeptBy(
  process: ProcessFacts,
  holding: Holding,
  snapshot: Snapshot,
  table: ProcessTable,
  dead: readonly Charge[],
): readonly Charge[] {
  const own = keptByItself(process, holding, snapshot, table, dead);
  if (own.length === 0) return [];
  const holdings = new Map(snapshot.holdings.map((one) => [one.pid, one]));
  for (const parent of ancestors(process.pid, table)) {
    const theirs = holdings.get(parent.pid);
    // A ghost's own child keeps the same memory: both must end.
    if (theirs !== undefined && holdsDevice(theirs) && keptByItself(parent, theirs, snapshot, table, dead).length === 0)
      return [];
  }
  return own;
}

function keptByItself(
  process: ProcessFacts,
  holding: Holding,
  snapshot: Snapshot,
  table: ProcessTable,
  dead: readonly Charge[],
): readonly Charge[] {
  if (dead.length === 0 || !keepsContextFiles(holding)) return [];
  // A forked child has the files open. Who only maps the device holds memory of its own, which the driver bills to nobody.
  if (!hasOpenFiles(holding)) return [];
  if (snapshot.charges.some((charge) => charge.pid === process.pid)) return [];
  if (keepsModeset(holding)) return [];
  const {mapped, opened} = nodesHeld(holding, snapshot);
  // A forked child has its parent's mappings too (measured on an H200), and only a zombie leader's can't be read. NVML has
  // the same files open, nvidia-uvm among them, and maps none: a monitor in somebody's script is no ghost.
  const isLeader = process.state === 'Z' && holding.threadOpens.length > 0;
  const whole = keepsContextOn(holding, process.threads, snapshot);
  return dead.filter(
    ({gpuUuid, pid}) =>
      whole.has(gpuUuid) &&
      (mapped.has(gpuUuid) || (isLeader && opened.has(gpuUuid))) &&
      !isOlder(process, table.get(pid)) &&
      !mayBeOfLiving(process, gpuUuid, snapshot, table),
  );
}

/** A child is no older than whom it was forked from. Of a dead one that is not reaped the kernel still knows the start. */
function isOlder(process: ProcessFacts, other: ProcessFacts | undefined): boolean {
  return other !== undefined && Number(process.startTicks) < Number(other.startTicks);
}

/**
 * Whether somebody billed on that GPU, alive, in its session and no younger, may be the one that it was forked from: which
 * context files belong to cannot be seen, and a child that was forked twice has no parent to tell.
 */
function mayBeOfLiving(process: ProcessFacts, gpuUuid: string, snapshot: Snapshot, table: ProcessTable): boolean {
  return snapshot.charges.some((charge) => {
    const other = charge.gpuUuid === gpuUuid ? table.get(charge.pid) : undefined;
    if (other === undefined || isPlainZombie(other) || process.session === 0) return false;
    return other.session === process.session && !isOlder(process, other);
  });
}

/** As the driver names a PID that it cannot read: `[Not Found]`, `[No data]`, older `Unknown Error`. */
function isNameless(name: string): boolean {
  return name === '' || name === '-' || name.startsWith('[') || name === 'Unknown Error';
}
