/**
 * When typed phrases are due: phrases x zones x days on which clocks jump, with the next three times in UTC; and what no
 * table can hold: the next time is later than now, the same from wherever it is asked for, and none is left out.
 */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import type {Schedule, Weekday, When} from '../../src/domain/schedule.ts';
import {readWhen} from '../../src/domain/schedule-words.ts';
import {wallClock} from '../../src/domain/zone.ts';
import {nextTimes} from '../../src/schedule/next-times.ts';

/** Phrase, the caller's zone, now, and the next three times. */
const TABLE: readonly (readonly [string, string, string, string])[] = [
  ['now', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T10:00Z'],
  ['in 2h', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T12:00Z'],
  ['in 90m', 'UTC', '2027-01-12T10:00Z', '2027-01-12T11:30Z'],
  ['in 1h30m', 'UTC', '2027-01-12T10:00Z', '2027-01-12T11:30Z'],
  ['in 2 hours', 'UTC', '2027-01-12T10:00Z', '2027-01-12T12:00Z'],
  ['in 1 day', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-13T10:00Z'],
  ['at 18:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T17:00Z'],
  ['at 18:00', 'Europe/Berlin', '2027-01-12T17:00Z', '2027-01-13T17:00Z'],
  ['at 18:00', 'America/Los_Angeles', '2027-01-12T10:00Z', '2027-01-13T02:00Z'],
  ['18:00', 'Asia/Kolkata', '2027-01-12T10:00Z', '2027-01-12T12:30Z'],
  ['at 6pm', 'UTC', '2027-01-12T10:00Z', '2027-01-12T18:00Z'],
  ['at 6:30am', 'UTC', '2027-01-12T10:00Z', '2027-01-13T06:30Z'],
  ['at noon', 'Asia/Tokyo', '2027-01-12T10:00Z', '2027-01-13T03:00Z'],
  ['at midnight', 'UTC', '2027-01-12T10:00Z', '2027-01-13T00:00Z'],
  ['today 18:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T17:00Z'],
  ['today 18:00', 'Asia/Tokyo', '2027-01-12T10:00Z', ''],
  ['tomorrow 07:30', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-13T06:30Z'],
  ['tomorrow at 07:30', 'Europe/Berlin', '2027-01-12T23:30Z', '2027-01-14T06:30Z'],
  ['tomorrow 07:30', 'America/New_York', '2027-01-12T03:00Z', '2027-01-12T12:30Z'],
  ['tomorrow 07:30', 'UTC', '2027-01-31T10:00Z', '2027-02-01T07:30Z'],
  ['tomorrow 07:30', 'UTC', '2027-02-28T10:00Z', '2027-03-01T07:30Z'],
  ['tomorrow 07:30', 'UTC', '2028-02-28T10:00Z', '2028-02-29T07:30Z'],
  ['tomorrow 07:30', 'Europe/Berlin', '2027-12-31T10:00Z', '2028-01-01T06:30Z'],
  ['on monday 09:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-18T08:00Z'],
  ['monday at 9am', 'Europe/Berlin', '2027-01-11T07:59Z', '2027-01-11T08:00Z'],
  ['on 2027-02-01 09:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-02-01T08:00Z'],
  ['2027-07-01 09:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-07-01T07:00Z'],
  ['every day 18:00', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T17:00Z 2027-01-13T17:00Z 2027-01-14T17:00Z'],
  ['daily 18:00', 'Asia/Kathmandu', '2027-01-12T10:00Z', '2027-01-12T12:15Z 2027-01-13T12:15Z 2027-01-14T12:15Z'],
  [
    'every weekday 18:00',
    'Europe/Berlin',
    '2027-01-14T10:00Z',
    '2027-01-14T17:00Z 2027-01-15T17:00Z 2027-01-18T17:00Z',
  ],
  [
    'every weekday 18:00',
    'Europe/Berlin',
    '2027-01-15T17:00Z',
    '2027-01-18T17:00Z 2027-01-19T17:00Z 2027-01-20T17:00Z',
  ],
  ['every weekend at 10:00', 'UTC', '2027-01-12T10:00Z', '2027-01-16T10:00Z 2027-01-17T10:00Z 2027-01-23T10:00Z'],
  [
    'every Monday 09:00',
    'America/New_York',
    '2027-01-12T10:00Z',
    '2027-01-18T14:00Z 2027-01-25T14:00Z 2027-02-01T14:00Z',
  ],
  ['every mon,thu 09:00', 'UTC', '2027-01-12T10:00Z', '2027-01-14T09:00Z 2027-01-18T09:00Z 2027-01-21T09:00Z'],
  [
    'every monday and friday at 9am',
    'UTC',
    '2027-01-12T10:00Z',
    '2027-01-15T09:00Z 2027-01-18T09:00Z 2027-01-22T09:00Z',
  ],
  ['every 4h', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T14:00Z 2027-01-12T18:00Z 2027-01-12T22:00Z'],
  ['every 90 minutes', 'UTC', '2027-01-12T10:00Z', '2027-01-12T11:30Z 2027-01-12T13:00Z 2027-01-12T14:30Z'],
  ['every hour', 'UTC', '2027-01-12T10:20Z', '2027-01-12T11:20Z 2027-01-12T12:20Z 2027-01-12T13:20Z'],
  ['hourly', 'UTC', '2027-01-12T10:20Z', '2027-01-12T11:20Z 2027-01-12T12:20Z 2027-01-12T13:20Z'],
  [
    'cron "0 18 * * 1-5"',
    'Europe/Berlin',
    '2027-01-15T10:00Z',
    '2027-01-15T17:00Z 2027-01-18T17:00Z 2027-01-19T17:00Z',
  ],
  ['cron "*/30 9-10 * * *"', 'UTC', '2027-01-12T10:00Z', '2027-01-12T10:30Z 2027-01-13T09:00Z 2027-01-13T09:30Z'],
  ['cron "@daily"', 'Asia/Tokyo', '2027-01-12T10:00Z', '2027-01-12T15:00Z 2027-01-13T15:00Z 2027-01-14T15:00Z'],
  ['cron "0 9 1 jan,jul *"', 'UTC', '2027-01-12T10:00Z', '2027-07-01T09:00Z 2028-01-01T09:00Z 2028-07-01T09:00Z'],
  ['cron "0 9 * * sun"', 'UTC', '2027-01-12T10:00Z', '2027-01-17T09:00Z 2027-01-24T09:00Z 2027-01-31T09:00Z'],
  ['cron "0 9 * * 7"', 'UTC', '2027-01-12T10:00Z', '2027-01-17T09:00Z 2027-01-24T09:00Z 2027-01-31T09:00Z'],
  ['cron "0 9 13 * 5"', 'UTC', '2027-01-12T10:00Z', '2027-01-13T09:00Z 2027-01-15T09:00Z 2027-01-22T09:00Z'],
  ['cron "0 9 31 * *"', 'UTC', '2027-01-31T10:00Z', '2027-03-31T09:00Z 2027-05-31T09:00Z 2027-07-31T09:00Z'],
  ['cron "0 9 30 * *"', 'UTC', '2027-01-31T10:00Z', '2027-03-30T09:00Z 2027-04-30T09:00Z 2027-05-30T09:00Z'],
  ['cron "0 9 29 2 *"', 'UTC', '2027-01-31T10:00Z', '2028-02-29T09:00Z 2032-02-29T09:00Z 2036-02-29T09:00Z'],
  ['cron "0 9 L * *"', 'UTC', '2027-01-31T10:00Z', '2027-02-28T09:00Z 2027-03-31T09:00Z 2027-04-30T09:00Z'],
  ['cron "0 9 L 2 *"', 'UTC', '2027-01-31T10:00Z', '2027-02-28T09:00Z 2028-02-29T09:00Z 2029-02-28T09:00Z'],
  [
    'every day 18:00 Asia/Tokyo',
    'Europe/Berlin',
    '2027-01-12T10:00Z',
    '2027-01-13T09:00Z 2027-01-14T09:00Z 2027-01-15T09:00Z',
  ],
  ['at 18:00 in America/Sao_Paulo', 'Europe/Berlin', '2027-01-12T10:00Z', '2027-01-12T21:00Z'],
  [
    'every day 18:00 UTC',
    'Europe/Berlin',
    '2027-01-12T10:00Z',
    '2027-01-12T18:00Z 2027-01-13T18:00Z 2027-01-14T18:00Z',
  ],
  [
    'cron 0 18 * * * America/New_York',
    'Europe/Berlin',
    '2027-01-12T10:00Z',
    '2027-01-12T23:00Z 2027-01-13T23:00Z 2027-01-14T23:00Z',
  ],
  ['at 02:30', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z'],
  ['tomorrow 02:30', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z'],
  ['on 2027-03-28 02:30', 'Europe/Berlin', '2027-03-01T12:00Z', '2027-03-28T01:00Z'],
  ['every day 02:30', 'Europe/Berlin', '2027-03-27T00:00Z', '2027-03-27T01:30Z 2027-03-28T01:00Z 2027-03-29T00:30Z'],
  ['every day 01:59', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T00:59Z 2027-03-28T23:59Z 2027-03-29T23:59Z'],
  ['every day 03:00', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z 2027-03-29T01:00Z 2027-03-30T01:00Z'],
  ['every sunday 02:00', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z 2027-04-04T00:00Z 2027-04-11T00:00Z'],
  ['every day 18:00', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-27T17:00Z 2027-03-28T16:00Z 2027-03-29T16:00Z'],
  ['every 4h', 'Europe/Berlin', '2027-03-27T22:00Z', '2027-03-28T02:00Z 2027-03-28T06:00Z 2027-03-28T10:00Z'],
  ['in 1 day', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T12:00Z'],
  ['cron "30 2 * * *"', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z 2027-03-29T00:30Z 2027-03-30T00:30Z'],
  [
    'cron "*/30 * * * *"',
    'Europe/Berlin',
    '2027-03-28T00:29Z',
    '2027-03-28T00:30Z 2027-03-28T01:00Z 2027-03-28T01:30Z',
  ],
  [
    'cron "*/30 2 * * *"',
    'Europe/Berlin',
    '2027-03-27T12:00Z',
    '2027-03-29T00:00Z 2027-03-29T00:30Z 2027-03-30T00:00Z',
  ],
  ['cron "0 2,3 * * *"', 'Europe/Berlin', '2027-03-27T12:00Z', '2027-03-28T01:00Z 2027-03-29T00:00Z 2027-03-29T01:00Z'],
  ['every day 02:30', 'America/New_York', '2027-03-13T12:00Z', '2027-03-14T07:00Z 2027-03-15T06:30Z 2027-03-16T06:30Z'],
  ['every day 00:00', 'America/Havana', '2027-03-13T12:00Z', '2027-03-14T05:00Z 2027-03-15T04:00Z 2027-03-16T04:00Z'],
  ['every day 00:30', 'Asia/Beirut', '2027-03-27T12:00Z', '2027-03-27T22:00Z 2027-03-28T21:30Z 2027-03-29T21:30Z'],
  [
    'every day 02:15',
    'Australia/Lord_Howe',
    '2027-10-02T00:00Z',
    '2027-10-02T15:30Z 2027-10-03T15:15Z 2027-10-04T15:15Z',
  ],
  [
    'every day 02:30',
    'America/Sao_Paulo',
    '2027-10-16T12:00Z',
    '2027-10-17T05:30Z 2027-10-18T05:30Z 2027-10-19T05:30Z',
  ],
  ['at 02:30', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-10-31T00:30Z'],
  ['at 02:30', 'Europe/Berlin', '2027-10-31T00:45Z', '2027-11-01T01:30Z'],
  ['every day 02:30', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-10-31T00:30Z 2027-11-01T01:30Z 2027-11-02T01:30Z'],
  ['every day 02:30', 'Europe/Berlin', '2027-10-31T00:30Z', '2027-11-01T01:30Z 2027-11-02T01:30Z 2027-11-03T01:30Z'],
  ['every day 02:30', 'Europe/Berlin', '2027-10-31T01:29Z', '2027-11-01T01:30Z 2027-11-02T01:30Z 2027-11-03T01:30Z'],
  ['every day 03:00', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-10-31T02:00Z 2027-11-01T02:00Z 2027-11-02T02:00Z'],
  [
    'every weekday 18:00',
    'Europe/Berlin',
    '2027-10-29T12:00Z',
    '2027-10-29T16:00Z 2027-11-01T17:00Z 2027-11-02T17:00Z',
  ],
  ['every 4h', 'Europe/Berlin', '2027-10-30T21:00Z', '2027-10-31T01:00Z 2027-10-31T05:00Z 2027-10-31T09:00Z'],
  [
    'cron "*/30 * * * *"',
    'Europe/Berlin',
    '2027-10-31T00:29Z',
    '2027-10-31T00:30Z 2027-10-31T01:00Z 2027-10-31T01:30Z',
  ],
  [
    'cron "*/30 2 * * *"',
    'Europe/Berlin',
    '2027-10-31T00:00Z',
    '2027-10-31T00:30Z 2027-10-31T01:00Z 2027-10-31T01:30Z',
  ],
  ['cron "0 1-4 * * *"', 'Europe/Berlin', '2027-10-31T00:00Z', '2027-10-31T01:00Z 2027-10-31T02:00Z 2027-10-31T03:00Z'],
  ['every day 01:30', 'America/New_York', '2027-11-06T12:00Z', '2027-11-07T05:30Z 2027-11-08T06:30Z 2027-11-09T06:30Z'],
  [
    'every day 01:45',
    'Australia/Lord_Howe',
    '2027-04-02T12:00Z',
    '2027-04-02T14:45Z 2027-04-03T14:45Z 2027-04-04T15:15Z',
  ],
  ['tomorrow 02:30', 'Europe/Berlin', '2027-10-30T12:00Z', '2027-10-31T00:30Z'],
];

describe('a phrase', () => {
  it.each(TABLE)('%s, for somebody in %s at %s, is due %s', (phrase, callersZone, now, expected) => {
    const nowMs = Date.parse(now);
    const read = readWhen(wordsOf(phrase));
    if (!read.ok) throw new Error(JSON.stringify(read.failure));
    const {when, zone} = read.value;
    const schedule = {when, zone: zone ?? callersZone, createdAtMs: nowMs};
    const times = nextTimes(schedule, when.kind === 'now' ? nowMs - 1 : nowMs, 3);
    expect(times.map(minute).join(' ')).toBe(expected);
  });

  it('that waits for something to be seen has no time', () => {
    for (const phrase of ['when PID 12345 exits', 'when idle 20m']) {
      const read = readWhen(wordsOf(phrase));
      expect(read.ok && nextTimes({when: read.value.when, zone: 'UTC', createdAtMs: 0}, 0, 3)).toEqual([]);
    }
  });
});

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Africa/Casablanca',
] as const;

const zone = fc.constantFrom(...ZONES);
const time = fc.record({hour: fc.integer({min: 0, max: 23}), minute: fc.integer({min: 0, max: 59})});
const someDays = fc.uniqueArray(fc.integer({min: 0, max: 6}) as fc.Arbitrary<Weekday>, {minLength: 1, maxLength: 7});
const weekly = fc.record({kind: fc.constant('weekly' as const), days: someDays, time});
const interval = fc.record({kind: fc.constant('interval' as const), ms: fc.integer({min: 300_000, max: 90_000_000})});
const cron = fc
  .tuple(
    fc.oneof(fc.constant('*/15'), fc.constant('0,30'), fc.integer({min: 0, max: 59}).map(String)),
    fc.oneof(fc.constant('*'), fc.constant('*/4'), fc.constant('1-3'), fc.integer({min: 0, max: 23}).map(String)),
    fc.oneof(fc.constant('*'), fc.constant('L'), fc.integer({min: 1, max: 31}).map(String)),
    fc.oneof(fc.constant('*'), fc.constant('1-5'), fc.integer({min: 0, max: 6}).map(String)),
  )
  .map(
    ([minutes, hours, days, weekdays]): When => ({kind: 'cron', pattern: `${minutes} ${hours} ${days} * ${weekdays}`}),
  );
const repeating: fc.Arbitrary<When> = fc.oneof(weekly, interval, cron);
/** Whole seconds around the jumps of 2027, half of the tries within two days of one in Berlin or New York. */
const JUMPS = ['2027-03-28T01:00Z', '2027-10-31T01:00Z', '2027-03-14T07:00Z', '2027-11-07T06:00Z'].map((text) =>
  Date.parse(text),
);
const now = fc.oneof(
  fc
    .integer({min: Date.parse('2027-01-01') / 1000, max: Date.parse('2028-03-10') / 1000})
    .map((seconds) => seconds * 1000),
  fc.tuple(fc.constantFrom(...JUMPS), fc.integer({min: -172_800, max: 172_800})).map(([at, off]) => at + off * 1000),
);

describe('whatever is asked for', () => {
  it('the next time is later than now, and times grow', () => {
    fc.assert(
      fc.property(repeating, zone, now, (when, inZone, nowMs) => {
        const times = nextTimes(made(when, inZone, nowMs - 1_000), nowMs, 5);
        expect(times).toHaveLength(5);
        let before = nowMs;
        for (const atMs of times) {
          expect(atMs).toBeGreaterThan(before);
          before = atMs;
        }
      }),
      {numRuns: 300},
    );
  });

  it('no time is skipped: from anywhere before it, the next one is the same', () => {
    fc.assert(
      fc.property(repeating, zone, now, fc.double({min: 0, max: 1, noNaN: true}), (when, inZone, nowMs, share) => {
        const schedule = made(when, inZone, nowMs - 1_000);
        const times = nextTimes(schedule, nowMs, 6);
        for (const [nth, atMs] of times.entries()) {
          const fromMs = times[nth - 1] ?? nowMs;
          const between = Math.min(atMs - 1, fromMs + Math.floor((atMs - fromMs) * share));
          expect(nextTimes(schedule, between, 1)).toEqual([atMs]);
          expect(nextTimes(schedule, atMs - 1, 1)).toEqual([atMs]);
        }
      }),
      {numRuns: 200},
    );
  });

  it('a time of days is due when the clocks of its zone say so, once on each of its days', () => {
    fc.assert(
      fc.property(weekly, zone, now, (when, inZone, nowMs) => {
        const fromMs = nowMs - (nowMs % 60_000);
        const untilMs = fromMs + 4 * 86_400_000;
        const times = nextTimes(made(when, inZone, 0), fromMs, 8).filter((atMs) => atMs <= untilMs);
        expect(times.map(minute)).toEqual(byTheClock(when, inZone, fromMs, untilMs).map(minute));
      }),
      {numRuns: 60},
    );
  });
});

/** Every minute of the span is looked at: the first that shows the time, or, where none does, the first after it. */
function byTheClock(
  when: Extract<When, {kind: 'weekly'}>,
  inZone: string,
  fromMs: number,
  untilMs: number,
): readonly number[] {
  const wanted = `${String(when.time.hour).padStart(2, '0')}:${String(when.time.minute).padStart(2, '0')}`;
  const found = new Map<string, number>();
  // The first day of the span began before it: its time may be long over.
  const cutDay = wallClock(fromMs - 86_400_000, inZone).day;
  for (let atMs = fromMs - 86_400_000; atMs <= untilMs; atMs += 60_000) {
    const shown = wallClock(atMs, inZone);
    const weekday = new Date(`${shown.day}T00:00Z`).getUTCDay() as Weekday;
    if (when.days.includes(weekday) && shown.time >= wanted && !found.has(shown.day)) found.set(shown.day, atMs);
  }
  found.delete(cutDay);
  return [...found.values()].filter((atMs) => atMs > fromMs);
}

function made(when: When, inZone: string, createdAtMs: number): Pick<Schedule, 'when' | 'zone' | 'createdAtMs'> {
  return {when, zone: inZone, createdAtMs};
}

function minute(atMs: number): string {
  return new Date(atMs).toISOString().replace(':00.000Z', 'Z');
}

/** As the doors hand them over: quotes taken off. */
function wordsOf(phrase: string): readonly string[] {
  return [...phrase.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
