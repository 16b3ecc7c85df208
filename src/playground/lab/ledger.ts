/** What the lab's holders really have, read from the kernel's lock list by code of its own: the check on the stand-in and on the bot. */
import {readFileSync} from 'node:fs';

export interface LedgerEntry {
  readonly gpu: number;
  /** The process that took the memory, as numbered inside the lab; it may be dead. */
  readonly pid: number;
  readonly MiB: number;
}

/** Device files as /proc/locks prints them, `major:minor:inode`. */
export interface LockKeys {
  /** Per GPU index; two where it has a second node. */
  readonly gpus: readonly (readonly string[])[];
  /** nvidiactl's: exported memory hangs on it. */
  readonly control: string;
}

/**
 * Open-file-description locks of the given devices: the first byte is PID << 20, and on nvidiactl GPU << 44 | PID << 20.
 * Such locks show no owner there (proc_locks(5): -1), so they are listed in every PID namespace.
 */
export function readLedger(keys: LockKeys, read = () => readFileSync('/proc/locks', 'utf8')): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const line of settled(read, keys)) {
    const [key = '', first = '0', last = '0'] = line.split(' ');
    const start = BigInt(first);
    const exported = key === keys.control;
    const gpu = exported ? Number(start >> 44n) : keys.gpus.findIndex((names) => names.includes(key));
    if (gpu < 0) continue;
    const pid = Number((start >> 20n) & 0xff_ffffn);
    entries.push({gpu, pid, MiB: Number(BigInt(last) - start + 1n)});
  }
  return entries;
}

/** MiB in use per GPU index. */
export function ledgerTotals(entries: readonly LedgerEntry[], gpus: number): readonly number[] {
  const totals = new Array<number>(gpus).fill(0);
  for (const entry of entries) totals[entry.gpu] = (totals[entry.gpu] ?? 0) + entry.MiB;
  return totals;
}

/**
 * "KEY FIRST LAST" of each lock of these files. The kernel lists a page at a time and finds its place again by counting: a
 * lock that comes or goes anywhere on the machine meanwhile shows another twice, or hides it. So it is read until two readings
 * say the same; where they never do, the longer of the last two: what is hidden once must not look free.
 */
function settled(read: () => string, keys: LockKeys): readonly string[] {
  const known = new Set([...keys.gpus.flat(), keys.control]);
  const reading = (): readonly string[] =>
    read()
      .split('\n')
      .flatMap((line) => {
        const [, key, first, last] = /^\d+: OFDLCK +\S+ +\S+ +-?\d+ (\S+) (\d+) (\d+)$/.exec(line.trim()) ?? [];
        return key !== undefined && known.has(key) ? [`${key} ${first} ${last}`] : [];
      });
  const same = (one: readonly string[], other: readonly string[]): boolean =>
    one.toSorted().join() === other.toSorted().join();
  let [before, now] = [reading(), reading()];
  for (let more = 6; more > 0 && !same(before, now); more -= 1) [before, now] = [now, reading()];
  return before.length > now.length ? before : now;
}
