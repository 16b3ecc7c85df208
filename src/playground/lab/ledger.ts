/** What the lab's holders really have, read from the kernel's lock list by code of its own: the check on the stand-in and on the bot. */
import {readFileSync} from 'node:fs';

export interface LedgerEntry {
  readonly gpu: number;
  /** The process that took the memory, as numbered inside the lab; it may be dead. */
  readonly pid: number;
  readonly MiB: number;
}

/**
 * Open-file-description locks of the given devices. `keys[N]` is GPU N's `major:minor:inode` as /proc/locks prints it.
 * Such locks show no owner there (proc_locks(5): -1), so they are listed in every PID namespace.
 */
export function readLedger(keys: readonly string[], locksText = readFileSync('/proc/locks', 'utf8')): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const line of locksText.split('\n')) {
    const match = /^\d+: OFDLCK +\S+ +\S+ +-?\d+ (\S+) (\d+) (\d+)$/.exec(line.trim());
    const gpu = match ? keys.indexOf(match[1] ?? '') : -1;
    if (!match || gpu < 0) continue;
    const start = BigInt(match[2] ?? '0');
    entries.push({gpu, pid: Number(start >> 20n), MiB: Number(BigInt(match[3] ?? '0') - start + 1n)});
  }
  return entries;
}

/** MiB in use per GPU index. */
export function ledgerTotals(entries: readonly LedgerEntry[], gpus: number): readonly number[] {
  const totals = new Array<number>(gpus).fill(0);
  for (const entry of entries) totals[entry.gpu] = (totals[entry.gpu] ?? 0) + entry.MiB;
  return totals;
}
