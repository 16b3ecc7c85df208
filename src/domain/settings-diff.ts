/**
 * What is set differently on a host than it was, with the command that sets it back, as `nvidia-smi -h` of driver 580 has
 * it. A value that could not be read at either time is never called the same.
 */
import type {GpuSettings, HostSettings} from './settings.ts';
import type {Figure} from './snapshot.ts';

export type Setting = 'persistence' | 'power-limit' | 'application-clocks' | 'compute-mode' | 'mig' | 'ecc';

export interface SettingChange {
  readonly gpuUuid: string;
  readonly index: number | null;
  readonly what: Setting;
  /** With its unit; a mode as nvidia-smi prints it. */
  readonly from: string;
  readonly to: string;
  /** Puts it back, run as root on that host. */
  readonly command: string;
  /** It takes effect at the next reset of the GPU only. */
  readonly needsReset: boolean;
}

/** Not to be compared: what nvidia-smi printed in place of a value, then or now. */
export interface UnreadSetting {
  readonly what: Setting;
  readonly indexes: readonly (number | null)[];
  readonly token: string;
  /** The driver has no such thing, then as now: nothing is unknown. */
  readonly absent: boolean;
}

export interface SettingsDiff {
  readonly changes: readonly SettingChange[];
  readonly unread: readonly UnreadSetting[];
  /** GPUs that one of the two looks does not show. */
  readonly missing: readonly (number | null)[];
}

/** A driver without persistence may lose limits and clocks as soon as nobody uses the GPU: persistence comes first. */
const ORDER: readonly ((was: GpuSettings, now: GpuSettings) => Compared)[] = [
  persistence,
  powerLimit,
  applicationClocks,
  computeMode,
  (was, now) => toggled('mig', '-mig', was.migMode, now.migMode),
  (was, now) => toggled('ecc', '-e', was.eccMode, now.eccMode),
];

type Compared = (Omit<SettingChange, 'gpuUuid' | 'index' | 'command'> & {readonly change: string}) | Blind | null;
interface Blind {
  readonly what: Setting;
  readonly token: string;
  readonly absent: boolean;
}

export function settingsDiff(
  before: HostSettings,
  now: HostSettings,
  isMeant: (gpu: GpuSettings) => boolean,
): SettingsDiff {
  const changes: SettingChange[] = [];
  const unread: (Blind & {readonly indexes: (number | null)[]})[] = [];
  const meant = before.gpus.filter(isMeant);
  for (const was of meant) {
    const is = now.gpus.find(({uuid}) => uuid === was.uuid);
    if (is === undefined) continue;
    const {uuid: gpuUuid, index} = is;
    for (const compare of ORDER) {
      const found = compare(was, is);
      if (found === null) continue;
      if ('token' in found) {
        const known = unread.find(
          ({what, token, absent}) => what === found.what && token === found.token && absent === found.absent,
        );
        if (known === undefined) unread.push({...found, indexes: [index]});
        else known.indexes.push(index);
        continue;
      }
      const {change, ...rest} = found;
      changes.push({gpuUuid, index, ...rest, command: `nvidia-smi -i ${gpuUuid} ${change}`});
    }
  }
  const missing = meant.filter(({uuid}) => !now.gpus.some((gpu) => gpu.uuid === uuid));
  const come = now.gpus.filter((gpu) => isMeant(gpu) && !before.gpus.some(({uuid}) => uuid === gpu.uuid));
  return {changes, unread, missing: [...missing, ...come].map(({index}) => index)};
}

function powerLimit(was: GpuSettings, now: GpuSettings): Compared {
  const [from, to] = [was.powerLimitW, now.powerLimitW];
  if (!from.known || !to.known) return blind('power-limit', from, to);
  if (from.value === to.value) return null;
  return {
    what: 'power-limit',
    from: `${from.value} W`,
    to: `${to.value} W`,
    change: `-pl ${from.value}`,
    needsReset: false,
  };
}

/** Both clocks are set by one command; back to what the GPU comes with has one of its own. */
function applicationClocks(was: GpuSettings, now: GpuSettings): Compared {
  const [from, to] = [clocks(was.memoryMHz, was.graphicsMHz), clocks(now.memoryMHz, now.graphicsMHz)];
  if (from === null || to === null)
    return blind('application-clocks', was.memoryMHz, was.graphicsMHz, now.memoryMHz, now.graphicsMHz);
  if (from === to) return null;
  const asNew = clocks(was.defaultMemoryMHz, was.defaultGraphicsMHz) === from;
  const change = asNew ? '-rac' : `-ac ${from}`;
  return {what: 'application-clocks', from: inWords(from), to: inWords(to), change, needsReset: false};
}

/** `3201,1980`, as `-ac` takes them. */
function clocks(memory: Figure, graphics: Figure): string | null {
  return memory.known && graphics.known ? `${memory.value},${graphics.value}` : null;
}

function inWords(pair: string): string {
  const [memory, graphics] = pair.split(',');
  return `memory ${memory}, graphics ${graphics} MHz`;
}

function persistence(was: GpuSettings, now: GpuSettings): Compared {
  const compared = toggled('persistence', '-pm', was.persistenceMode, now.persistenceMode);
  return compared === null || 'token' in compared ? compared : {...compared, needsReset: false};
}

function computeMode(was: GpuSettings, now: GpuSettings): Compared {
  const [from, to] = [was.computeMode, now.computeMode];
  const strange = [from, to].find((mode) => !/^(Default|Exclusive_Process|Exclusive_Thread|Prohibited)$/i.test(mode));
  if (strange !== undefined) return {what: 'compute-mode', token: strange, absent: isAbsent(from) && isAbsent(to)};
  return from === to ? null : {what: 'compute-mode', from, to, change: `-c ${from.toUpperCase()}`, needsReset: false};
}

function toggled(what: Setting, option: string, from: string, to: string): Compared {
  const strange = [from, to].find((mode) => !/^(Enabled|Disabled)$/i.test(mode));
  if (strange !== undefined) return {what, token: strange, absent: isAbsent(from) && isAbsent(to)};
  if (from === to) return null;
  return {what, from, to, change: `${option} ${/^enabled$/i.test(from) ? 1 : 0}`, needsReset: true};
}

function blind(what: Setting, ...figures: readonly Figure[]): Blind {
  const first = figures.find((figure) => !figure.known);
  const absent = figures.every((figure) => !figure.known && figure.why === 'not-supported');
  return {what, token: first?.known === false ? first.token : '', absent};
}

/** As nvidia-smi has it in place of a mode. */
function isAbsent(mode: string): boolean {
  return /^\[?(N\/A|Not Supported)\]?$/i.test(mode);
}
