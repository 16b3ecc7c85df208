/** At start: runs whose worker died. Each is looked at, closed with what was found, and asked about anew. Never signalled. */

import {type AttemptResult, judge} from '../domain/judge.ts';
import {lateArrival} from '../domain/late-arrival.ts';
import type {Run} from '../domain/run.ts';
import {bareOutcome, close} from './commit.ts';
import {expire, waitingPlan} from './decide.ts';
import type {EngineDeps} from './deps.ts';
import type {Recovered} from './ports.ts';
import {propose} from './propose.ts';
import {diagnoseWithMemory, survey} from './survey.ts';

/** The host stamps its uptime in steps of 10 ms. */
const SETTLE_MS = 100;

/** Open runs that nobody works on any more, without touching them. */
export async function abandoned(deps: EngineDeps): Promise<readonly Run[]> {
  const found: Run[] = [];
  for (const run of await deps.store.openRuns()) {
    if (run.phase === 'awaiting-go') continue;
    const owner = await deps.store.leaseOf(run.id);
    if (owner === null || !deps.isAlive(owner)) found.push(run);
  }
  return found;
}

/** Closes waiting runs past their time and takes up the abandoned ones. */
export async function recover(deps: EngineDeps): Promise<readonly Recovered[]> {
  for (const run of await deps.store.openRuns()) {
    const waiting = waitingPlan(run);
    if (waiting !== null && waiting.expiresAtMs <= deps.clock.now()) await expire(deps, run);
  }
  const recovered: Recovered[] = [];
  for (const run of await abandoned(deps)) {
    const dead = await deps.store.leaseOf(run.id);
    // Another program may be recovering it at this very moment: one of us gets the lease.
    if (!(await deps.store.takeLease(run.id, deps.owner, dead))) continue;
    const closed = await takeUp(deps, run);
    if (closed !== null) recovered.push(closed);
  }
  return recovered;
}

async function takeUp(deps: EngineDeps, run: Run): Promise<Recovered | null> {
  const request = run.events[0]?.kind === 'requested' ? run.events[0].request : null;
  const planned = run.events.findLast((event) => event.kind === 'planned');
  const surveyed = run.events.findLast((event) => event.kind === 'surveyed');
  if (run.phase === 'looking' || planned?.kind !== 'planned' || surveyed?.kind !== 'surveyed') {
    const closed = await close(deps, run, bareOutcome('interrupted', null));
    return closed.ok ? {run: closed.value, proposal: null} : null;
  }
  const pids = planned.plan.targets.map((target) => target.identity.pid);
  const look = await survey(deps, run.host, {match: request?.match ?? null, pids});
  const outcome = judge({
    plan: planned.plan,
    before: await diagnoseWithMemory(deps, surveyed.snapshot),
    after: look.ok ? look.value.diagnosis : null,
    results: resultsOf(run),
    observations: new Map(),
    freedAfterMs: null,
    because: look.ok ? null : look.failure,
    stopped: true,
    toleranceMiB: deps.policy.toleranceMiB,
  });
  const closed = await close(deps, run, {...outcome, word: 'interrupted'}, [
    {
      kind: 'looked-again',
      atMs: deps.clock.now(),
      snapshot: look.ok ? look.value.snapshot : null,
      failure: look.ok ? null : look.failure,
    },
  ]);
  if (!closed.ok) return null;
  if (outcome.survivors.length === 0 || request === null) return {run: closed.value, proposal: null};
  // A signal of the dead worker may still be on its way: a fresh plan is only worth making once it can't arrive any more.
  const late = look.ok ? lateArrival([closed.value], look.value.snapshot) : null;
  if (late?.reason === 'signal-may-still-arrive') await deps.clock.wait(late.waitMs + SETTLE_MS);
  const again = await propose(deps, request);
  return {run: closed.value, proposal: again.ok && again.value.run.phase === 'awaiting-go' ? again.value : null};
}

/** An intent without a result may have been delivered: it counts as sent. */
function resultsOf(run: Run): ReadonlyMap<number, AttemptResult> {
  const results = new Map<number, AttemptResult>();
  for (const event of run.events) {
    if (event.kind === 'signal-intended') {
      for (const identity of event.identities)
        results.set(identity.pid, {signal: event.signal, result: 'sent', signalled: true});
    }
    if (event.kind === 'signal-result')
      results.set(event.pid, {signal: event.signal, result: event.result, signalled: event.result === 'sent'});
  }
  return results;
}
