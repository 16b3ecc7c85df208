/** The engine's verbs over one set of dependencies, with a broken store turned into the failure that it is. */
import type {Failure, Result} from '../domain/failure.ts';
import {fail, ok} from '../domain/failure.ts';
import {answerIdle, finishEnd, noticesOwed, noticeTold} from './campaign-notices.ts';
import {campaignReport, startHold, stopHold} from './campaigns.ts';
import {choose} from './choose.ts';
import {approve, cancel, deny, expire, pause, resume} from './decide.ts';
import type {EngineDeps, GivenDeps} from './deps.ts';
import {checkWatch, dueReports} from './due-reports.ts';
import {execute} from './execute.ts';
import {checkHeld} from './held-processes.ts';
import {makeLastSeen} from './last-seen.ts';
import {lookAtHosts} from './look-at-hosts.ts';
import {lookLater, stopLooking} from './look-later.ts';
import {endReport, makeReport} from './make-report.ts';
import {offer} from './offer.ts';
import type {Engine} from './ports.ts';
import {propose} from './propose.ts';
import {recover} from './recover.ts';
import {comingSamples, takeSample} from './sampling.ts';
import {addSchedule, keepFileSchedules, listSchedules, previewSchedule, removeSchedule} from './schedules.ts';
import {lookWithEarlier, survey} from './survey.ts';
import {makeTurns} from './turns.ts';
import {surveyUnasked} from './unasked.ts';

/** Of what is owed, the soonest. */
const LOOKS_AT_ONCE = 20;

export function makeEngine(given: GivenDeps): Engine {
  const deps: EngineDeps = {...given, turns: makeTurns(given.clock)};
  const lastSeen = makeLastSeen(deps);
  return {
    probe: (host) => guard(() => deps.remote.host(host).probe({literals: literalsOf(deps), pids: []})),
    look: (host, how) =>
      guard(() => (how?.unasked === true ? surveyUnasked : survey)(deps, host, {match: null, pids: []})),
    diagnose: (host) => guard(() => lookWithEarlier(deps, host)),
    propose: (request) => guard(() => propose(deps, request)),
    offer: (run) => guard(() => offer(deps, run)),
    offerOf: (id) => guard(async () => ok(await deps.store.offers.load(id))),
    choose: (choice) => guard(() => choose(deps, choice)),
    approve: (go) => guard(() => approve(deps, go)),
    execute: (run) => guard(() => execute(deps, run)),
    deny: (run, person, reason) => guard(() => deny(deps, run, person, reason)),
    cancel: (run, person, reason) => guard(() => cancel(deps, run, person, reason)),
    expire: (run) => guard(() => expire(deps, run)),
    pause: (person) =>
      guard(async () => {
        await pause(deps, person);
        return ok(null);
      }),
    resume: (person) => guard(() => resume(deps, person)),
    paused: () => guard(async () => ok(await deps.store.paused())),
    recover: () => guard(async () => ok(await recover(deps))),
    laterLooks: () => guard(async () => ok(await deps.store.laterLooks(LOOKS_AT_ONCE))),
    lookLater: (id, how) => guard(() => lookLater(deps, id, how)),
    stopLooking: (run, person) => guard(() => stopLooking(deps, run, person)),
    report: (hosts) => guard(async () => ok(await lookAtHosts(deps, hosts))),
    lastSeen: () => guard(async () => ok(await lastSeen())),
    previewSchedule: (asked) => previewSchedule(deps, asked),
    addSchedule: (asked) => guard(() => addSchedule(deps, asked)),
    schedules: () => guard(() => listSchedules(deps)),
    removeSchedule: (given, person) => guard(() => removeSchedule(deps, given, person)),
    keepFileSchedules: (named) => guard(() => keepFileSchedules(deps, named)),
    dueReports: (startedAtMs) => guard(() => dueReports(deps, startedAtMs)),
    checkWatch: (id) => guard(() => checkWatch(deps, id)),
    makeReport: (report, over) => guard(() => makeReport(deps, report, over)),
    endReport: (report, telling) => guard(() => endReport(deps, report, telling)),
    startHold: (asked) => guard(() => startHold(deps, asked)),
    stopHold: (given, person) => guard(() => stopHold(deps, given, person)),
    campaignReport: (given) => guard(() => campaignReport(deps, given)),
    holds: () => guard(async () => ok(await deps.store.campaigns.all(deps.clock.now()))),
    comingSamples: () =>
      guard(async () => {
        const nowMs = deps.clock.now();
        return ok(comingSamples(await deps.store.campaigns.live(), nowMs));
      }),
    takeSample: (id, host) => guard(() => takeSample(deps, id, host)),
    noticesOwed: (startedAtMs) => guard(() => noticesOwed(deps, startedAtMs)),
    noticeTold: (notice, telling) => guard(() => noticeTold(deps, notice, telling)),
    answerIdle: (asked, person) => guard(() => answerIdle(deps, asked, person)),
    checkHeld: (id) => guard(() => checkHeld(deps, id)),
    finishEnd: (id) => guard(() => finishEnd(deps, id)),
    noteHold: (id, what) =>
      guard(async () => {
        await deps.store.campaigns.note(id, {what, atMs: deps.clock.now(), by: ''});
        return ok(null);
      }),
    keepHoldCard: (id, card) =>
      guard(async () => {
        await deps.store.campaigns.keepCard(id, card);
        return ok(null);
      }),
    recent: (limit) => guard(async () => ok(await deps.store.recent(limit))),
    find: (prefix) =>
      guard(async () => {
        const [first, ...more] = await deps.store.find(prefix);
        if (first !== undefined && more.length === 0) return ok(first);
        const nearest = first === undefined ? [] : [first, ...more].slice(0, 4).map((run) => run.id);
        return fail({reason: 'run-unknown', given: prefix, nearest});
      }),
    openRuns: () => guard(async () => ok(await deps.store.openRuns())),
    openRunOn: (host) => guard(async () => ok(await deps.store.openRunOn(host))),
  };
}

function literalsOf(deps: EngineDeps): readonly string[] {
  return [...new Set(deps.policy.workloads.flatMap((workload) => workload.literals))];
}

/** A store's error carries the failure that it stands for; anything else thrown is a bug and goes on. */
async function guard<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await act();
  } catch (error) {
    const failure = storeFailure(error);
    if (failure === null) throw error;
    return fail(failure);
  }
}

function storeFailure(error: unknown): Failure | null {
  if (!(error instanceof Error) || !('failure' in error)) return null;
  const {failure} = error as {failure: Failure};
  return failure.reason === 'store-unwritable' || failure.reason === 'store-unreadable' ? failure : null;
}
