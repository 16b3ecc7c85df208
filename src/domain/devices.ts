/** Which GPUs a holder touches, from the nodes it keeps and the driver's table of minors. */
import type {HeldBy} from './diagnosis.ts';
import type {Gpu, Holding, Snapshot} from './snapshot.ts';

/** N of a device path that ends in `nvidiaN`; null for nvidiactl, nvidia-uvm and the rest. */
export function minorOf(path: string): number | null {
  const digits = /\/nvidia(\d+)(?: \(deleted\))?$/.exec(path)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function holdsDevice(holding: Holding | undefined): boolean {
  return heldBy(holding) !== 'nothing';
}

/** The strongest proof first: a path is what the signalling command can check most cheaply. */
export function heldBy(holding: Holding | undefined): HeldBy {
  if (holding === undefined) return 'nothing';
  if (holding.opens.length > 0 || holding.mappings.length > 0 || holding.threadOpens.length > 0) return 'paths';
  if (holding.numbered.length > 0) return 'numbers';
  return holding.queued > 0 ? 'queue' : 'nothing';
}

/** A CUDA context keeps nvidia-uvm; NVML's monitors open GPU nodes without it. */
export function keepsContextFiles(holding: Holding): boolean {
  return everyPath(holding).some((path) => /\/nvidia-uvm(?: \(deleted\))?$/.test(path));
}

/** GPUs whose node is mapped, and GPUs whose node is open only, by UUID. */
export function nodesHeld(
  holding: Holding,
  snapshot: Snapshot,
): {readonly mapped: ReadonlySet<string>; readonly opened: ReadonlySet<string>} {
  const byMinor = new Map<number, Gpu>();
  for (const gpu of snapshot.gpus) if (gpu.minor !== null) byMinor.set(gpu.minor, gpu);
  const uuids = (paths: readonly string[]): Set<string> => {
    const found = new Set<string>();
    for (const path of paths) {
      const minor = minorOf(path);
      const gpu = minor === null ? undefined : byMinor.get(minor);
      if (gpu !== undefined) found.add(gpu.uuid);
    }
    return found;
  };
  return {
    mapped: uuids(holding.mappings),
    opened: uuids([...holding.opens, ...holding.threadOpens].map((open) => open.path)),
  };
}

function everyPath(holding: Holding): readonly string[] {
  return [
    ...holding.opens.map((open) => open.path),
    ...holding.threadOpens.map((open) => open.path),
    ...holding.mappings,
  ];
}
