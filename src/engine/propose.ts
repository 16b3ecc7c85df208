/** From a request to a plan that waits for a go. Nothing is signalled here. */

import {overriding, refuseHeld, refuseHeldTargets, refusePlan, refuseRequest} from '../domain/authority.ts';
import {inTheWayOf} from '../domain/campaign.ts';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import {judge} from '../domain/judge.ts';
import {lateArrival} from '../domain/late-arrival.ts';
import {digestText, makePlan} from '../domain/make-plan.ts';
import type {OutcomeWord} from '../domain/outcome.ts';
import {personId} from '../domain/person.ts';
import type {Plan} from '../domain/plan.ts';
import type {PlanInput} from '../domain/plan-input.ts';
import {withOwnerFacts} from '../domain/plan-owners.ts';
import {refusePractice} from '../domain/practice.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {Run} from '../domain/run.ts';
import {withStops} from '../domain/stop-plan.ts';
import {growing, NOTHING_WRITTEN, nothingRead, type Writing} from '../domain/writing.ts';
import {mayWritePids} from '../domain/writing-targets.ts';
import {bareOutcome, close, commit} from './commit.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import {holdsOf} from './holds.ts';
import {askOwned, askOwners} from './owners.ts';
import type {Proposal} from './ports.ts';
import {EARLIER_LOOKS_MS, survey} from './survey.ts';
import {lookAtWrites} from './writes.ts';

/**
 * Opens a run, surveys, diagnoses, plans, and leaves the plan waiting for a go. A plan without targets and a dry run
 * close at once; so does every failure, with its reason in the run.
 */
export async function propose(deps: EngineDeps, asked: ReclaimRequest): Promise<Result<Proposal>> {
  const refused = await refuse(deps, asked);
  if (refused !== null) return fail(refused);
  const holds = await holdsOf(deps, asked.host, asked.requester);
  const inTheWay = inTheWayOf(holds, asked);
  const held = refuseHeld(asked, inTheWay);
  if (held !== null) return fail(held);
  // An earlier run's request may come again, and what the host was then proves nothing of what it is now.
  const {practice: _, ...unmarked} = asked;
  const marked: ReclaimRequest = hostOf(deps, asked.host).practice ? {...unmarked, practice: true} : unmarked;
  // Whom the plan will name is not known yet: a reason given is given for the processes that are held there as well.
  const request = overriding(
    marked,
    holds.filter((one) => inTheWay.includes(one) || one.processes.length > 0),
  );
  const nowMs = deps.clock.now();
  const opened = await deps.store.open({
    id: deps.newRunId(),
    host: request.host,
    atMs: nowMs,
    requester: personId(request.requester),
    event: {kind: 'requested', atMs: nowMs, request},
    owner: deps.owner,
  });
  if (!opened.ok)
    return fail({reason: 'host-busy', host: request.host, runId: opened.busy.id, by: requesterOf(opened.busy)});
  deps.announcer.announce(opened.run, opened.run.events);

  const look = await survey(deps, request.host, {match: request.match, pids: request.pids});
  if (!look.ok) return end(deps, opened.run, look.failure);
  const {snapshot, diagnosis} = look.value;
  const real = refusePractice(hostOf(deps, request.host), snapshot);
  if (real !== null) return end(deps, opened.run, real);
  const late = lateArrival(await deps.store.recent(50), snapshot);
  if (late !== null) return end(deps, opened.run, late);
  const surveyed = await commit(deps, opened.run, 'looking', [{kind: 'surveyed', atMs: deps.clock.now(), snapshot}], {
    machine: {bootId: snapshot.machine.bootId, pidNamespace: snapshot.machine.pidNamespace},
  });
  if (!surveyed.ok) return end(deps, opened.run, surveyed.failure);

  const earlier = await deps.store.looksAt(request.host, snapshot.machine.bootId, nowMs - EARLIER_LOOKS_MS);
  const baselines = await deps.store.baselines(snapshot.gpus.map((gpu) => gpu.uuid));
  const input: PlanInput = {
    runId: surveyed.value.id,
    version: 1,
    diagnosis,
    request,
    context: {host: hostOf(deps, request.host), policy: deps.policy, baselines},
    earlier,
    only: null,
    writing: NOTHING_WRITTEN,
    nowMs: deps.clock.now(),
  };
  const first = makePlan(input);
  if (!first.ok) return end(deps, surveyed.value, first.failure);
  const [writing, owners] = await Promise.all([writingOf(deps, first.value), askOwners(deps, first.value)]);
  const made = makePlan({...input, writing});
  if (!made.ok) return end(deps, surveyed.value, made.failure);
  const tooMany = refusePlan(made.value, deps.policy);
  if (tooMany !== null) return end(deps, surveyed.value, tooMany);
  const kept = refuseHeldTargets(made.value, request, await holdsOf(deps, request.host, request.requester));
  if (kept !== null) return end(deps, surveyed.value, kept);
  const known = withOwnerFacts(made.value, owners);
  const plan = withStops(known, await askOwned(deps, known, input), {...input, unticked: new Set()});
  return wait(deps, surveyed.value, plan, diagnosis, request);
}

/** Whom the plan may signal is looked at once more: a file in the middle of being written is worth a longer grace. */
async function writingOf(deps: EngineDeps, plan: Plan): Promise<Writing> {
  const pids = mayWritePids(plan);
  if (pids.length === 0) return NOTHING_WRITTEN;
  const look = await lookAtWrites(deps, plan.host, pids);
  return look === null ? nothingRead(pids) : growing(look);
}

async function wait(
  deps: EngineDeps,
  run: Run,
  plan: Plan,
  diagnosis: Diagnosis,
  request: ReclaimRequest,
): Promise<Result<Proposal>> {
  const atMs = deps.clock.now();
  const digest = deps.digest(digestText(plan));
  const expiresAtMs = atMs + deps.policy.approvalMs;
  const planned = {kind: 'planned', atMs, plan, digest, expiresAtMs} as const;
  if (plan.targets.length === 0 || request.dryRun) {
    const measured = judge({
      plan,
      before: diagnosis,
      after: diagnosis,
      results: new Map(),
      observations: new Map(),
      freedAfterMs: null,
      because: null,
      stopped: false,
      toleranceMiB: deps.policy.toleranceMiB,
    });
    const closed = await close(deps, run, {...measured, survivors: [], word: emptyWord(plan, diagnosis, request)}, [
      planned,
    ]);
    return closed.ok ? ok({run: closed.value, plan, digest, diagnosis}) : closed;
  }
  const waiting = await commit(deps, run, 'awaiting-go', [planned], {
    openApproval: {digest, expiresAtMs},
    releaseLease: true,
  });
  return waiting.ok ? ok({run: waiting.value, plan, digest, diagnosis}) : waiting;
}

/** "Nothing to do" is only said of what was seen: a GPU in the dark, or a holder that could not be identified, is unknown. */
function emptyWord(plan: Plan, diagnosis: Diagnosis, request: ReclaimRequest): OutcomeWord {
  if (request.dryRun && plan.targets.length > 0) return 'dry-run';
  const requested = new Set(plan.gpus.filter((gpu) => gpu.requested).map((gpu) => gpu.gpuUuid));
  const dark = diagnosis.gpus.some((gpu) => requested.has(gpu.gpuUuid) && gpu.state === 'unknown');
  const faceless = plan.kept.some(
    (kept) => kept.why === 'no-identity' && kept.gpuUuids.some((uuid) => requested.has(uuid)),
  );
  return requested.size === 0 || dark || faceless ? 'unknown' : 'nothing-to-do';
}

async function refuse(deps: EngineDeps, request: ReclaimRequest): Promise<Failure | null> {
  const nowMs = deps.clock.now();
  const open = await deps.store.openRuns();
  const mine = await deps.store.countBy(personId(request.requester), nowMs - deps.policy.limits.runsPerPersonMs);
  return refuseRequest({
    person: request.requester,
    host: hostOf(deps, request.host),
    policy: deps.policy,
    load: {
      openRuns: open.length,
      byPerson: mine.count,
      oldestByPersonAtMs: mine.oldestAtMs,
      paused: await deps.store.paused(),
    },
    dryRun: request.dryRun,
    nowMs,
  });
}

async function end(deps: EngineDeps, run: Run, failure: Failure): Promise<Result<Proposal>> {
  const atMs = deps.clock.now();
  const closed = await close(deps, run, bareOutcome('failed', failure), [{kind: 'failed', atMs, failure}]);
  if (!closed.ok) deps.log.error({runId: run.id}, 'could not close a failed run');
  return fail(failure);
}

function requesterOf(run: Run): string {
  const first = run.events[0];
  return first?.kind === 'requested' ? personId(first.request.requester) : 'unknown';
}
