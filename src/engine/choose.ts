/** "Choose…": the waiting plan again, with other ticks, as its next version. Asks no host; the go will look again anyway. */
import {refusePlan} from '../domain/authority.ts';
import {fail, ok, type Result} from '../domain/failure.ts';
import {digestText, makePlan} from '../domain/make-plan.ts';
import {ownerFactsIn, withOwnerFacts} from '../domain/plan-owners.ts';
import {withStops} from '../domain/stop-plan.ts';
import {commit} from './commit.ts';
import {waitingPlan} from './decide.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import type {ChooseRequest, Proposal} from './ports.ts';
import {diagnoseWithMemory, EARLIER_LOOKS_MS} from './survey.ts';

/** Holds the choice to the same rules as the first plan: what is locked stays locked, whatever was ticked. */
export async function choose(deps: EngineDeps, choice: ChooseRequest): Promise<Result<Proposal>> {
  const {run, pids} = choice;
  const waiting = waitingPlan(run);
  if (waiting === null) return fail({reason: 'run-ended', runId: run.id, outcome: run.phase});
  const nowMs = deps.clock.now();
  if (waiting.expiresAtMs <= nowMs) return fail({reason: 'approval-expired', runId: run.id, atMs: waiting.expiresAtMs});
  if (choice.digest !== waiting.digest)
    return fail({reason: 'plan-outdated', runId: run.id, given: choice.digest, current: waiting.digest});
  const offered = new Set([
    ...waiting.plan.targets.map((target) => target.identity.pid),
    ...waiting.plan.kept.filter((kept) => kept.choosable).map((kept) => kept.pid),
  ]);
  const stray = pids.find((pid) => !offered.has(pid));
  const refuse = (why: 'nobody' | 'not-offered' | 'server-above-kept-work', pid: number | null) =>
    fail({reason: 'choice-refused', runId: run.id, pid, why});
  if (pids.length === 0) return refuse('nobody', null);
  if (stray !== undefined) return refuse('not-offered', stray);
  const surveyed = run.events.findLast((event) => event.kind === 'surveyed');
  const requested = run.events[0];
  if (surveyed?.kind !== 'surveyed' || requested?.kind !== 'requested')
    throw new Error(`Internal error: run ${run.id} waits without a survey`);

  const diagnosis = await diagnoseWithMemory(deps, surveyed.snapshot);
  const baselines = await deps.store.baselines(surveyed.snapshot.gpus.map((gpu) => gpu.uuid));
  const earlier = await deps.store.looksAt(run.host, surveyed.snapshot.machine.bootId, nowMs - EARLIER_LOOKS_MS);
  const input = {
    diagnosis,
    request: {...requested.request, pids},
    context: {host: hostOf(deps, run.host), policy: deps.policy, baselines},
    earlier,
    nowMs,
  };
  const made = makePlan({
    ...input,
    runId: run.id,
    version: waiting.plan.version + 1,
    // Exactly what was ticked: a ghost or a relative that was unticked does not come back by itself.
    only: new Set(pids),
    writing: waiting.plan.writing,
  });
  if (!made.ok) return made;
  const known = withOwnerFacts(made.value, ownerFactsIn(waiting.plan));
  const unticked = new Set([...offered].filter((pid) => !pids.includes(pid)));
  const plan = withStops(known, waiting.plan.owned, {...input, unticked});
  // Who was offered only as part of what a stop would end is no target of its own without that stop.
  const owned = new Set(waiting.plan.owned?.owners.flatMap((one) => one.pids ?? []));
  const withoutGpu = [
    ...waiting.plan.targets.filter((one) => one.heldBy === 'nothing').map((one) => one.identity.pid),
    ...waiting.plan.kept.filter((one) => one.why === 'unticked' && one.gpuUuids.length === 0).map((one) => one.pid),
  ];
  const joined = new Set(withoutGpu.filter((pid) => owned.has(pid)));
  const left = pids.find((pid) => !plan.targets.some((target) => target.identity.pid === pid) && !joined.has(pid));
  if (left !== undefined) {
    const wasServer = waiting.plan.targets.some((target) => target.identity.pid === left && target.role === 'server');
    return refuse(wasServer ? 'server-above-kept-work' : 'not-offered', left);
  }
  const tooMany = refusePlan(plan, deps.policy);
  if (tooMany !== null) return fail(tooMany);
  const digest = deps.digest(digestText(plan));
  const written = await commit(
    deps,
    run,
    'awaiting-go',
    [{kind: 'planned', atMs: nowMs, plan, digest, expiresAtMs: waiting.expiresAtMs}],
    {openApproval: {digest, expiresAtMs: waiting.expiresAtMs}, unleased: true},
  );
  return written.ok ? ok({run: written.value, plan, digest, diagnosis}) : written;
}
