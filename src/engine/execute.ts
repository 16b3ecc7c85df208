/**
 * An approved run: look again, walk the ladder, prove the result. The decisions are the domain's; this file keeps the
 * order of things: intent on disk before a signal, a pause or a stop honoured before each rung, an outcome always.
 */
import type {Diagnosis} from '../domain/diagnosis.ts';
import {type Move, nextMove} from '../domain/escalation.ts';
import {type Failure, ok, type Result} from '../domain/failure.ts';
import {judge} from '../domain/judge.ts';
import {parseSignal} from '../domain/parse/signal-output.ts';
import type {Plan, Target} from '../domain/plan.ts';
import {recheck} from '../domain/recheck.ts';
import type {GoChoice, Run, RunEvent} from '../domain/run.ts';
import type {Stop} from '../domain/stop-owner.ts';
import {standingStops} from '../domain/stop-plan.ts';
import {batchFor} from './batch.ts';
import {bareOutcome, close, commit} from './commit.ts';
import type {EngineDeps} from './deps.ts';
import {intentOf} from './intent.ts';
import {Ladder} from './ladder.ts';
import {lookAgain} from './look-again.ts';
import type {Look} from './ports.ts';
import {RunOn} from './run-on.ts';
import {diagnoseWithMemory, lookDeeper, type Surveyed, survey, surveyFor} from './survey.ts';
import {lookBeforeKill} from './writes.ts';

/** Ends the run with an outcome whatever happens; a failure comes back only if even that could not be written. */
export async function execute(deps: EngineDeps, run: Run): Promise<Result<Run>> {
  const approved = readApproved(run);
  const {plan} = approved;
  const targets = plan.targets.map((target) => target.identity.pid);
  const look = await surveyFor(deps, run.host, plan, {match: null, pids: targets});
  if (!look.ok)
    return close(deps, run, bareOutcome('failed', look.failure), [
      {kind: 'failed', atMs: deps.clock.now(), failure: look.failure},
    ]);

  const checked = recheck(plan, look.value.diagnosis);
  const rechecked: RunEvent = {
    kind: 'rechecked',
    atMs: deps.clock.now(),
    snapshot: look.value.snapshot,
    drift: checked.drift,
  };
  const going = await commit(deps, run, 'executing', [rechecked]);
  if (!going.ok) return going;
  const before = await diagnoseWithMemory(deps, approved.surveyed);
  if (!checked.go) {
    const measured = judge({
      plan,
      before,
      after: look.value.diagnosis,
      results: new Map(),
      observations: new Map(),
      freedAfterMs: null,
      because: null,
      stopped: false,
      toleranceMiB: deps.policy.toleranceMiB,
    });
    return close(deps, going.value, {...measured, word: 'stood-down'});
  }
  return walk(deps, going.value, {
    plan,
    choice: approved.choice,
    before,
    targets: checked.targets,
    stops: standingStops(plan, checked),
    look: look.value,
  });
}

interface Approved {
  readonly plan: Plan;
  readonly choice: GoChoice;
  readonly before: Diagnosis;
  readonly targets: readonly Target[];
  readonly stops: readonly Stop[];
  readonly look: Surveyed;
}

async function walk(deps: EngineDeps, started: Run, approved: Approved): Promise<Result<Run>> {
  const ladder = new Ladder(approved.targets, deps.clock, approved.stops);
  const runOn = new RunOn(deps.clock, approved.plan.writing);
  // The uptime was read by the first look: what deeper ones took since is no part of what a signal may be late by.
  const lookedAtTicks = deps.clock.ticks() - approved.look.deeperMs;
  let run = started;
  let closing: Look | null = null;
  let because: Failure | null = null;
  let stopped = false;

  for (let rung = 0; ; ) {
    const move = nextMove(ladder.state(approved.choice, approved.plan, runOn));
    if (move.do === 'stop') break;
    const stop = await stopWord(deps, run);
    if (stop !== null) {
      stopped = true;
      const noted = await commit(deps, run, 'executing', [stop]);
      if (!noted.ok) return noted;
      run = noted.value;
      break;
    }
    if (move.do === 'look') {
      const looked = await lookBeforeKill(deps, run, {plan: approved.plan, runOn, pids: move.pids});
      if (!looked.ok) return looked;
      run = looked.value;
      continue;
    }
    if (move.do !== 'watch') rung += 1;
    const rungResult = await step(deps, run, {approved, ladder, move, rung, lookedAtTicks, writers: runOn.writers()});
    runOn.waited();
    if (!rungResult.ok) return rungResult;
    run = rungResult.value.run;
    closing = rungResult.value.closing ?? closing;
    if (rungResult.value.lost !== null) {
      because = rungResult.value.lost;
      const again = await lookAgain(deps, run, ladder, rungResult.value.notAfterUptimeMs);
      if (!again.ok) return again;
      run = again.value.run;
      closing = again.value.look;
      if (closing === null) break;
    }
  }

  if (closing === null || !ladder.isSettledBy(closing.snapshot)) {
    const last = await survey(deps, run.host, {
      match: null,
      pids: approved.targets.map((target) => target.identity.pid),
    });
    closing = last.ok ? last.value : null;
    if (!last.ok) because = last.failure;
  }
  // What keeps a survivor, and what a next start would stumble over: faults since the go, shared memory, the old port.
  if (closing !== null && (ladder.results().size > 0 || ladder.stops.called())) {
    closing = await lookDeeper(deps, closing, {
      pids: ladder.left().map((target) => target.identity.pid),
      sinceUptimeMs: approved.look.snapshot.uptimeMs,
    });
  }
  const outcome = judge({
    plan: approved.plan,
    before: approved.before,
    after: closing?.diagnosis ?? null,
    results: ladder.results(),
    observations: ladder.observations(),
    freedAfterMs: ladder.freedAfterMs(),
    because: closing === null ? because : null,
    stopped,
    ownerCalled: ladder.stops.called(),
    toleranceMiB: deps.policy.toleranceMiB,
  });
  const looked: RunEvent = {
    kind: 'looked-again',
    atMs: deps.clock.now(),
    snapshot: closing?.snapshot ?? null,
    failure: closing === null ? because : null,
  };
  return close(deps, run, stopped ? {...outcome, word: 'cancelled'} : outcome, [looked]);
}

interface Step {
  readonly approved: Approved;
  readonly ladder: Ladder;
  readonly move: Extract<Move, {readonly watchMs: number}>;
  readonly rung: number;
  readonly lookedAtTicks: number;
  readonly writers: ReadonlySet<number>;
}

/** One rung: intent, exec, results. `lost` is set when the exec did not come back whole. */
async function step(
  deps: EngineDeps,
  run: Run,
  input: Step,
): Promise<
  Result<{
    readonly run: Run;
    readonly closing: Look | null;
    readonly lost: Failure | null;
    readonly notAfterUptimeMs: number;
  }>
> {
  const {ladder, rung, move} = input;
  const batch = batchFor({
    ...input,
    run,
    policy: deps.policy,
    nowTicks: deps.clock.ticks(),
    approvedBy: readApproved(run).by,
  });
  let at = run;
  const intent = intentOf(move, batch, ladder, rung, deps.clock.now());
  if (intent !== null) {
    // If the intent cannot be written, nothing is sent and nobody is asked for anything.
    const written = await commit(deps, run, 'executing', [intent]);
    if (!written.ok) return written;
    at = written.value;
    if (move.do === 'stop-owner') ladder.intendStop(move.at);
    if (move.do === 'signal') ladder.intend(move.pids, move.signal);
  }
  const answer = await deps.remote.host(run.host).signal(batch, (event) => {
    ladder.hear(event);
    deps.announcer.progress(at, event);
  });
  const report = answer.ok ? parseSignal(answer.value, deps.clock.now()) : answer;
  if (report.ok) for (const event of report.value.events) ladder.hear(event);
  const events = ladder.drain(rung, deps.clock.now());
  const lost = report.ok && report.value.complete ? null : report.ok ? lostFailure(run) : report.failure;
  if (lost !== null) events.push({kind: 'link-lost', atMs: deps.clock.now(), failure: lost});
  // A grace that runs on step by step brings nothing new for long.
  const written = events.length === 0 ? ok(at) : await commit(deps, at, 'executing', events);
  if (!written.ok) return written;
  const closing = report.ok ? report.value.closing : null;
  return {
    ok: true,
    value: {
      run: written.value,
      lost,
      notAfterUptimeMs: batch.notAfterUptimeMs,
      closing: closing === null ? null : {snapshot: closing, diagnosis: await diagnoseWithMemory(deps, closing)},
    },
  };
}

function lostFailure(run: Run): Failure {
  return {reason: 'link-lost', host: run.host, mayHaveActed: true};
}

/** A pause or a request to stop, as the event to record; null to go on. */
async function stopWord(deps: EngineDeps, run: Run): Promise<RunEvent | null> {
  const asked = await deps.store.stopAsked(run.id);
  const paused = await deps.store.paused();
  const by = asked?.by ?? paused?.by;
  if (by === undefined) return null;
  return {
    kind: 'cancelled',
    atMs: deps.clock.now(),
    by,
    reason: asked === null ? 'paused' : null,
  };
}

/** What was approved, from the run's own events. Another shape of run here is a bug. */
function readApproved(run: Run) {
  const planned = run.events.findLast((event) => event.kind === 'planned');
  const approved = run.events.findLast((event) => event.kind === 'approved');
  const surveyed = run.events.findLast((event) => event.kind === 'surveyed');
  if (planned?.kind !== 'planned' || approved?.kind !== 'approved' || surveyed?.kind !== 'surveyed') {
    throw new Error(`Internal error: run ${run.id} is to be executed without a plan and a go`);
  }
  if (approved.digest !== planned.digest)
    throw new Error(`Internal error: run ${run.id} was approved for another plan`);
  return {plan: planned.plan, choice: approved.choice, by: approved.by, surveyed: surveyed.snapshot};
}
