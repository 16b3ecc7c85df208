/** What each GPU may still hold once every target has ended. */
import type {Diagnosis, GpuAccount, HolderDiagnosis} from './diagnosis.ts';
import type {ExpectedGpu, Target} from './plan.ts';

/** What may stay in use if every target ends: the others' charges, the baseline, and what no target could own. */
export function expectations(
  diagnosis: Diagnosis,
  targets: readonly Target[],
  requested: ReadonlySet<string>,
): readonly ExpectedGpu[] {
  const ending = new Set(targets.map((target) => target.identity.pid));
  return diagnosis.gpus.map((account) => {
    const staysMiB = billedToOthers(diagnosis, account, ending) + leftToOthers(diagnosis, account, ending);
    const cannotSay = account.usedMiB === null || isOpen(diagnosis, account, ending);
    const capped = (wantedMiB: number) => (cannotSay ? null : Math.min(account.usedMiB ?? 0, wantedMiB));
    return {
      gpuUuid: account.gpuUuid,
      index: account.index,
      requested: requested.has(account.gpuUuid),
      beforeMiB: account.usedMiB,
      totalMiB: account.totalMiB,
      likelyAfterMiB: capped(staysMiB),
      afterAtMostMiB: capped(staysMiB + account.baselineMiB),
    };
  });
}

/**
 * MiB billed on one GPU to processes that stay, or to dead PIDs whose files a staying process keeps. Each charge counts
 * once, however many processes keep it. What a dead PID is billed without anybody keeping it is left over, not here.
 */
export function billedToOthers(diagnosis: Diagnosis, account: GpuAccount, ending: ReadonlySet<number>): number {
  const dead = new Set(account.deadCharged.map((charge) => charge.pid));
  const keptByOthers = new Set(
    diagnosis.holders.filter((holder) => !ending.has(holder.process.pid)).flatMap((holder) => holder.deadCharged),
  );
  let total = 0;
  for (const charge of diagnosis.snapshot.charges) {
    if (charge.gpuUuid !== account.gpuUuid || !charge.usedMiB.known || ending.has(charge.pid)) continue;
    if (!dead.has(charge.pid) || keptByOthers.has(charge.pid)) total += charge.usedMiB.value;
  }
  return total;
}

/**
 * MiB that are billed to nobody found and that will stay: all of it, unless a process that ends uses this GPU without a
 * bill of its own, or may keep what is left over, and none that stays does.
 */
export function leftToOthers(diagnosis: Diagnosis, account: GpuAccount, ending: ReadonlySet<number>): number {
  const owners = ownersOf(diagnosis, account);
  const isOurs = owners.length > 0 && owners.every((holder) => ending.has(holder.process.pid));
  return isOurs ? 0 : Math.max(0, (account.unexplainedMiB ?? 0) - account.baselineMiB);
}

/** True if one that ends and one that stays may both be the one that keeps what is left over: then no figure can be said. */
function isOpen(diagnosis: Diagnosis, account: GpuAccount, ending: ReadonlySet<number>): boolean {
  const owners = ownersOf(diagnosis, account);
  const suspects = owners.filter((holder) => holder.mayKeep.includes(account.gpuUuid));
  return (
    suspects.some((holder) => ending.has(holder.process.pid)) &&
    owners.some((holder) => !ending.has(holder.process.pid))
  );
}

/** Who may own what is billed to nobody on this GPU. A daemon that files wait for is not suspected: that is its trade. */
function ownersOf(diagnosis: Diagnosis, account: GpuAccount): readonly HolderDiagnosis[] {
  return diagnosis.holders.filter(
    (holder) =>
      usesUnbilled(holder, account.gpuUuid) ||
      (holder.mayKeep.includes(account.gpuUuid) && !holder.findings.includes('protected')),
  );
}

/** A process that stays and uses this GPU without a bill of its own may own what is billed to nobody. */
export function usesUnbilled(holder: HolderDiagnosis, gpuUuid: string): boolean {
  return holder.gpus.some(
    (use) => use.gpuUuid === gpuUuid && use.how !== 'opened' && use.chargedMiB === null && use.noContext !== true,
  );
}
