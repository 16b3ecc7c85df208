/** What the usual one-liners would pick of the same facts: each case shows where they go wrong. */
import {mibOf, type Snapshot} from '../../../src/domain/snapshot.ts';

/** `ps -e -o pid,ppid,args | awk '$2 == 1' | grep NAME` */
export function orphansOfInit(look: Snapshot, name: string): readonly number[] {
  return called(look, name).filter((pid) => look.processes.some((one) => one.pid === pid && one.ppid === 1));
}

/** `pgrep -f NAME`: command lines only, whoever they belong to. */
export function called(look: Snapshot, name: string): readonly number[] {
  return look.processes.filter((one) => one.words.join(' ').includes(name)).map((one) => one.pid);
}

/** `nvidia-smi --query-compute-apps=pid` */
export function listedBySmi(look: Snapshot): readonly number[] {
  return [...new Set(look.charges.map((charge) => charge.pid))];
}

/** `fuser /dev/nvidia*`: open files and mappings of main threads. */
export function openers(look: Snapshot): readonly number[] {
  return look.holdings.filter((one) => one.opens.length + one.mappings.length > 0).map((one) => one.pid);
}

/** The largest bill of all. */
export function biggest(look: Snapshot): number | undefined {
  return look.charges.toSorted((a, b) => (mibOf(b.usedMiB) ?? 0) - (mibOf(a.usedMiB) ?? 0))[0]?.pid;
}

/** `int(memory.used)`, with 0 for whatever is no number. */
export function usedMiB(look: Snapshot, gpu = 0): number {
  const read = look.gpus[gpu]?.usedMiB;
  return read === undefined ? 0 : (mibOf(read) ?? 0);
}

/** Every process below one, as a tree walk finds them. */
export function treeBelow(look: Snapshot, pid: number): readonly number[] {
  const children = look.processes.filter((one) => one.ppid === pid).map((one) => one.pid);
  return [...children, ...children.flatMap((child) => treeBelow(look, child))];
}

export function isAlive(look: Snapshot, pid: number): boolean {
  return look.processes.some((one) => one.pid === pid);
}
