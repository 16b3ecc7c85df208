/** What is due: taken once, marked late where nobody was there, and one for all that were missed. */
import {ok, type Result} from '../domain/failure.ts';
import {chosenHosts} from '../domain/report-words.ts';
import {isWaiting, type Report, type ScheduleId, type Why} from '../domain/schedule.ts';
import {howEnded, watchIdle} from '../domain/watch.ts';
import type {EngineDeps} from './deps.ts';
import {someAtATime} from './look-at-hosts.ts';
import type {KeptSchedule} from './report-ports.ts';
import {survey} from './survey.ts';
import {surveyUnasked} from './unasked.ts';

/** A report that is begun later than this, ms, is late, whatever kept us. */
export const LATE_MS = 60_000;
const OWED_AT_ONCE = 1_000;
/** Missed due times are counted up to here. */
const MOST_MISSED = 10_000;
/** Looks of an idle watch that are further apart than two intervals and this, ms, are no unbroken row. */
const GAP_SLACK_MS = 60_000;

export interface Due {
  readonly reports: readonly Report[];
  readonly watches: readonly ScheduleId[];
  readonly nextMs: number | null;
}

export async function dueReports(deps: EngineDeps, startedAtMs: number): Promise<Result<Due>> {
  const {schedules} = deps.store;
  const watches: ScheduleId[] = [];
  for (const kept of await schedules.due(deps.clock.now())) {
    if (isWaiting(kept.schedule.when)) watches.push(kept.schedule.id);
    else await take(deps, kept, startedAtMs);
  }
  const reports = await schedules.owed(OWED_AT_ONCE);
  // A watch that is due is looked at now, for as long as its host takes: it is no time to wait for.
  const looking = new Set(watches);
  const coming = (await schedules.all(deps.clock.now())).flatMap(({schedule, nextMs}) =>
    nextMs === null || looking.has(schedule.id) ? [] : [nextMs],
  );
  return ok({reports, watches, nextMs: coming.length === 0 ? null : Math.min(...coming)});
}

/** The last due time that has come; those before it are only counted. */
async function take(deps: EngineDeps, {schedule, nextMs}: KeptSchedule, startedAtMs: number): Promise<void> {
  if (nextMs === null) return;
  const atMs = deps.clock.now();
  let dueAtMs = nextMs;
  let missed = 0;
  let [following] = deps.nextTimes(schedule, dueAtMs, 1);
  while (following !== undefined && following <= atMs && missed < MOST_MISSED) {
    dueAtMs = following;
    missed += 1;
    [following] = deps.nextTimes(schedule, dueAtMs, 1);
  }
  if (following !== undefined && following <= atMs) [following] = deps.nextTimes(schedule, atMs, 1);
  const taken = await deps.store.schedules.claim({
    id: schedule.id,
    fromMs: nextMs,
    nextMs: following ?? null,
    dueAtMs,
    atMs,
    late: nextMs < startedAtMs || atMs - dueAtMs > LATE_MS,
    missed,
    why: {kind: 'time'},
  });
  deps.log.info({schedule: schedule.id, dueAtMs, missed, taken}, 'a report is due');
}

/** One look for a schedule that waits: either its report is due now, or it is looked at again later. */
export async function checkWatch(deps: EngineDeps, id: ScheduleId): Promise<Result<null>> {
  const kept = await deps.store.schedules.load(id);
  if (kept === null || kept.nextMs === null || kept.watch === null || kept.nextMs > deps.clock.now()) return ok(null);
  const come = kept.watch.kind === 'exit' ? await exited(deps, kept) : await idle(deps, kept);
  const atMs = deps.clock.now();
  if (come.why === null) {
    await deps.store.schedules.keepWatch(id, kept.nextMs, atMs + deps.policy.watchEveryMs, come.watch);
    return ok(null);
  }
  const {why} = come;
  const claim = {id, fromMs: kept.nextMs, nextMs: null, dueAtMs: atMs, atMs, late: false, missed: 0, why};
  await deps.store.schedules.claim(claim);
  return ok(null);
}

interface Come {
  readonly why: Why | null;
  readonly watch: NonNullable<KeptSchedule['watch']>;
}

/** A look that fails tells nothing of the process: it is looked at again. */
async function exited(deps: EngineDeps, {watch}: KeptSchedule): Promise<Come> {
  if (watch?.kind !== 'exit') throw new Error('Internal error: no process is waited for');
  const {pinned} = watch;
  if (!deps.hosts.has(pinned.host)) return {why: {kind: 'exited', pinned, how: 'host-gone'}, watch};
  const look = await survey(deps, pinned.host, {match: null, pids: [pinned.pid]});
  const how = look.ok ? howEnded(pinned, look.value.snapshot) : null;
  return {why: how === null ? null : {kind: 'exited', pinned, how}, watch};
}

async function idle(deps: EngineDeps, {schedule, watch}: KeptSchedule): Promise<Come> {
  const {when} = schedule;
  if (watch?.kind !== 'idle' || when.kind !== 'idle') throw new Error('Internal error: no idle time is waited for');
  const hosts = chosenHosts(schedule.hosts, [...deps.hosts.values()]).filter(({gone}) => !gone);
  const looks = await someAtATime(hosts, 8, async ({name}) => {
    const look = await surveyUnasked(deps, name, {match: null, pids: []});
    return look.ok ? look.value.snapshot : null;
  });
  const nowMs = deps.clock.now();
  const next = watchIdle(watch, looks, nowMs, 2 * deps.policy.watchEveryMs + GAP_SLACK_MS);
  const {sinceMs} = next;
  const isOver = sinceMs !== null && nowMs - sinceMs >= when.forMs;
  return {why: isOver ? {kind: 'idle', sinceMs} : null, watch: next};
}
