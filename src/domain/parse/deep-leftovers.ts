/** Shared memory that nobody maps or has open, listening ports, and use counts of modules (`ssh/scripts/deep.sh`). */
import type {SharedLeftover} from '../deep.ts';

/**
 * `files`: lines `DEVICE:INODE KIB UID MTIME NAME`. `open` and `mapped` hold inodes in use; `mapped` as maps spells them,
 * `00:1b 1234`. The caller has made sure that every process was looked at.
 */
export function parseSharedFiles(
  files: readonly string[],
  open: ReadonlySet<string>,
  mapped: readonly string[],
  nowSeconds: number | null,
): SharedLeftover[] {
  const used = new Set(open);
  for (const line of mapped) {
    const [, major, minor, inode] = /^ ([0-9a-f]+):([0-9a-f]+) (\d+)$/.exec(line) ?? [];
    if (major !== undefined && minor !== undefined) {
      used.add(`${deviceNumber(Number.parseInt(major, 16), Number.parseInt(minor, 16))}:${inode}`);
    }
  }
  return files.flatMap((line) => {
    const [, id = '', kib, uid, changed, name = ''] = /^(\d+:\d+) (\d+) (\d+) (-?\d+)\S* (.+)$/.exec(line) ?? [];
    if (kib === undefined || used.has(id)) return [];
    const age = nowSeconds === null ? null : Math.max(0, nowSeconds - Number(changed)) * 1000;
    return [{kind: 'file' as const, name, MiB: Number(kib) / 1024, uid: Number(uid), ageMs: age}];
  });
}

/** Lines of /proc/sysvipc/shm; the kernel itself counts who is attached. The columns are named in its first line. */
export function parseSegments(lines: readonly string[], nowSeconds: number | null): SharedLeftover[] {
  const columns = lines[0]?.trim().split(/\s+/) ?? [];
  return lines.slice(1).flatMap((line) => {
    const values = line.trim().split(/\s+/);
    const at = (name: string): number => Number(values[columns.indexOf(name)] ?? Number.NaN);
    if (at('nattch') !== 0 || values.length !== columns.length) return [];
    const touched = Math.max(at('atime'), at('dtime'), at('ctime'));
    return [
      {
        kind: 'segment' as const,
        name: String(at('shmid')),
        // Resident and swapped, since a segment may be far larger than what was ever touched; its size on old kernels.
        MiB: (columns.includes('rss') ? at('rss') + (at('swap') || 0) : at('size')) / (1024 * 1024),
        uid: at('uid'),
        ageMs: nowSeconds === null ? null : Math.max(0, nowSeconds - touched) * 1000,
      },
    ];
  });
}

/** Hexadecimal ports, one a line. */
export function parseListening(lines: readonly string[]): number[] {
  const ports = lines.filter((line) => /^[0-9A-F]{4}$/.test(line)).map((line) => Number.parseInt(line, 16));
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

/** Lines of /proc/modules: name, size, use count. */
export function parseModules(lines: readonly string[]): Record<string, number> {
  const modules: Record<string, number> = {};
  for (const line of lines) {
    const [, name, uses] = /^([a-z]\w{0,63}) \d+ (\d{1,9}) /i.exec(line) ?? [];
    if (name !== undefined) modules[name] = Number(uses);
  }
  return modules;
}

/** The new encoding of dev_t (include/linux/kdev_t.h), as stat(2) gives it. */
function deviceNumber(major: number, minor: number): number {
  return (minor & 0xff) + major * 256 + (minor >> 8) * 0x100000;
}
