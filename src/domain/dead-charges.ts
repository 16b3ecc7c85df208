/**
 * Dead PIDs that the driver still bills, and who keeps their device files. The driver frees a context when the last
 * descriptor of it closes; a child forked after cuInit keeps them all, and is billed for nothing itself.
 */
import {holdsDevice, keepsContextFiles, nodesHeld} from './devices.ts';
import {ancestors, type ProcessTable} from './lineage.ts';
import type {Charge, Holding, ProcessFacts, Snapshot} from './snapshot.ts';

/** Charges whose PID is certainly no more. Empty where that cannot be known: facts incomplete, or the driver counts PIDs of another namespace. */
export function deadCharges(snapshot: Snapshot, table: ProcessTable, foreignPids: boolean): readonly Charge[] {
  const facts = snapshot.sections.find((section) => section.name === 'facts');
  if (foreignPids || facts?.complete !== true) return [];
  return snapshot.charges.filter((charge) => !table.has(charge.pid));
}

/**
 * The dead charges that this process keeps alive: it holds the GPU's node and a CUDA context's files, is billed nowhere
 * itself, and has no living ancestor that holds a device (else it is part of that ancestor's live work).
 */
export function chargesKeptBy(
  process: ProcessFacts,
  holding: Holding,
  snapshot: Snapshot,
  table: ProcessTable,
  dead: readonly Charge[],
): readonly Charge[] {
  if (dead.length === 0 || !keepsContextFiles(holding)) return [];
  if (snapshot.charges.some((charge) => charge.pid === process.pid)) return [];
  const holdings = new Map(snapshot.holdings.map((one) => [one.pid, one]));
  if (ancestors(process.pid, table).some((parent) => holdsDevice(holdings.get(parent.pid)))) return [];
  const {mapped, opened} = nodesHeld(holding, snapshot);
  return dead.filter((charge) => mapped.has(charge.gpuUuid) || opened.has(charge.gpuUuid));
}
