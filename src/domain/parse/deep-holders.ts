/** Who holds what has no name: device numbers, queues of sockets, registered files of rings (`ssh/scripts/deep-holders.sh`). */
import type {NumberedDevice, NumberedHolding, QueuedDescriptors, RingFiles} from '../deep.ts';

/** What `p_numbers` prints, read from one section or several. */
export interface NumberScan {
  readonly entries: readonly NumberEntry[];
  /** Files of /dev/shm's file system that somebody has open, `DEVICE:INODE` in decimal. */
  readonly openShared: ReadonlySet<string>;
  /** PIDs that refused us. */
  readonly refused: ReadonlySet<number>;
  /** Exit codes of the finds: 0, or 1 when something vanished or was refused. */
  readonly finds: readonly number[];
  readonly troubles: readonly string[];
}

interface NumberEntry {
  readonly pid: number;
  /** `/proc/PID/fd`, `/proc/PID/task/TID/fd` or `/proc/PID/map_files`. */
  readonly folder: string;
  readonly name: string;
  readonly major: number;
  readonly minor: number;
  readonly count: number;
}

/** Lines `COUNT NAME FOLDER MAJOR:MINOR` (hexadecimal), `COUNT 0 dev-shm DEVICE:INODE`, `COUNT @ WORD DETAIL`. */
export function parseNumbers(lines: readonly string[]): NumberScan {
  const entries: NumberEntry[] = [];
  const openShared = new Set<string>();
  const refused = new Set<number>();
  const finds: number[] = [];
  const troubles: string[] = [];
  for (const line of lines) {
    const [, count = '', name = '', folder = '', last = ''] = /^ *(\d+) (\S+) (\S+) (\S+)$/.exec(line) ?? [];
    const pid = /^\/proc\/([1-9]\d{0,9})\/(?:fd|map_files|task\/\d+\/fd)$/.exec(folder)?.[1];
    const [, major, minor] = /^([0-9a-f]{1,5}):([0-9a-f]{1,6})$/.exec(last) ?? [];
    if (pid !== undefined && major !== undefined && minor !== undefined) {
      const number = {major: Number.parseInt(major, 16), minor: Number.parseInt(minor, 16)};
      entries.push({pid: Number(pid), folder, name, ...number, count: Number(count)});
    } else if (folder === 'dev-shm') openShared.add(last);
    else if (name === '@' && folder === 'refused' && /^\d+$/.test(last)) refused.add(Number(last));
    else if (name === '@' && folder === '~find' && /^\d{1,3}$/.test(last)) finds.push(Number(last));
    else troubles.push(name === '@' && folder === 'trouble' ? last : line.slice(0, 160));
  }
  return {entries, openShared, refused, finds, troubles};
}

/** Lines `195 nvidia`, as in /proc/devices. */
export function parseMajors(lines: readonly string[]): Record<string, number> {
  const majors: Record<string, number> = {};
  for (const line of lines) {
    const [, major, name] = /^ *(\d{1,5}) (nvidia[\w.-]*)$/.exec(line) ?? [];
    if (name !== undefined) majors[name] = Number(major);
  }
  return majors;
}

/** `links`: NUL-terminated `PATH TARGET`, one for each entry. PIDs ascending. */
export function joinNumbered(
  entries: readonly NumberEntry[],
  links: string,
  majors: Readonly<Record<string, number>>,
): NumberedHolding[] {
  const targets = parseLinks(links);
  const devices = new Map<number, Map<string, NumberedDevice>>();
  for (const {pid, folder, name, major, minor, count} of entries) {
    const how = folder.endsWith('/map_files') ? 'mapped' : 'open';
    const known = devices.get(pid) ?? new Map<string, NumberedDevice>();
    devices.set(pid, known);
    const key = `${how} ${major}:${minor}`;
    const before = known.get(key);
    const path = before?.path ?? targets.get(`${folder}/${name}`) ?? `char ${major}:${minor}`;
    // The threads of a zombie leader share one table of files, and each mapped inode is a line of its own.
    const counted = how === 'mapped' ? (before?.count ?? 0) + count : Math.max(before?.count ?? 0, count);
    known.set(key, {path, driver: driverOf(major, majors), major, minor, how, count: counted});
  }
  return [...devices].map(([pid, known]) => ({pid, devices: [...known.values()]})).toSorted((a, b) => a.pid - b.pid);
}

/** Lines `/proc/PID/fdinfo/FD:scm_fds: COUNT`; each descriptor once, though every thread of a zombie leader shows it. */
export function parseQueued(lines: readonly string[]): QueuedDescriptors[] {
  const found = new Map<string, QueuedDescriptors>();
  for (const line of lines) {
    const at = fdinfoLine(line);
    const count = /^scm_fds:\s*(\d{1,6})$/.exec(at?.text ?? '')?.[1];
    if (at === null || count === undefined || Number(count) === 0) continue;
    found.set(`${at.pid} ${at.fd}`, {pid: at.pid, fd: at.fd, count: Number(count)});
  }
  return [...found.values()];
}

/** `named`: the rings whose kernel prints names, as `/proc/PID/fdinfo/FD:…` lines. */
export function parseRings(lines: readonly string[], named: readonly string[]): RingFiles[] {
  const withNames = new Set(named.flatMap((line) => keyOf(fdinfoLine(line)) ?? []));
  const rings = new Map<string, {pid: number; fd: number; files: number; devices: string[]}>();
  for (const line of lines) {
    const at = fdinfoLine(line);
    const key = keyOf(at);
    if (at === null || key === null) continue;
    const files = /^UserFiles:\s*(\d{1,7})$/.exec(at.text)?.[1];
    const name = /^ *\d+: (.+)$/.exec(at.text)?.[1];
    // A zombie leader's ring comes once a thread: the last reading counts.
    if (files !== undefined) rings.set(key, {pid: at.pid, fd: at.fd, files: Number(files), devices: []});
    else if (name !== undefined && DEVICE.test(name)) rings.get(key)?.devices.push(name);
  }
  return [...rings].map(([key, ring]) => ({
    ...ring,
    devices: withNames.has(key) || ring.devices.length > 0 ? ring.devices : null,
  }));
}

/** With its folder (6.x), or the last part alone (up to 5.x). */
const DEVICE = /(?:^|\/)nvidia(?:\d+|ctl|-[a-z-]+)(?:\/[\w-]+)?$/;

interface FdinfoLine {
  readonly pid: number;
  readonly fd: number;
  readonly text: string;
}

/** grep puts the path in front of every line, so none can be forged. */
function fdinfoLine(line: string): FdinfoLine | null {
  const [, pid, fd, text] = /^\/proc\/([1-9]\d{0,9})\/(?:task\/\d+\/)?fdinfo\/(\d{1,9}):(.*)$/.exec(line) ?? [];
  return text === undefined ? null : {pid: Number(pid), fd: Number(fd), text};
}

function keyOf(line: FdinfoLine | null): string | null {
  return line === null ? null : `${line.pid} ${line.fd}`;
}

function parseLinks(body: string): Map<string, string> {
  const links = new Map<string, string>();
  for (const record of body.split('\0')) {
    const blank = record.indexOf(' ');
    if (blank > 0) links.set(record.slice(0, blank).trimStart(), record.slice(blank + 1));
  }
  return links;
}

/** Several names may share one number (195 is nvidia, nvidiactl and nvidia-modeset): the plainest speaks for all. */
function driverOf(major: number, majors: Readonly<Record<string, number>>): string {
  const names = Object.keys(majors).filter((name) => majors[name] === major);
  return names.toSorted((a, b) => a.length - b.length)[0] ?? '';
}
