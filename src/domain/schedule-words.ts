/** When a report is wanted, as people type it: the same phrases in Slack, in the terminal and in the policy file. */
import {readCron} from './cron-pattern.ts';
import {fail, ok, type Result} from './failure.ts';
import type {Day, WallTime, Weekday, When} from './schedule.ts';
import {nearestZones, readZone} from './zone.ts';

export interface ReadWhen {
  readonly when: When;
  /** null: none was named, so the caller's own. */
  readonly zone: string | null;
}

/** The words that a time begins with; what stands before the first of them is hosts. */
export const BEGINNINGS = new Set([
  'now',
  'in',
  'at',
  'on',
  'today',
  'tomorrow',
  'every',
  'hourly',
  'daily',
  'cron',
  'when',
]);

export function beginsWhen(word: string): boolean {
  const lower = word.toLowerCase();
  return BEGINNINGS.has(lower) || WEEKDAYS.has(lower) || readTime(lower) !== null || /^\d{4}-\d{2}-\d{2}$/.test(lower);
}

/** A look every 5 minutes is as close as a report may come: each one is an SSH exec on every host. */
const LEAST_INTERVAL_MS = 5 * 60_000;
const MOST_MS = 366 * 86_400_000;

const EXAMPLES =
  'now, in 2h, at 18:00, tomorrow 07:30, every weekday 18:00, every 4h, cron "0 18 * * 1-5", when PID 12345 exits, when idle 20m';

/** Fails as `schedule-unreadable`, with the phrase, what is wrong in it, and what to say instead. */
export function readWhen(words: readonly string[]): Result<ReadWhen> {
  const phrase = words.join(' ');
  const wrong = (problem: string, wayOut = `say for example ${EXAMPLES}`) =>
    fail({reason: 'schedule-unreadable', phrase, problem, wayOut});
  const lower = words.map((word) => word.toLowerCase());
  const cron = lower[0] === 'cron';
  const zoned = splitZone(cron ? words : lower);
  if (zoned.unknown !== null) {
    const near = nearestZones(zoned.unknown);
    return wrong(
      `"${zoned.unknown}" is no time zone that is known here`,
      near.length === 0 ? 'name one such as Europe/Berlin or UTC' : `most likely it is ${near.join(' or ')}`,
    );
  }
  const {rest, zone} = zoned;
  const when = cron ? cronOf(rest.slice(1)) : whenOf(rest);
  return typeof when === 'string' ? wrong(when) : ok({when, zone});
}

/** Takes a zone off the end: `… Europe/Berlin`, `… in Europe/Berlin`, `… UTC`. */
function splitZone(words: readonly string[]): {
  readonly rest: readonly string[];
  readonly zone: string | null;
  readonly unknown: string | null;
} {
  const last = words.at(-1) ?? '';
  // A cron field may hold a slash, but never begins with letters before it.
  const named = /^(utc|gmt)$/i.test(last) || /^[a-z_]+\/[a-z0-9_+/-]+$/i.test(last);
  if (!named || words.length === 1) return {rest: words, zone: null, unknown: null};
  const before = words.slice(0, -1);
  const zone = readZone(last);
  return {
    rest: before.at(-1)?.toLowerCase() === 'in' ? before.slice(0, -1) : before,
    zone,
    unknown: zone === null ? last : null,
  };
}

/** A `When`, or what is wrong. */
function whenOf(words: readonly string[]): When | string {
  const [first = '', ...rest] = words;
  switch (first) {
    case '':
      return 'no time is named';
    case 'now':
      return rest.length === 0 ? {kind: 'now'} : `nothing may stand behind "now", and "${rest.join(' ')}" does`;
    case 'in':
      return spanOf(rest, 1_000, (ms) => ({kind: 'after', ms}));
    case 'at':
      return onceOf(rest, {by: 'next'});
    case 'on':
      return onceOf(rest, {by: 'next'});
    case 'today':
      return onceOf(rest, {by: 'days-on', days: 0});
    case 'tomorrow':
      return onceOf(rest, {by: 'days-on', days: 1});
    case 'hourly':
      return rest.length === 0
        ? {kind: 'interval', ms: 3_600_000}
        : `"${rest.join(' ')}" behind "hourly" does not read`;
    case 'daily':
      return everyOf(['day', ...rest]);
    case 'every':
      return everyOf(rest);
    case 'when':
      return eventOf(rest);
    default:
      return onceOf(words, {by: 'next'});
  }
}

function cronOf(words: readonly string[]): When | string {
  if (words.length === 0) return 'no pattern stands behind "cron"';
  const read = readCron(words.join(' '));
  return read.ok ? {kind: 'cron', pattern: read.pattern} : read.problem;
}

/** `18:00`, `2027-03-28 18:00`, `monday 09:00`, each also with `at` in between. */
function onceOf(words: readonly string[], day: Day): When | string {
  const [first = '', ...rest] = words.filter((word) => word !== 'at');
  if (first === '') return 'no time of day is named';
  const named = day.by === 'next' ? dayOf(first) : null;
  if (typeof named === 'string') return named;
  if (named === null) return timeOf([first, ...rest], day);
  return rest.length === 0 ? `the time of day is missing behind "${first}"` : timeOf(rest, named);
}

function timeOf(words: readonly string[], day: Day): When | string {
  const time = words.length === 1 ? readTime(words[0] ?? '') : null;
  return time === null ? `"${words.join(' ')}" is no time of day such as 18:00 or 6pm` : {kind: 'at', time, day};
}

/** A weekday or a date; null for any other word. */
function dayOf(word: string): Day | string | null {
  const [weekday, ...more] = WEEKDAYS.get(word) ?? [];
  if (weekday !== undefined && more.length === 0) return {by: 'weekday', weekday};
  return dateOf(word);
}

/** `2027-03-28` as a day; null for anything else, a sentence for a day that no calendar has. */
function dateOf(word: string): Extract<Day, {by: 'date'}> | string | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(word) ?? [];
  if (year === undefined) return null;
  const read = {by: 'date', year: Number(year), month: Number(month), day: Number(day)} as const;
  const made = new Date(Date.UTC(read.year, read.month - 1, read.day));
  const isThere = made.getUTCMonth() === read.month - 1 && made.getUTCDate() === read.day;
  return isThere ? read : `no calendar has ${word}`;
}

/** `4h`, `2 hours`, `hour`: an interval. `weekday 18:00`, `mon,thu at 9am`: times of days. */
function everyOf(words: readonly string[]): When | string {
  const [first = '', ...rest] = words.filter((word) => word !== 'at' && word !== 'and');
  if (first === '') return 'nothing stands behind "every"';
  if (/^\d/.test(first) && readTime(first) === null)
    return spanOf(words, LEAST_INTERVAL_MS, (ms) => ({kind: 'interval', ms}));
  if (rest.length === 0 && first !== 'day' && UNIT_MS.has(first))
    return spanOf(['1', first], LEAST_INTERVAL_MS, (ms) => ({kind: 'interval', ms}));
  const names = [first, ...rest.slice(0, -1)].flatMap((word) => word.split(',')).filter((word) => word !== '');
  const days = names.map((name) => WEEKDAYS.get(name));
  const stranger = names.find((_, at) => days[at] === undefined);
  if (stranger !== undefined)
    return readTime(stranger) === null ? `"${stranger}" is no day` : 'the day is missing before the time';
  const time = readTime(rest.at(-1) ?? '');
  if (time === null)
    return rest.length === 0 ? `the time of day is missing behind "${first}"` : `"${rest.at(-1)}" is no time of day`;
  const all = new Set(days.flatMap((some) => some ?? []));
  return {kind: 'weekly', days: [...all].toSorted((a, b) => a - b), time};
}

/** `pid 12345 exits`, `idle 20m`. */
function eventOf(words: readonly string[]): When | string {
  const [first = '', ...rest] = words.filter((word) => word !== 'for');
  if (first === 'idle') return spanOf(rest, LEAST_INTERVAL_MS, (forMs) => ({kind: 'idle', forMs}));
  const [pid = '', verb = '', ...more] = first === 'pid' ? rest : [first.replace(/^pid=?/, ''), ...rest];
  if (!/^[1-9]\d{0,6}$/.test(pid)) return pid === '' ? 'no PID is named' : `"${pid}" is no PID`;
  if (!/^(exits?|ends?|is gone)$/.test([verb, ...more].join(' ')))
    return verb === '' ? 'the word "exits" is missing behind the PID' : `"${[verb, ...more].join(' ')}" is not "exits"`;
  return {kind: 'exit', pid: Number(pid)};
}

/** `2h`, `1h30m`, `90 minutes`, `1 day 2 hours`. */
function spanOf(words: readonly string[], leastMs: number, make: (ms: number) => When): When | string {
  const text = words.join('');
  if (text === '') return 'the length of time is missing, such as 2h or 90m';
  const parts = [...text.matchAll(/(\d{1,6})([a-z]+)/g)];
  const whole = parts.map((part) => part[0]).join('') === text && parts.length > 0;
  const sizes = parts.map(([, count, unit]) => Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN));
  const ms = sizes.reduce((sum, one) => sum + one, 0);
  if (!whole || Number.isNaN(ms)) return `"${words.join(' ')}" is no length of time such as 2h, 90m or 1d`;
  if (ms < leastMs)
    return leastMs === 1_000
      ? `"${words.join(' ')}" is no time at all`
      : `"${words.join(' ')}" is shorter than 5m, the least`;
  return ms > MOST_MS ? `"${words.join(' ')}" is longer than a year` : make(ms);
}

/** `18:00`, `7:30`, `6pm`, `6:30pm`, `noon`, `midnight`; null for anything else. */
function readTime(word: string): WallTime | null {
  if (word === 'noon') return {hour: 12, minute: 0};
  if (word === 'midnight') return {hour: 0, minute: 0};
  const [, hours, minutes, half] = /^(\d{1,2})(?::(\d{2}))?(am|pm)?$/.exec(word) ?? [];
  // A bare number is a PID, a count, anything but surely a time.
  if (hours === undefined || (minutes === undefined && half === undefined)) return null;
  const [hour, minute] = [Number(hours), Number(minutes ?? '0')];
  if (minute > 59) return null;
  if (half === undefined) return hour <= 23 ? {hour, minute} : null;
  return hour >= 1 && hour <= 12 ? {hour: (hour % 12) + (half === 'pm' ? 12 : 0), minute} : null;
}

const UNIT_MS: ReadonlyMap<string, number> = new Map(
  (
    [
      [['s', 'sec', 'secs', 'second', 'seconds'], 1_000],
      [['m', 'min', 'mins', 'minute', 'minutes'], 60_000],
      [['h', 'hr', 'hrs', 'hour', 'hours'], 3_600_000],
      [['d', 'day', 'days'], 86_400_000],
      [['w', 'week', 'weeks'], 7 * 86_400_000],
    ] as const
  ).flatMap(([names, ms]) => names.map((name) => [name, ms] as const)),
);

const WEEKDAYS: ReadonlyMap<string, readonly Weekday[]> = new Map<string, readonly Weekday[]>([
  ['day', [0, 1, 2, 3, 4, 5, 6]],
  ['weekday', [1, 2, 3, 4, 5]],
  ['weekdays', [1, 2, 3, 4, 5]],
  ['weekend', [0, 6]],
  ['weekends', [0, 6]],
  ...(['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const).flatMap((name, at) =>
    [name, `${name}s`, name.slice(0, 3)].map((word) => [word, [at as Weekday]] as const),
  ),
]);
