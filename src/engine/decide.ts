/** A person's go, no, cancel or pause. Asked again who may; one conditional update lets one decision win. */
import {approverName, mayGo, mayResume, refuseHeldGo} from '../domain/authority.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import {type Person, personId} from '../domain/person.ts';
import type {Plan} from '../domain/plan.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import {bareOutcome, owed} from './commit.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import {holdsOf} from './holds.ts';
import type {DecideResult, GoRequest} from './ports.ts';

/** Takes the go and the run's lease in one update; the run then stands at `executing` and must be executed. */
export async function approve(deps: EngineDeps, go: GoRequest): Promise<Result<Run>> {
  const {run} = go;
  const planned = waitingPlan(run);
  if (planned === null) return fail({reason: 'run-ended', runId: run.id, outcome: run.phase});
  const request = run.events[0];
  if (request?.kind !== 'requested') throw new Error(`Internal error: run ${run.id} does not start with a request`);
  const allowed = mayGo({
    person: go.person,
    requester: request.request.requester,
    plan: planned.plan,
    host: hostOf(deps, run.host),
    policy: deps.policy,
    paused: await deps.store.paused(),
    reason: go.reason,
    atTerminal: go.atTerminal,
    practice: request.request.practice === true,
  });
  if (!allowed.may) return fail(allowed.failure);
  // Who may was asked of the plan that was read, so the go must be for that one.
  if (go.digest !== planned.digest)
    return fail({reason: 'plan-outdated', runId: run.id, given: go.digest.slice(0, 8), current: planned.digest});
  const holds = await holdsOf(deps, run.host, request.request.requester);
  const held = refuseHeldGo(planned.plan, request.request, go.person, holds, deps.policy.samePerson);
  if (held !== null) return fail(held);
  const nowMs = deps.clock.now();
  const events: readonly RunEvent[] = [
    {
      kind: 'approved',
      atMs: nowMs,
      by: go.person,
      digest: go.digest,
      choice: go.choice,
      breakGlass: allowed.breakGlass,
      reason: go.reason,
    },
  ];
  const result = await deps.store.decide({
    runId: run.id,
    digest: go.digest,
    nowMs,
    decision: 'approved',
    by: personId(go.person),
    events,
    phase: 'executing',
    outbox: owed(run, events),
    owner: deps.owner,
  });
  return settle(deps, run, result, events, go.digest);
}

/** "Leave it": closes a waiting run. */
export async function deny(deps: EngineDeps, run: Run, person: Person, reason: string | null): Promise<Result<Run>> {
  const atMs = deps.clock.now();
  return end(deps, run, 'denied', personId(person), [
    {kind: 'denied', atMs, by: person, reason},
    {kind: 'closed', atMs, outcome: bareOutcome('denied', null)},
  ]);
}

/** Anyone may stop: a waiting run closes; a working one is asked to stop before its next signal. */
export async function cancel(deps: EngineDeps, run: Run, person: Person, reason: string | null): Promise<Result<Run>> {
  const atMs = deps.clock.now();
  if (run.phase === 'awaiting-go') {
    return end(deps, run, 'cancelled', personId(person), [
      {kind: 'cancelled', atMs, by: personId(person), reason},
      {kind: 'closed', atMs, outcome: bareOutcome('cancelled', null)},
    ]);
  }
  if (run.phase === 'closed') return fail({reason: 'run-ended', runId: run.id, outcome: closedAs(run)});
  await deps.store.askToStop(run.id, personId(person), atMs);
  return ok(run);
}

/** Closes a waiting run whose time is over; told apart from a run that somebody decided meanwhile. */
export async function expire(deps: EngineDeps, run: Run): Promise<Result<Run>> {
  const atMs = deps.clock.now();
  return end(deps, run, 'expired', 'clock', [
    {kind: 'expired', atMs},
    {kind: 'closed', atMs, outcome: bareOutcome('expired', null)},
  ]);
}

/** Stops all signals between rungs, everywhere. Anybody may. */
export async function pause(deps: EngineDeps, person: Person): Promise<void> {
  await deps.store.setPaused(personId(person), deps.clock.now());
}

export async function resume(deps: EngineDeps, person: Person): Promise<Result<null>> {
  if (!mayResume(person, deps.policy))
    return fail({
      reason: 'not-an-approver',
      person: personId(person),
      approvers: deps.policy.approvers.map(approverName),
    });
  await deps.store.setPaused(null, deps.clock.now());
  return ok(null);
}

/** The plan that waits for a go, with its digest and expiry; null if none waits. */
export function waitingPlan(
  run: Run,
): {readonly plan: Plan; readonly digest: string; readonly expiresAtMs: number} | null {
  if (run.phase !== 'awaiting-go') return null;
  const planned = run.events.findLast((event) => event.kind === 'planned');
  return planned?.kind === 'planned' ? planned : null;
}

async function end(
  deps: EngineDeps,
  run: Run,
  decision: 'denied' | 'cancelled' | 'expired',
  by: string,
  events: readonly RunEvent[],
): Promise<Result<Run>> {
  const result = await deps.store.decide({
    runId: run.id,
    digest: null,
    nowMs: deps.clock.now(),
    decision,
    by,
    events,
    phase: 'closed',
    outbox: owed(run, events),
    owner: null,
  });
  return settle(deps, run, result, events);
}

function settle(
  deps: EngineDeps,
  run: Run,
  result: DecideResult,
  events: readonly RunEvent[],
  digest = '',
): Result<Run> {
  if (result.won) {
    deps.announcer.announce(result.run, events);
    return ok(result.run);
  }
  return fail(lost(run, result, digest));
}

function lost(run: Run, result: Exclude<DecideResult, {readonly won: true}>, given: string): Failure {
  switch (result.why) {
    case 'already-decided':
      return {reason: 'already-decided', runId: run.id, by: result.by, decision: result.decision, atMs: result.atMs};
    case 'outdated':
      return {reason: 'plan-outdated', runId: run.id, given: given.slice(0, 8), current: result.currentDigest};
    case 'expired':
      return {reason: 'approval-expired', runId: run.id, atMs: result.atMs};
    case 'none':
      return {reason: 'run-ended', runId: run.id, outcome: closedAs(run)};
  }
}

function closedAs(run: Run): string {
  const closed = run.events.findLast((event) => event.kind === 'closed');
  return closed?.kind === 'closed' ? closed.outcome.word : run.phase;
}
