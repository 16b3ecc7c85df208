/** The written policy to the whole one: defaults filled in, additions joined to the built-in lists. */
import type {Policy, ProtectedEntry, Workload} from '../domain/policy.ts';
import {BUILT_IN_PROTECTED} from '../domain/protected.ts';
import type {WrittenPolicy} from './policy-schema.ts';
import {BUILT_IN_WORKLOADS} from './workloads.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

export function policyOf(written: WrittenPolicy): Policy {
  const graceMs = written.grace ?? 30 * SECOND;
  // A grace longer than the default profilers' grace is meant for them as well.
  const profilerGraceMs = written.profilerGrace ?? Math.max(graceMs, 3 * MINUTE);
  return {
    approvers: written.approvers ?? [],
    samePerson: written.samePerson ?? [],
    selfGo: written.selfGo ?? true,
    breakGlass: written.breakGlass ?? true,
    tellRequester: written.tellRequester ?? true,
    pictures: written.pictures ?? true,
    graceMs,
    profilerGraceMs,
    writingGraceMs: written.writingGrace ?? Math.max(profilerGraceMs, 10 * MINUTE),
    memberDelayMs: written.memberDelay ?? Math.min(graceMs, 5 * SECOND),
    approvalMs: written.approval ?? 15 * MINUTE,
    verifyMs: written.verify ?? 120 * SECOND,
    stalledMs: written.stalled ?? 10 * SECOND,
    lookAgainMs: written.lookAgain ?? [MINUTE, 10 * MINUTE],
    watchEveryMs: written.watchEvery ?? MINUTE,
    campaignIdleMs: written.campaignIdle ?? 45 * MINUTE,
    campaignKeepMs: written.campaignKeep ?? 120 * MINUTE,
    lateAfterMs: written.lateAfter ?? 10 * SECOND,
    baselineMiB: written.baselineMiB ?? 300,
    toleranceMiB: written.toleranceMiB ?? 64,
    limits: {
      openRuns: written.limits?.openRuns ?? 4,
      targets: written.limits?.targets ?? 64,
      runsPerPerson: written.limits?.runsPerPerson ?? 3,
      runsPerPersonMs: written.limits?.runsPerPersonWithin ?? 10 * MINUTE,
    },
    stopOwner: {
      unit: written.stopOwner?.unit ?? false,
      docker: written.stopOwner?.docker ?? false,
      podman: written.stopOwner?.podman ?? false,
      slurm: written.stopOwner?.slurm ?? false,
    },
    workloads: workloadsOf(written.workloads ?? {}),
    protectedList: [...BUILT_IN_PROTECTED, ...(written.protected ?? []).map(protectedEntryOf)],
  };
}

/** A written workload takes the place of the built-in one of its name; one without literals takes it away. */
function workloadsOf(written: Readonly<Record<string, readonly string[]>>): readonly Workload[] {
  const builtIn = BUILT_IN_WORKLOADS.filter((workload) => !Object.hasOwn(written, workload.name));
  const own = Object.entries(written).map(([name, literals]) => ({name, literals}));
  return [...builtIn, ...own.filter((workload) => workload.literals.length > 0)];
}

function protectedEntryOf(written: NonNullable<WrittenPolicy['protected']>[number]): ProtectedEntry {
  return {
    name: written.name,
    executables: written.executables ?? [],
    uids: written.uids ?? null,
    units: written.units ?? [],
  };
}
