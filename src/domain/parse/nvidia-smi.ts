/**
 * nvidia-smi's CSV (`--format=csv,noheader,nounits`), with all that real drivers put in place of a number, between the
 * rows and instead of them. Rows are keyed by UUID; an index can change at each boot, says nvidia-smi itself.
 */
import type {Charge, Figure, Gpu} from '../snapshot.ts';
import {figure} from '../snapshot.ts';

/** One GPU as the driver's /proc folder names it. */
export interface GpuMinor {
  readonly uuid: string;
  readonly busId: string;
  readonly minor: number | null;
}

/** Tokens of a broken GPU, brackets and case aside. */
const FAULTS = /^(unknown error|gpu is lost|gpu requires reset|err!)$/;
/** These speak of the whole GPU, wherever in its row they stand; an `Unknown Error` may concern one field only. */
const GPU_FAULTS = /^(gpu is lost|gpu requires reset|err!)$/;
const ABSENT = /^(n\/a|not supported|not available|-)$/;

/** `GPU-…` and `MIG-…`, digits and letters after the prefix in lower case; null if it is none. */
export function gpuUuid(text: string): string | null {
  const match = /^(GPU|MIG)-([0-9a-f/-]{8,}|GPU-[0-9a-f/-]{8,})$/i.exec(text.trim());
  return match?.[1] && match[2] ? `${match[1].toUpperCase()}-${match[2].toLowerCase().replace(/^gpu-/, 'GPU-')}` : null;
}

/** `0000:09:00.0`, `GPU 0000:09:00.0`, `GPU0000:02:00.0` -> `00000000:09:00.0`; empty if it is none. */
export function busId(text: string): string {
  const match = /^(?:gpu\s*)?([0-9a-f]{1,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/.exec(text.trim().toLowerCase());
  return match ? `${(match[1] ?? '').padStart(8, '0')}:${match[2]}:${match[3]}.${match[4]}` : '';
}

/** A number with or without its unit, or the token that stood in its place. */
export function parseFigure(text: string): Figure {
  const token = text.trim();
  const number = /^(\d{1,15}(?:\.\d+)?)(?:\s*(?:MiB|%))?$/.exec(token)?.[1];
  if (number !== undefined) return figure(Number(number));
  const bare = bareToken(token);
  if (ABSENT.test(bare)) return {known: false, why: 'not-supported', token};
  if (bare === 'insufficient permissions') return {known: false, why: 'no-permission', token};
  return {known: false, why: FAULTS.test(bare) ? 'fault' : 'unreadable', token};
}

/** Rows of `--query-gpu=FIELDS`. `faults`: lines that are no row, and rows without a key. */
export function parseGpus(
  fields: readonly string[],
  lines: readonly string[],
  minors: readonly GpuMinor[],
): {readonly gpus: readonly Gpu[]; readonly faults: readonly string[]} {
  const gpus: Gpu[] = [];
  const faults: string[] = [];
  for (const line of lines) {
    const gpu = parseGpu(fields, line, minors);
    if (gpu === null) faults.push(line.trim());
    else if (!gpus.some((known) => known.uuid === gpu.uuid)) gpus.push(gpu);
  }
  return {gpus, faults};
}

/** Rows of `--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory`. `others`: lines that are no row. */
export function parseCharges(lines: readonly string[]): {
  readonly charges: readonly Charge[];
  readonly others: readonly string[];
} {
  const charges: Charge[] = [];
  const others: string[] = [];
  for (const line of lines) {
    // The name may hold commas: two fields from the left, one from the right.
    const parts = line.split(',');
    const uuid = gpuUuid(parts[0] ?? '');
    const pid = (parts[1] ?? '').trim();
    if (parts.length < 4 || uuid === null || !/^[1-9]\d{0,9}$/.test(pid)) others.push(line.trim());
    else
      charges.push({
        gpuUuid: uuid,
        pid: Number(pid),
        name: parts.slice(2, -1).join(',').trim(),
        usedMiB: parseFigure(parts.at(-1) ?? ''),
      });
  }
  return {charges, others};
}

/** MIG instance -> the GPU it is a part of, from `nvidia-smi -L`: a line for each GPU, its instances indented below it. */
export function parseInstances(lines: readonly string[]): ReadonlyMap<string, string> {
  const parents = new Map<string, string>();
  let parent: string | null = null;
  for (const line of lines) {
    const uuid = gpuUuid(/\(UUID: ([^)]+)\)\s*$/.exec(line)?.[1] ?? '');
    if (/^\s*MIG\s/.test(line)) {
      if (parent !== null && uuid !== null) parents.set(uuid, parent);
    } else if (/^\s*GPU\s/.test(line)) parent = uuid;
  }
  return parents;
}

/**
 * Bills on MIG instances put to their GPU's account. Drivers before 470 name the GPU in the instance (`MIG-GPU-…/1/0`);
 * later ones only in `nvidia-smi -L`. Where one GPU alone is in MIG mode, every instance is a part of it. Else the bill
 * keeps the instance for its GPU: named, and in nobody's account.
 */
export function placeInstances(
  charges: readonly Charge[],
  gpus: readonly Gpu[],
  parents: ReadonlyMap<string, string>,
): readonly Charge[] {
  const split = gpus.filter((gpu) => gpu.migMode.toLowerCase() === 'enabled');
  const only = split.length === 1 ? split[0]?.uuid : undefined;
  return charges.map((charge) => {
    if (!charge.gpuUuid.startsWith('MIG-')) return charge;
    const named = gpuUuid(/^MIG-(GPU-[^/]+)\//.exec(charge.gpuUuid)?.[1] ?? '');
    const gpu = [named, parents.get(charge.gpuUuid), only].find((uuid) => gpus.some((one) => one.uuid === uuid));
    return {...charge, gpuUuid: gpu ?? charge.gpuUuid, instance: charge.gpuUuid};
  });
}

/** Text of /proc/driver/nvidia/gpus/BUS/information, each line with its file's path in front (grep -H). */
export function parseMinors(lines: readonly string[]): GpuMinor[] {
  const folders = new Map<string, Map<string, string>>();
  for (const line of lines) {
    const match = /^\/proc\/driver\/nvidia\/gpus\/([^/]+)\/information:([^:]+):\s*(.*)$/.exec(line);
    if (!match) continue;
    const [, folder = '', key = '', value = ''] = match;
    const values = folders.get(folder) ?? new Map<string, string>();
    values.set(key, value.trim());
    folders.set(folder, values);
  }
  return [...folders].flatMap(([folder, values]) => {
    const uuid = gpuUuid(values.get('GPU UUID') ?? '');
    if (uuid === null) return [];
    const minor = values.get('Device Minor') ?? '';
    return [
      {
        uuid,
        busId: busId(values.get('Bus Location') ?? '') || busId(folder),
        minor: /^\d{1,4}$/.test(minor) ? Number(minor) : null,
      },
    ];
  });
}

function parseGpu(fields: readonly string[], line: string, minors: readonly GpuMinor[]): Gpu | null {
  const cells = cellsOf(fields, line);
  if (cells === null) return null;
  const cell = (field: string): string => cells.get(field) ?? '';
  const bus = busId(cell('pci.bus_id'));
  // A row may lose its UUID to a fault and keep its place on the bus.
  const uuid = gpuUuid(cell('uuid')) ?? minors.find((gpu) => bus !== '' && gpu.busId === bus)?.uuid ?? null;
  if (uuid === null) return null;
  const keys = ['index', 'uuid', 'pci.bus_id', 'memory.total', 'memory.used'];
  const broken = [...cells].find(
    ([field, value]) => GPU_FAULTS.test(bareToken(value)) || (keys.includes(field) && FAULTS.test(bareToken(value))),
  );
  const index = cell('index');
  return {
    uuid,
    index: /^\d{1,4}$/.test(index) ? Number(index) : null,
    busId: bus,
    minor: minors.find((gpu) => gpu.uuid === uuid)?.minor ?? null,
    name: cell('name'),
    totalMiB: parseFigure(cell('memory.total')),
    reservedMiB: parseFigure(cells.get('memory.reserved') ?? '[N/A]'),
    usedMiB: parseFigure(cell('memory.used')),
    utilizationPercent: parseFigure(cell('utilization.gpu')),
    computeMode: cell('compute_mode'),
    persistenceMode: cell('persistence_mode'),
    migMode: cell('mig.mode.current'),
    driverVersion: cell('driver_version'),
    recoveryAction: cell('gpu_recovery_action'),
    fault: broken?.[1] ?? null,
  };
}

/** Field -> cell. The card's name may hold commas: fields before it from the left, after it from the right. */
function cellsOf(fields: readonly string[], line: string): Map<string, string> | null {
  const parts = line.split(',').map((part) => part.trim());
  const extra = parts.length - fields.length;
  const nameAt = fields.indexOf('name');
  if (fields.length === 0 || extra < 0 || (extra > 0 && nameAt === -1)) return null;
  const cells = new Map<string, string>();
  fields.forEach((field, i) => {
    if (i < nameAt || extra === 0) cells.set(field, parts[i] ?? '');
    else if (i === nameAt) cells.set(field, parts.slice(i, i + extra + 1).join(', '));
    else cells.set(field, parts[i + extra] ?? '');
  });
  return cells;
}

function bareToken(token: string): string {
  return token
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}
