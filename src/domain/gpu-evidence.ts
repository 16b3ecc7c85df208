/** What else was read of a GPU that nobody is told by its figures: faults in the kernel's log, modules in use, MIG bills. */
import type {GpuReason} from './diagnosis.ts';
import type {Evidence} from './finding.ts';
import {type Charge, type Gpu, mibOf, type Snapshot} from './snapshot.ts';

/** Modules that pin GPU memory for other drivers, by their names in /proc/modules. */
const PINNING = ['gdrdrv', 'nvidia_peermem', 'nv_peer_mem', 'nvidia_fs', 'nvidia_p2p_dma_buf'];
const XIDS_SHOWN = 3;

export interface Remark {
  readonly reason: GpuReason;
  readonly evidence: readonly Evidence[];
}

/** Xid lines of this GPU, newest first. Only a deeper look reads the kernel's log. */
export function xidRemark(gpu: Gpu, snapshot: Snapshot): Remark | null {
  const lines = (snapshot.deep?.xids ?? [])
    .filter((line) => gpu.busId !== '' && line.busId === gpu.busId)
    .toSorted((a, b) => b.uptimeMs - a.uptimeMs);
  if (lines.length === 0) return null;
  const shown = lines.slice(0, XIDS_SHOWN).map(
    (line): Evidence => ({
      source: 'kernel-log',
      fact: `Xid ${line.code}, ${Math.round(line.uptimeMs / 1000)} s after boot${line.pid === null ? '' : `, called by PID ${line.pid}`}: ${line.text}`,
    }),
  );
  const more = lines.length - shown.length;
  return {
    reason: 'xid',
    evidence: [
      ...shown,
      ...(more > 0 ? [{source: 'kernel-log', fact: `${more} Xid lines before these`} as const] : []),
    ],
  };
}

/** Modules that may keep memory which no process explains, with their use counts. */
export function moduleRemark(snapshot: Snapshot): Remark | null {
  const modules = snapshot.deep?.modules ?? {};
  const used = PINNING.flatMap((name) => ((modules[name] ?? 0) > 0 ? [`${name} (${modules[name]})`] : []));
  if (used.length === 0) return null;
  return {reason: 'kernel-module', evidence: [{source: 'kernel', fact: `kernel modules in use: ${used.join(', ')}`}]};
}

/** Bills on MIG instances that no GPU was found for, on a GPU that is split into such. */
export function instanceRemark(gpu: Gpu, charges: readonly Charge[]): Remark | null {
  if (gpu.migMode.toLowerCase() !== 'enabled') return null;
  const unplaced = charges.filter((charge) => charge.gpuUuid.startsWith('MIG-'));
  if (unplaced.length === 0) return null;
  return {
    reason: 'instance-unplaced',
    evidence: unplaced.map((charge) => ({
      source: 'charges',
      fact: `PID ${charge.pid} is billed ${mibOf(charge.usedMiB) ?? 'unknown'} MiB on ${charge.gpuUuid}, a part of a GPU that was not named`,
    })),
  };
}
