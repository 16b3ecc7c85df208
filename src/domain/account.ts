/** Per GPU: what is used, what the holders explain, what nobody explains, and the state that follows. */
import {usedOn} from './bills.ts';
import type {GpuAccount, GpuReason, GpuState, HolderDiagnosis} from './diagnosis.ts';
import type {Evidence} from './finding.ts';
import {instanceRemark, moduleRemark, type Remark, xidRemark} from './gpu-evidence.ts';
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
  const {usedMiB, usedFrom} = usedOn(gpu, snapshot);
  // What was left over when a look first saw this GPU may have been a leak already: never more than the policy's figure.
  // Bills hold no driver's share.
  const baselineMiB = usedFrom === 'processes' ? 0 : Math.min(seen ?? policy.baselineMiB, policy.baselineMiB);
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
  const unbilled = uses.filter(({use}) => use.chargedMiB === null && use.noContext !== true);
  const blind = blindness(snapshot, foreignPids);
  const keepers = input.holders.filter((holder) => holder.mayKeep.includes(gpu.uuid));

  const reasons: GpuReason[] = [...blind];
  if (gpu.fault !== null) reasons.push('fault');
  else if (usedMiB === null) reasons.push('figure-missing');
  if (orphanedDead.length > 0) reasons.push('dead-charge-without-holder');
  const elsewhere = excess ? instanceRemark(gpu, snapshot.charges) : null;
  // That some process refused us its files leaves the question open; it is no reason not to ask it.
  const partly = blind.every((reason) => reason === 'not-all-readable');
  const unowned = excess && partly && unbilled.length === 0 && orphanedDead.length === 0 && elsewhere === null;
  const nobody = unowned && blind.length === 0;
  if (nobody && keepers.length === 0) reasons.push('no-holder-anywhere');
  if (keepers.length > 0) reasons.push('possible-keeper');
  // A module in use is an answer only where there is a question.
  const modules = nobody ? moduleRemark(snapshot) : null;
  const remarks = [elsewhere, modules, xidRemark(gpu, snapshot)].filter((one): one is Remark => one !== null);

  return {
    gpuUuid: gpu.uuid,
    index: gpu.index,
    state: stateOf({
      usedMiB,
      // The bills leave out what nobody is billed for: with poor sight they are no proof of an empty GPU.
      clean:
        usedMiB !== null && usedMiB <= baselineMiB + policy.toleranceMiB && (usedFrom === 'gpu' || blind.length === 0),
      excess,
      ghosts: ghosts.length,
      here: uses.map(({holder}) => holder),
      blind: blind.length > 0 || elsewhere !== null,
      unplaced: unplaced.length > 0 || (usedFrom === 'processes' && blind.length > 0),
    }),
    usedMiB,
    usedFrom,
    totalMiB: mibOf(gpu.totalMiB),
    explainedMiB,
    unexplainedMiB,
    baselineMiB,
    baselineSeen: usedFrom === 'gpu' && seen !== undefined && seen <= policy.baselineMiB,
    holderPids: uses.map(({holder}) => holder.process.pid),
    loose: unowned || orphanedDead.length > 0 || keepers.length > 0,
    mayKeepPids: keepers.map((holder) => holder.process.pid),
    deadCharged: deadHere.map((charge) => ({
      pid: charge.pid,
      usedMiB: mibOf(charge.usedMiB),
      kept: !orphanedDead.includes(charge),
    })),
    reasons: [...reasons, ...remarks.map((remark) => remark.reason)],
    evidence: [...sourceOf(usedFrom, usedMiB), ...remarks.flatMap((remark) => remark.evidence)],
  };
}

/** Where the figure comes from, if it is not the GPU's own. */
function sourceOf(usedFrom: GpuAccount['usedFrom'], usedMiB: number | null): readonly Evidence[] {
  if (usedFrom === 'gpu' || usedMiB === null) return [];
  const fact = 'no figure for this GPU (unified memory): the sum of what processes are billed';
  return [{source: 'charges', fact}];
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
