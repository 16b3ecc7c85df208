/** Schedules: added, listed, removed. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {nearest} from '../domain/nearest.ts';
import {type Person, personId} from '../domain/person.ts';
import {titleOf} from '../domain/roles.ts';
import {
  isRepeating,
  isWaiting,
  type NewSchedule,
  type Schedule,
  type ScheduleId,
  scheduleId,
  type Watch,
} from '../domain/schedule.ts';
import {whenPhrase} from '../domain/schedule-phrase.ts';
import {pin} from '../domain/watch.ts';
import type {EngineDeps} from './deps.ts';
import type {KeptSchedule, ShownSchedule} from './report-ports.ts';
import {survey} from './survey.ts';

const MOST_SCHEDULES = 200;
const TIMES_SHOWN = 3;
/** Closer than this, every report would meet the one before. */
const LEAST_GAP_MS = 5 * 60_000;
/** So many due times are looked at for their gaps. */
const GAPS_SEEN = 30;
export const FROM_FILE = 'file:';

export async function addSchedule(deps: EngineDeps, asked: NewSchedule): Promise<Result<ShownSchedule>> {
  const nowMs = deps.clock.now();
  const all = await deps.store.schedules.all(nowMs);
  if (all.filter((kept) => kept.nextMs !== null).length >= MOST_SCHEDULES)
    return fail({reason: 'too-many-schedules', limit: MOST_SCHEDULES});
  const newId = (): ScheduleId => scheduleId(`s${deps.newRunId().slice(0, 5)}`);
  const begun = await begin(deps, {...asked, id: newId(), createdAtMs: nowMs});
  if (!begun.ok) return begun;
  let kept = begun.value;
  // Short enough to be typed, so that two may meet.
  while (!(await deps.store.schedules.add(kept))) kept = {...kept, schedule: {...kept.schedule, id: newId()}};
  const {schedule} = kept;
  deps.log.info({schedule: schedule.id, by: schedule.by, when: schedule.when}, 'a schedule was added');
  return ok(shown(deps, {...kept, message: null}, null, schedule.createdAtMs));
}

/** Its first due time, or what it waits for; refused where neither comes. */
async function begin(deps: EngineDeps, schedule: Schedule): Promise<Result<Omit<KeptSchedule, 'message'>>> {
  const {when, createdAtMs} = schedule;
  if (isWaiting(when)) {
    const watch = await firstWatch(deps, schedule);
    return watch.ok ? ok({schedule, nextMs: createdAtMs + deps.policy.watchEveryMs, watch: watch.value}) : watch;
  }
  const times = timesOf(deps, schedule);
  return times.ok ? ok({schedule, nextMs: times.value[0] ?? createdAtMs, watch: null}) : times;
}

/** For a form that asks once more before anything is kept. */
export function previewSchedule(deps: EngineDeps, asked: NewSchedule): Result<readonly number[]> {
  if (isWaiting(asked.when)) return ok([]);
  const times = timesOf(deps, {...asked, id: scheduleId('preview'), createdAtMs: deps.clock.now()});
  return times.ok ? ok(times.value.slice(0, TIMES_SHOWN)) : times;
}

/** Where a time decides: the first due times, one at least; refused where none comes, or they come too often. */
function timesOf(deps: EngineDeps, schedule: Schedule): Result<readonly number[]> {
  const {when, createdAtMs, zone} = schedule;
  const unreadable = (problem: string, wayOut: string) =>
    fail({reason: 'schedule-unreadable', phrase: `${whenPhrase(when)} ${zone}`, problem, wayOut});
  if (when.kind === 'now') return ok([createdAtMs]);
  const times = deps.nextTimes(schedule, createdAtMs, isRepeating(when) ? GAPS_SEEN : 1);
  if (times.length === 0)
    return unreadable(`that time is over in ${zone}, or never comes`, 'name one that is still to come');
  const tooClose = times.some((atMs, nth) => nth > 0 && atMs - (times[nth - 1] ?? 0) < LEAST_GAP_MS);
  if (tooClose) return unreadable('it comes more often than every 5m', 'leave at least 5 minutes between two reports');
  return ok(times);
}

async function firstWatch(deps: EngineDeps, {when, hosts}: Schedule): Promise<Result<Watch>> {
  if (when.kind !== 'exit') return ok({kind: 'idle', sinceMs: null, lastLookMs: null, seen: ''});
  const [host] = hosts;
  if (host?.kind !== 'host') throw new Error('Internal error: a PID was to be pinned on no single host');
  const look = await survey(deps, host.name, {match: null, pids: [when.pid]});
  if (!look.ok) return look;
  const pinned = pin(look.value.snapshot, when.pid, titleOf);
  return pinned === null
    ? fail({reason: 'process-absent', host: host.name, pid: when.pid})
    : ok({kind: 'exit', pinned});
}

export async function listSchedules(deps: EngineDeps): Promise<Result<readonly ShownSchedule[]>> {
  const nowMs = deps.clock.now();
  const all = await deps.store.schedules.all(nowMs);
  const last = await Promise.all(all.map(({schedule}) => deps.store.schedules.reportsOf(schedule.id, 1)));
  const listed = all.map((kept, nth) => shown(deps, kept, last[nth]?.[0] ?? null, nowMs));
  // One that is over and told is history; one whose end nobody heard is not.
  return ok(listed.filter((one) => one.nextMs !== null || (one.last !== null && one.last.phase !== 'told')));
}

export async function removeSchedule(deps: EngineDeps, given: string, person: Person): Promise<Result<KeptSchedule>> {
  const kept = await deps.store.schedules.all(deps.clock.now());
  const all = kept.map(({schedule}) => schedule);
  const wanted = given.toLowerCase();
  const named = all.filter(({id}) => id.toLowerCase() === wanted || id.toLowerCase() === FROM_FILE + wanted);
  const fits = named.length > 0 || wanted === '' ? named : all.filter(({id}) => id.toLowerCase().startsWith(wanted));
  const [found, ...more] = fits;
  if (found === undefined || more.length > 0) {
    const ids =
      more.length > 0
        ? fits.map(({id}) => id)
        : nearest(
            given,
            all.map(({id}) => id),
          );
    return fail({reason: 'schedule-unknown', given, nearest: ids.slice(0, 2)});
  }
  if (found.id.startsWith(FROM_FILE)) return fail({reason: 'schedule-in-file', name: found.id.slice(FROM_FILE.length)});
  const removed = await deps.store.schedules.remove(found.id, personId(person), deps.clock.now());
  if (!removed) return fail({reason: 'schedule-unknown', given, nearest: []});
  deps.log.info({schedule: found.id, by: personId(person)}, 'a schedule was removed');
  const removedOne = kept.find(({schedule}) => schedule.id === found.id);
  if (removedOne === undefined) throw new Error(`Internal error: schedule ${found.id} was listed and is not kept`);
  return ok(removedOne);
}

export async function keepFileSchedules(
  deps: EngineDeps,
  named: ReadonlyMap<string, NewSchedule>,
): Promise<Result<null>> {
  const nowMs = deps.clock.now();
  const all = await deps.store.schedules.all(nowMs);
  for (const {schedule} of all)
    if (schedule.id.startsWith(FROM_FILE) && !named.has(schedule.id.slice(FROM_FILE.length)))
      await deps.store.schedules.remove(schedule.id, 'file', nowMs);
  for (const [name, asked] of named) {
    const schedule: Schedule = {...asked, id: scheduleId(FROM_FILE + name), createdAtMs: nowMs};
    const old = all.find((kept) => kept.schedule.id === schedule.id)?.schedule;
    if (old !== undefined && isSame({...schedule, createdAtMs: old.createdAtMs}, old)) continue;
    const begun = await begin(deps, schedule);
    if (!begun.ok) {
      // One that never comes must not keep the bot from all the others.
      deps.log.error({schedule: schedule.id, failure: begun.failure}, 'a schedule of the policy file was left out');
      continue;
    }
    await deps.store.schedules.put(begun.value);
  }
  return ok(null);
}

function isSame(a: Schedule, b: Schedule): boolean {
  const keys = Object.keys(a).toSorted() as (keyof Schedule)[];
  return JSON.stringify(keys.map((key) => a[key])) === JSON.stringify(keys.map((key) => b[key]));
}

function shown(deps: EngineDeps, kept: KeptSchedule, last: ShownSchedule['last'], nowMs: number): ShownSchedule {
  const {schedule, nextMs} = kept;
  const nextTimes =
    nextMs === null || isWaiting(schedule.when)
      ? []
      : [nextMs, ...deps.nextTimes(schedule, Math.max(nextMs, nowMs), TIMES_SHOWN - 1)];
  return {...kept, nextTimes, last};
}
