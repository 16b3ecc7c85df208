/** What the driver bills, each bill once. */
import {type Charge, type Gpu, mibOf, type Snapshot} from './snapshot.ts';

/**
 * One bill for each process and GPU, or MIG instance: a PID that is listed twice there (compute and graphics context, an
 * MPS client beside its server) has one memory, and the higher figure is the whole of it.
 */
export function oneBillEach(charges: readonly Charge[]): readonly Charge[] {
  const bills = new Map<string, Charge>();
  for (const charge of charges) {
    const key = `${charge.gpuUuid} ${charge.instance ?? ''} ${charge.pid}`;
    const known = bills.get(key);
    if (known === undefined) bills.set(key, charge);
    else if ((mibOf(charge.usedMiB) ?? -1) > (mibOf(known.usedMiB) ?? -1))
      bills.set(key, {...known, usedMiB: charge.usedMiB});
  }
  return bills.size === charges.length ? charges : [...bills.values()];
}

/** MiB that are billed on one GPU, dead PIDs included; null if any bill there has no figure. */
export function billedOn(gpuUuid: string, charges: readonly Charge[]): number | null {
  let total = 0;
  for (const charge of charges) {
    if (charge.gpuUuid !== gpuUuid) continue;
    const MiB = mibOf(charge.usedMiB);
    if (MiB === null) return null;
    total += MiB;
  }
  return total;
}

/**
 * MiB in use on a GPU, and what said so. Unified memory has no figure of its own (`[N/A]`: GB10 and the like), and the bills
 * are all there is: what nobody is billed for stays unseen then. A fault is no such gap, and gives no figure.
 */
export function usedOn(
  gpu: Gpu,
  snapshot: Snapshot,
): {readonly usedMiB: number | null; readonly usedFrom: 'gpu' | 'processes'} {
  if (gpu.fault !== null) return {usedMiB: null, usedFrom: 'gpu'};
  if (gpu.usedMiB.known || gpu.usedMiB.why !== 'not-supported') return {usedMiB: mibOf(gpu.usedMiB), usedFrom: 'gpu'};
  const answered = snapshot.smi.state === 'answered';
  return {usedMiB: answered ? billedOn(gpu.uuid, snapshot.charges) : null, usedFrom: 'processes'};
}
