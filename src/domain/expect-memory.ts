/** What each GPU may still hold once every target has ended. */
import type {Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import type {ExpectedGpu, Target} from './plan.ts';

/** What may stay in use if every target ends: the others' charges, the baseline, and what no target could own. */
export function expectations(
  diagnosis: Diagnosis,
  targets: readonly Target[],
  requested: ReadonlySet<string>,
): readonly ExpectedGpu[] {
  const ending = new Set(targets.map((target) => target.identity.pid));
  return diagnosis.gpus.map((account) => {
    const staying = diagnosis.holders.filter((holder) => !ending.has(holder.process.pid));
    const uses = (holder: HolderDiagnosis) =>
      holder.gpus.find((use) => use.gpuUuid === account.gpuUuid && use.how !== 'opened');
    const othersMiB = othersShare(diagnosis, account.gpuUuid, ending);
    const owners = diagnosis.holders.filter((holder) => uses(holder) !== undefined && holder.chargedMiB === null);
    const leftOver = Math.max(0, (account.unexplainedMiB ?? 0) - account.baselineMiB);
    const mayBeOurs =
      owners.some((holder) => ending.has(holder.process.pid)) &&
      !staying.some((holder) => uses(holder) !== undefined && holder.chargedMiB === null);
    return {
      gpuUuid: account.gpuUuid,
      index: account.index,
      requested: requested.has(account.gpuUuid),
      beforeMiB: account.usedMiB,
      totalMiB: account.totalMiB,
      afterAtMostMiB: account.usedMiB === null ? null : othersMiB + account.baselineMiB + (mayBeOurs ? 0 : leftOver),
    };
  });
}

/** MiB billed on one GPU to processes that stay, or to dead PIDs that a staying process keeps or nobody was found to keep. */
function othersShare(diagnosis: Diagnosis, gpuUuid: string, ending: ReadonlySet<number>): number {
  const keepers = (deadPid: number) => diagnosis.holders.filter((holder) => holder.deadCharged.includes(deadPid));
  let total = 0;
  for (const charge of diagnosis.snapshot.charges) {
    if (charge.gpuUuid !== gpuUuid || !charge.usedMiB.known || ending.has(charge.pid)) continue;
    const alive = diagnosis.snapshot.processes.some((process) => process.pid === charge.pid);
    const kept = keepers(charge.pid);
    if (!alive && kept.length > 0 && kept.every((holder) => ending.has(holder.process.pid))) continue;
    total += charge.usedMiB.value;
  }
  return total;
}
