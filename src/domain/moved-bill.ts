/**
 * Bills that moved. Memory that a process shares by CUDA IPC is billed to its maker alone; when the maker dies while another
 * still maps it, the driver bills that other one (measured: 518 MiB became 4614 when an exporter with 4614 was killed). No
 * single look can show it: it takes an earlier one in which the maker was alive.
 */
import {oneBillEach} from './bills.ts';
import {seesTheLiving} from './dead-charges.ts';
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import {FINDING_ORDER} from './finding.ts';
import {isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import {isSameMachine} from './process.ts';
import {titleOf} from './roles.ts';
import {type Charge, mibOf, type Snapshot} from './snapshot.ts';

export interface MovedBill {
  readonly gpuUuid: string;
  /** Who is billed now: alive then and now, and perhaps healthy and shared. */
  readonly pid: number;
  /** By how much its bill grew. */
  readonly MiB: number;
  readonly from: readonly {readonly pid: number; readonly name: string; readonly MiB: number}[];
  readonly seenAtMs: number;
}

/** A context of its own costs a process this much and ends with it: 518 MiB on an H200, other GPUs and drivers differ. */
const CONTEXT_AT_MOST_MIB = 1_024;
/** Bills are rounded, and kernels loaded meanwhile add a little. */
const ABOUT_MIB = 64;

/** Which bills of `now` are those of processes that an earlier look of the same boot saw alive and billed. */
export function movedBills(earlier: readonly Snapshot[], now: Snapshot): readonly MovedBill[] {
  if (!seesTheLiving(now)) return [];
  const table = processTable(now);
  const looks = earlier
    .filter((look) => isSameMachine(look.machine, now.machine) && look.takenAtMs <= now.takenAtMs)
    .toSorted((a, b) => b.takenAtMs - a.takenAtMs)
    .map((look) => ({look, table: processTable(look), charges: oneBillEach(look.charges)}));
  const charges = oneBillEach(now.charges);
  return charges.flatMap((charge): readonly MovedBill[] => {
    const process = table.get(charge.pid);
    const nowMiB = mibOf(charge.usedMiB);
    if (process === undefined || isPlainZombie(process) || nowMiB === null) return [];
    for (const {look, table: then, charges: billed} of looks) {
      if (then.get(charge.pid)?.startTicks !== process.startTicks) continue;
      const before = billed.find((one) => isSameBill(one, charge));
      // Only who had the GPU open while the maker lived can have mapped its memory.
      if (before === undefined && !look.holdings.some((holding) => holding.pid === charge.pid)) continue;
      const grewMiB = nowMiB - (before === undefined ? 0 : (mibOf(before.usedMiB) ?? nowMiB));
      const dead = billed
        .filter(
          (one) => isOnSameGpu(one, charge) && one.pid !== charge.pid && !charges.some((it) => isSameBill(it, one)),
        )
        .flatMap((one) => {
          const was = then.get(one.pid);
          const MiB = mibOf(one.usedMiB);
          if (was === undefined || isPlainZombie(was) || MiB === null || isAlive(was.pid, was.startTicks, table))
            return [];
          return [{pid: one.pid, name: titleOf(was), MiB}];
        });
      const from = dead.find((one) => isAbout(grewMiB, [one])) ?? null;
      const found = from !== null ? [from] : isAbout(grewMiB, dead) ? dead : [];
      if (found.length > 0)
        return [{gpuUuid: charge.gpuUuid, pid: charge.pid, MiB: grewMiB, from: found, seenAtMs: look.takenAtMs}];
    }
    return [];
  });
}

/** The same diagnosis, with the holders named whose bills are other people's by the earlier looks. */
export function withMovedBills(diagnosis: Diagnosis, earlier: readonly Snapshot[]): Diagnosis {
  if (diagnosis.foreignPids || earlier.length === 0) return diagnosis;
  const moved = movedBills(earlier, diagnosis.snapshot);
  if (moved.length === 0) return diagnosis;
  const holders = diagnosis.holders.map((holder) => {
    const bills = moved.filter((bill) => bill.pid === holder.process.pid);
    return bills.length === 0 ? holder : asImporter(holder, bills, diagnosis);
  });
  return {...diagnosis, holders};
}

function asImporter(holder: HolderDiagnosis, bills: readonly MovedBill[], diagnosis: Diagnosis): HolderDiagnosis {
  const kinds = new Set([...holder.findings, 'importer' as const]);
  const evidence = bills.map((bill) => {
    const index = diagnosis.gpus.find((gpu) => gpu.gpuUuid === bill.gpuUuid)?.index;
    const makers = bill.from.map((one) => `PID ${one.pid} ${one.name}, ${one.MiB} MiB`).join('; ');
    return {
      source: 'earlier-look' as const,
      fact: `its bill on GPU ${index ?? bill.gpuUuid} grew by ${bill.MiB} MiB; dead there: ${makers}`,
    };
  });
  return {
    ...holder,
    findings: FINDING_ORDER.filter((kind) => kinds.has(kind)),
    evidence: [...evidence, ...holder.evidence],
  };
}

/** Grown by what the dead were billed, less at most a context for each of them. */
function isAbout(grewMiB: number, dead: readonly {readonly MiB: number}[]): boolean {
  const sumMiB = dead.reduce((sum, one) => sum + one.MiB, 0);
  const leastMiB = Math.max(sumMiB - dead.length * CONTEXT_AT_MOST_MIB - ABOUT_MIB, sumMiB / 2, ABOUT_MIB);
  return dead.length > 0 && grewMiB > leastMiB && grewMiB <= sumMiB + ABOUT_MIB;
}

function isAlive(pid: number, startTicks: string, table: ProcessTable): boolean {
  const process = table.get(pid);
  return process !== undefined && process.startTicks === startTicks && !isPlainZombie(process);
}

function isOnSameGpu(a: Charge, b: Charge): boolean {
  return a.gpuUuid === b.gpuUuid && a.instance === b.instance;
}

function isSameBill(a: Charge, b: Charge): boolean {
  return a.pid === b.pid && isOnSameGpu(a, b);
}
