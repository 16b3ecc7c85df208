/**
 * When a schedule is due. croner does the arithmetic of the wall clock; what happens where that clock jumps is decided here,
 * held by `test/schedule/next-times.test.ts`, and told in the README:
 *
 * - One time of a day (`at 02:30`, `every day 02:30`, a cron pattern of one hour and one minute) is due once on each of its
 *   days. A time that the spring jump leaves out is due at the first minute after the jump; a time that comes twice in
 *   autumn is due the first time.
 * - A cron pattern with a star, a list, a range or a step in its minutes or hours goes by the wall clock: what the jump
 *   leaves out isn't due that day, what comes twice is due twice. So a half-hourly one stays half an hour apart.
 * - `in 2h` and `every 4h` are elapsed time from creation: no clock change touches them.
 * - `today`, `tomorrow` and dates are days of the schedule's zone. A day that a month lacks is skipped (`0 9 31 * *` is due
 *   7 times a year); `L` is the last day of each month.
 * - A zone that this machine's tables do not know has no times: kept by a program with newer ones, it must not stop the others.
 * - Both day fields of a cron pattern set: either is enough, as crontab(5) has it.
 */
import {Cron} from 'croner';
import {isWaiting, type Schedule, type When} from '../domain/schedule.ts';
import {readZone, wallClock} from '../domain/zone.ts';
import type {NextTimes} from '../engine/report-ports.ts';

type Timed = Pick<Schedule, 'when' | 'zone' | 'createdAtMs'>;

/** Strictly later than `afterMs`, soonest first, at most `count`; empty where nothing is due any more, or no time decides. */
export const nextTimes: NextTimes = (schedule, afterMs, count) => {
  const {when, createdAtMs} = schedule;
  if (isWaiting(when) || readZone(schedule.zone) === null) return [];
  if (when.kind === 'interval') return intervalTimes(createdAtMs, when.ms, afterMs, count);
  if (when.kind === 'weekly' || when.kind === 'cron') return cronTimes(patternOf(when), schedule.zone, afterMs, count);
  const only = onlyTime(schedule, when);
  return only !== null && only > afterMs && count > 0 ? [only] : [];
};

function intervalTimes(fromMs: number, everyMs: number, afterMs: number, count: number): readonly number[] {
  const nth = Math.max(1, Math.floor((afterMs - fromMs) / everyMs) + 1);
  return Array.from({length: count}, (_, at) => fromMs + (nth + at) * everyMs);
}

function cronTimes(pattern: string, zone: string, afterMs: number, count: number): readonly number[] {
  const cron = new Cron(pattern, {timezone: zone, paused: true});
  return cron.nextRuns(count, new Date(afterMs)).map((date) => date.getTime());
}

/** The one time of a schedule that is due once; null where that time was over before it was asked for. */
function onlyTime(
  schedule: Timed,
  when: Exclude<When, {kind: 'interval' | 'weekly' | 'cron' | 'exit' | 'idle'}>,
): number | null {
  const {createdAtMs, zone} = schedule;
  switch (when.kind) {
    case 'now':
      return createdAtMs;
    case 'after':
      return createdAtMs + when.ms;
    case 'at': {
      const {hour, minute} = when.time;
      switch (when.day.by) {
        case 'next':
          return cronTimes(`${minute} ${hour} * * *`, zone, createdAtMs, 1)[0] ?? null;
        case 'weekday':
          return cronTimes(`${minute} ${hour} * * ${when.day.weekday}`, zone, createdAtMs, 1)[0] ?? null;
        case 'days-on': {
          const [year = 0, month = 1, day = 1] = wallClock(createdAtMs, zone).day.split('-').map(Number);
          return onDate(when.time, new Date(Date.UTC(year, month - 1, day + when.day.days)), schedule);
        }
        case 'date':
          return onDate(when.time, new Date(Date.UTC(when.day.year, when.day.month - 1, when.day.day)), schedule);
      }
    }
  }
}

/** `date`: its UTC day is the day meant. */
function onDate(
  time: {readonly hour: number; readonly minute: number},
  date: Date,
  {zone, createdAtMs}: Timed,
): number | null {
  const day = `${date.getUTCDate()} ${date.getUTCMonth() + 1} * ${date.getUTCFullYear()}`;
  return cronTimes(`0 ${time.minute} ${time.hour} ${day}`, zone, createdAtMs, 1)[0] ?? null;
}

function patternOf(when: Extract<When, {kind: 'weekly' | 'cron'}>): string {
  return when.kind === 'cron' ? when.pattern : `${when.time.minute} ${when.time.hour} * * ${when.days.join(',')}`;
}
