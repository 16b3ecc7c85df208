/** What became of each GPU between two looks: before, after, what may stay, and what of the targets' memory others have now. */
import type {Diagnosis} from './diagnosis.ts';
import {billedToOthers, leftToOthers, usesUnbilled} from './expect-memory.ts';
import {movedBills} from './moved-bill.ts';
import type {GpuChange, MovedTo} from './outcome.ts';
import type {Plan} from './plan.ts';
import {restartsSince} from './return.ts';
import {titleOf} from './roles.ts';

export interface ChangesInput {
  readonly plan: Plan;
  readonly before: Diagnosis;
  readonly after: Diagnosis | null;
  /** PIDs of targets that the closing look does not show as gone. */
  readonly stillThere: ReadonlySet<number>;
  readonly toleranceMiB: number;
}

/** Before and after per GPU that both looks know; a GPU that is missing from one of them has no figure there. */
export function gpuChanges(input: ChangesInput): readonly GpuChange[] {
  const {before, after, plan, stillThere} = input;
  const planned = new Set(plan.targets.map((target) => target.identity.pid));
  return before.gpus.map((account) => {
    const now = after?.gpus.find((one) => one.gpuUuid === account.gpuUuid);
    const holders = (after?.holders ?? []).flatMap((holder) => {
      const use = holder.gpus.find((one) => one.gpuUuid === account.gpuUuid && one.how !== 'opened');
      return use === undefined
        ? []
        : [{pid: holder.process.pid, name: titleOf(holder.process), chargedMiB: use.chargedMiB}];
    });
    const shares = after !== null && now !== undefined;
    const othersMiB = shares ? billedToOthers(after, now, stillThere) : 0;
    // What nobody was billed for before, and a process that was no target and is still here may own.
    const othersUnbilled =
      shares && after.holders.some((one) => !stillThere.has(one.process.pid) && usesUnbilled(one, now.gpuUuid));
    const leftMiB = othersUnbilled ? leftToOthers(before, account, planned) : 0;
    const moved =
      after === null
        ? []
        : [...movedFrom(planned, account.gpuUuid, before, after), ...restartedOn(account.gpuUuid, plan, before, after)];
    // The GPU's own figure and the sum of bills are two scales: no difference between them says anything.
    const comparable = now !== undefined && now.usedFrom === account.usedFrom;
    return {
      gpuUuid: account.gpuUuid,
      index: account.index,
      beforeMiB: account.usedMiB,
      afterMiB: comparable ? now.usedMiB : null,
      expectedMiB:
        now === undefined ? null : othersMiB - movedMiB(moved) + leftMiB + now.baselineMiB + input.toleranceMiB,
      requested: plan.gpus.some((gpu) => gpu.gpuUuid === account.gpuUuid && gpu.requested),
      heldBy: holders,
      unexplainedMiB: now?.unexplainedMiB ?? null,
      ...(account.usedFrom === 'gpu' ? {} : {usedFrom: account.usedFrom}),
      ...(moved.length === 0 ? {} : {movedTo: moved}),
    };
  });
}

/** Who has the targets' memory on this GPU now, and is none of them. */
function movedFrom(
  planned: ReadonlySet<number>,
  gpuUuid: string,
  before: Diagnosis,
  after: Diagnosis,
): readonly MovedTo[] {
  const nameOf = (pid: number) => {
    const process = after.snapshot.processes.find((one) => one.pid === pid);
    return process === undefined ? '' : titleOf(process);
  };
  const billed = movedBills([before.snapshot], after.snapshot).filter(
    (bill) => bill.gpuUuid === gpuUuid && !planned.has(bill.pid) && bill.from.some((one) => planned.has(one.pid)),
  );
  const account = after.gpus.find((one) => one.gpuUuid === gpuUuid);
  const kept = (account?.deadCharged ?? []).flatMap((charge): readonly MovedTo[] => {
    const keeper = after.holders.find((one) => !planned.has(one.process.pid) && one.deadCharged.includes(charge.pid));
    if (keeper === undefined || !planned.has(charge.pid)) return [];
    const {pid} = keeper.process;
    return [{pid, name: nameOf(pid), MiB: charge.usedMiB ?? 0, fromPids: [charge.pid], how: 'kept'}];
  });
  return [
    ...billed.map(({pid, MiB, from}) => ({
      pid,
      name: nameOf(pid),
      MiB,
      fromPids: from.map((one) => one.pid),
      how: 'billed' as const,
    })),
    ...kept,
  ];
}

/** What targets' supervisors have started again on this GPU by now: others' work by its PID, the same work by all else. */
function restartedOn(gpuUuid: string, plan: Plan, before: Diagnosis, after: Diagnosis): readonly MovedTo[] {
  return restartsSince(plan, before.snapshot, after).flatMap(({supervisor, holders}) =>
    holders.flatMap((holder): readonly MovedTo[] => {
      const MiB = holder.gpus.find((use) => use.gpuUuid === gpuUuid)?.chargedMiB ?? null;
      if (MiB === null) return [];
      const {pid} = holder.process;
      const {name, stopCommand} = supervisor;
      return [{pid, name: titleOf(holder.process), MiB, fromPids: [], how: 'restarted', by: {name, stopCommand}}];
    }),
  );
}

/** Memory that only changed its owner. */
export function movedMiB(moved: readonly MovedTo[]): number {
  return moved.reduce((sum, one) => sum + one.MiB, 0);
}
