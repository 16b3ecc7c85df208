/** Per GPU: what is used, what the holders explain, what nobody explains, and the state that follows. */
import type {GpuAccount, GpuReason, GpuState, HolderDiagnosis} from './diagnosis.ts';
import type {Policy} from './policy.ts';
import {type Charge, type Gpu, mibOf, type Snapshot} from './snapshot.ts';

export interface AccountInput {
  readonly snapshot: Snapshot;
  readonly holders: readonly HolderDiagnosis[];
  readonly dead: readonly Charge[];
  readonly policy: Policy;
  /** Lowest used MiB ever seen per GPU with full sight and no holder. */
  readonly baselines: ReadonlyMap<string, number>;
  readonly foreignPids: boolean;
}

export function accountFor(gpu: Gpu, input: AccountInput): GpuAccount {
  const {snapshot, policy, baselines, foreignPids} = input;
  const seen = baselines.get(gpu.uuid);
  // What was left over when a look first saw this GPU may have been a leak already: never more than the policy's figure.
  const baselineMiB = Math.min(seen ?? policy.baselineMiB, policy.baselineMiB);
  const usedMiB = gpu.fault === null ? mibOf(gpu.usedMiB) : null;
  const charges = snapshot.charges.filter((charge) => charge.gpuUuid === gpu.uuid);
  const uses = input.holders.flatMap((holder) =>
    holder.gpus.filter((use) => use.gpuUuid === gpu.uuid && use.how !== 'opened').map((use) => ({holder, use})),
  );
  const ghosts = uses.filter(({holder}) => isGhost(holder));
  const deadHere = input.dead.filter((charge) => charge.gpuUuid === gpu.uuid);
  const kept = new Set(ghosts.flatMap(({holder}) => holder.deadCharged));
  const orphanedDead = deadHere.filter((charge) => !kept.has(charge.pid));
  // Billed to a PID that is neither here nor known to be dead: nobody we can see explains it.
  const known = new Set(snapshot.processes.map((process) => process.pid));
  const unplaced = charges.filter((charge) => foreignPids || (!known.has(charge.pid) && !deadHere.includes(charge)));
  const explainedMiB = charges
    .filter((charge) => !orphanedDead.includes(charge))
    .reduce((sum, charge) => sum + (mibOf(charge.usedMiB) ?? 0), 0);
  const unexplainedMiB = usedMiB === null ? null : Math.max(0, usedMiB - explainedMiB);
  const excess = unexplainedMiB !== null && unexplainedMiB > baselineMiB + policy.toleranceMiB;
  // A holder that is billed nothing here may own what is left over: exported or mapped memory shows no charge.
  const unbilled = uses.filter(({use}) => use.chargedMiB === null);
  const blind = blindness(snapshot, foreignPids);

  const reasons: GpuReason[] = [...blind];
  if (gpu.fault !== null) reasons.push('fault');
  else if (usedMiB === null) reasons.push('figure-missing');
  if (orphanedDead.length > 0) reasons.push('dead-charge-without-holder');
  if (excess && blind.length === 0 && unbilled.length === 0 && orphanedDead.length === 0)
    reasons.push('no-holder-anywhere');

  return {
    gpuUuid: gpu.uuid,
    index: gpu.index,
    state: stateOf({
      usedMiB,
      clean: usedMiB !== null && usedMiB <= baselineMiB + policy.toleranceMiB,
      excess,
      ghosts: ghosts.length,
      here: uses.map(({holder}) => holder),
      blind: blind.length > 0,
      unplaced: unplaced.length > 0,
    }),
    usedMiB,
    totalMiB: mibOf(gpu.totalMiB),
    explainedMiB,
    unexplainedMiB,
    baselineMiB,
    baselineSeen: seen !== undefined && seen <= policy.baselineMiB,
    holderPids: uses.map(({holder}) => holder.process.pid),
    deadCharged: deadHere.map((charge) => ({pid: charge.pid, usedMiB: mibOf(charge.usedMiB)})),
    reasons,
  };
}

/** A GPU that is named in a fault line but has no row, or all of them when nvidia-smi did not answer, are nobody's account. */
export function smiReason(snapshot: Snapshot): GpuReason | null {
  switch (snapshot.smi.state) {
    case 'answered':
      return null;
    case 'missing':
      return 'smi-missing';
    case 'timed-out':
    case 'still-stuck':
      return 'smi-timed-out';
    case 'failed':
      return 'smi-failed';
  }
}

/** Keeps a dead process's memory, or has lost the server it worked for. */
export function isGhost(holder: HolderDiagnosis): boolean {
  return holder.findings.includes('inheritor') || holder.orphaned;
}

function stateOf(seen: {
  readonly usedMiB: number | null;
  readonly clean: boolean;
  readonly excess: boolean;
  readonly ghosts: number;
  readonly here: readonly HolderDiagnosis[];
  readonly blind: boolean;
  readonly unplaced: boolean;
}): GpuState {
  if (seen.usedMiB === null) return 'unknown';
  if (seen.ghosts > 0) return 'dirty';
  const working = seen.here.filter(
    (holder) => !holder.findings.includes('protected') && !holder.findings.includes('monitor'),
  );
  // Memory back at its baseline may be called clean even with poor sight; nothing else may.
  if (seen.clean) return working.length === 0 ? 'clean' : 'occupied';
  if (seen.blind) return seen.excess || seen.unplaced ? 'unknown' : 'occupied';
  return seen.excess ? 'dirty' : 'occupied';
}

function blindness(snapshot: Snapshot, foreignPids: boolean): readonly GpuReason[] {
  const reasons: GpuReason[] = [];
  const smi = smiReason(snapshot);
  if (smi !== null) reasons.push(smi);
  if (foreignPids) reasons.push('foreign-pid-namespace');
  if (snapshot.sight.unreadableFdFolders > 0) reasons.push('not-all-readable');
  if (snapshot.sight.euid !== 0 && snapshot.sight.hidepid !== '0') reasons.push('hidepid');
  const facts = snapshot.sections.find((section) => section.name === 'facts');
  if ((!snapshot.sight.full && reasons.length === 0) || facts?.complete !== true) reasons.push('scan-incomplete');
  return reasons;
}
