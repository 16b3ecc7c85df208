/** Which GPUs a holder touches, from the nodes it keeps by name or by number, and the driver's table of minors. */
import type {NumberedDevice} from './deep.ts';
import type {HeldBy, HolderDiagnosis} from './diagnosis.ts';
import type {Gpu, Holding, Snapshot} from './snapshot.ts';

/** Minors from here on are no GPU: 254 is nvidia-modeset, 255 nvidiactl (kernel-open/common/inc/nv-chardev-numbers.h). */
const FIRST_OTHER_MINOR = 254;
const MODESET_MINOR = 254;
const CONTROL_MINOR = 255;
/**
 * Descriptors of a GPU's node from which on a CUDA context may be behind them. Measured on an H200, driver 580: 20 with a
 * context, with 1 or 32 connections and with 8 streams; 4 after cuInit alone, and again once the last context is released;
 * 7 where NVML is in use as well.
 */
const CONTEXT_OPENS = 10;

/** N of a device path that ends in `nvidiaN`; null for nvidiactl, nvidia-uvm and the rest. */
export function minorOf(path: string): number | null {
  const digits = /(?:^|\/)nvidia(\d+)(?: \(deleted\))?$/.exec(path)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** N of a GPU's node, whatever its name; null for the control nodes and other drivers. */
export function minorByNumber(device: NumberedDevice): number | null {
  return isGpuMajor(device) && device.minor < FIRST_OTHER_MINOR ? device.minor : null;
}

/** One major is listed under several names in /proc/devices. */
function isGpuMajor(device: NumberedDevice): boolean {
  return /^(nvidia|nvidia-frontend|nvidiactl|nvidia-modeset)$/.test(device.driver);
}

/** True for one that holds a device itself. Descriptors that wait in a socket may be any kind of file. */
export function holdsDevice(holding: Holding | undefined): boolean {
  const how = heldBy(holding);
  return how === 'paths' || how === 'numbers';
}

/** The strongest proof first: a path is what the signalling command can check most cheaply. */
export function heldBy(holding: Holding | undefined): HeldBy {
  if (holding === undefined) return 'nothing';
  if (holding.opens.length > 0 || holding.mappings.length > 0 || holding.threadOpens.length > 0) return 'paths';
  if (holding.numbered.length > 0) return 'numbers';
  return holding.queued > 0 ? 'queue' : 'nothing';
}

/** A CUDA context keeps nvidia-uvm. So does NVML on newer drivers: it proves no context by itself. */
export function keepsContextFiles(holding: Holding): boolean {
  return (
    everyPath(holding).some((path) => /\/nvidia-uvm(?: \(deleted\))?$/.test(path)) ||
    // Minor 1 is nvidia-uvm-tools, which profilers open.
    holding.numbered.some((device) => device.driver === 'nvidia-uvm' && device.minor === 0)
  );
}

/**
 * UUIDs of the GPUs on which it keeps a whole context's files. Who has called cuInit and made no context (a notebook that
 * asked `torch.cuda.is_available()`) has every node open and mapped, and is billed nothing: only the number of files tells.
 */
export function keepsContextOn(holding: Holding, threads: number, snapshot: Snapshot): ReadonlySet<string> {
  // The living threads of a zombie leader show one table of files, each of them all of it.
  const sharing = Math.max(1, threads - 1);
  const byName = new Map<number, number>();
  const byNumber = new Map<number, number>();
  const add = (counts: Map<number, number>, minor: number | null, count: number): void => {
    if (minor !== null) counts.set(minor, (counts.get(minor) ?? 0) + count);
  };
  for (const open of holding.opens) add(byName, minorOf(open.path), open.count);
  for (const open of holding.threadOpens) add(byName, minorOf(open.path), open.count / sharing);
  // The same files once more, and those of other names.
  for (const device of holding.numbered) if (device.how === 'open') add(byNumber, minorByNumber(device), device.count);
  const minors = [...byName, ...byNumber].filter(([, count]) => count >= CONTEXT_OPENS).map(([minor]) => minor);
  return gpusByMinor(minors, snapshot);
}

/** Graphics opens nvidia-modeset, CUDA does not; what graphics holds is in no list of compute processes. */
export function keepsModeset(holding: Holding): boolean {
  return (
    everyPath(holding).some((path) => /\/nvidia-modeset(?: \(deleted\))?$/.test(path)) ||
    holding.numbered.some((device) => isGpuMajor(device) && device.minor === MODESET_MINOR)
  );
}

/** Has some device file open, by any source: a forked child has, who only keeps a mapping has not. */
export function hasOpenFiles(holding: Holding): boolean {
  return (
    holding.opens.length > 0 ||
    holding.threadOpens.length > 0 ||
    holding.numbered.some((device) => device.how === 'open')
  );
}

/**
 * True if nvidiactl is all that it has: what a process is left with that was given exported memory (cuMemExportToShareableHandle)
 * and made no context of its own. One that is just starting has nvidia-uvm as well, a monitor has GPU nodes.
 */
export function keepsControlOnly(holding: Holding): boolean {
  const paths = everyPath(holding);
  if (paths.length === 0 && holding.numbered.length === 0) return false;
  return (
    paths.every((path) => /\/nvidiactl(?: \(deleted\))?$/.test(path)) &&
    holding.numbered.every((device) => isGpuMajor(device) && device.minor === CONTROL_MINOR) &&
    hasOpenFiles(holding)
  );
}

/** Devices that only their number gave away: no source by path names them. */
export function knownByNumberOnly(holding: Holding): readonly NumberedDevice[] {
  const named = new Set(everyPath(holding));
  return holding.numbered.filter((device) => !named.has(device.path));
}

/** GPUs whose node is mapped, and GPUs whose node is open only, by UUID. */
export function nodesHeld(
  holding: Holding,
  snapshot: Snapshot,
): {readonly mapped: ReadonlySet<string>; readonly opened: ReadonlySet<string>} {
  const byNumber = (how: NumberedDevice['how']) =>
    holding.numbered.filter((device) => device.how === how).map(minorByNumber);
  return {
    mapped: gpusByMinor([...holding.mappings.map(minorOf), ...byNumber('mapped')], snapshot),
    opened: gpusByMinor(
      [...[...holding.opens, ...holding.threadOpens].map((open) => minorOf(open.path)), ...byNumber('open')],
      snapshot,
    ),
  };
}

/** UUIDs of the GPUs that a holder has to do with: those it uses, those it has open, and those where it may keep memory. */
export function touchedGpus({gpus, mayKeep}: Pick<HolderDiagnosis, 'gpus' | 'mayKeep'>): readonly string[] {
  return [...new Set([...gpus.map((use) => use.gpuUuid), ...mayKeep])];
}

/** UUIDs of the GPUs with these minors. */
export function gpusByMinor(minors: readonly (number | null)[], snapshot: Snapshot): ReadonlySet<string> {
  const byMinor = new Map<number, Gpu>();
  for (const gpu of snapshot.gpus) if (gpu.minor !== null) byMinor.set(gpu.minor, gpu);
  return new Set(minors.flatMap((minor) => (minor === null ? [] : (byMinor.get(minor)?.uuid ?? []))));
}

function everyPath(holding: Holding): readonly string[] {
  return [
    ...holding.opens.map((open) => open.path),
    ...holding.threadOpens.map((open) => open.path),
    ...holding.mappings,
  ];
}
