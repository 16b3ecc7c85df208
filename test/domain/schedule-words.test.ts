/** What people type for a report: what is understood, what is refused and with which way out, and that a phrase reads back. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {readCron} from '../../src/domain/cron-pattern.ts';
import {type Host, hostName} from '../../src/domain/host.ts';
import {choiceWords, chosenHosts, readReport} from '../../src/domain/report-words.ts';
import type {Weekday, When} from '../../src/domain/schedule.ts';
import {whenPhrase} from '../../src/domain/schedule-phrase.ts';
import {readWhen} from '../../src/domain/schedule-words.ts';
import {nearestZones, readZone} from '../../src/domain/zone.ts';
import {failureSentence} from '../../src/report/failure-sentence.ts';
import {aHost} from '../doubles/build.ts';

const KNOWN: readonly Host[] = [
  ['gpu-07', ['h200']],
  ['gpu-08', ['h200', 'oncall']],
  ['gpu-17', []],
  ['lab', []],
].map(([name, groups]) => ({...aHost(), name: hostName(name as string), groups: groups as string[]}));

function words(phrase: string): readonly string[] {
  return [...phrase.matchAll(/(\S*=)?"([^"]*)"|(\S+)/g)].map(([, key = '', quoted, bare]) =>
    quoted === undefined ? (bare ?? '') : key + quoted,
  );
}

function sentenceFor(phrase: string): string {
  const read = readWhen(words(phrase));
  return read.ok ? `read as ${whenPhrase(read.value.when)}` : failureSentence(read.failure);
}

describe('a time that does not read', () => {
  it.each([
    [
      'every 4',
      '"every 4" does not read as a time: "4" is no length of time such as 2h, 90m or 1d; say for example now',
    ],
    ['every 30s', '"30s" is shorter than 5m, the least'],
    ['every day', 'the time of day is missing behind "day"'],
    ['every fortnight 18:00', '"fortnight" is no day'],
    ['every 18:00', 'the day is missing before the time'],
    ['every', 'nothing stands behind "every"'],
    ['at 25:00', '"25:00" is no time of day'],
    ['at 18:60', '"18:60" is no time of day'],
    ['at 13pm', '"13pm" is no time of day'],
    ['at 18', '"18" is no time of day'],
    ['tomorrow', 'no time of day is named'],
    ['tomorrow 7', '"7" is no time of day'],
    ['on monday', 'the time of day is missing behind "monday"'],
    ['on 2027-02-30 09:00', 'no calendar has 2027-02-30'],
    ['in two hours', '"two hours" is no length of time'],
    ['in 2', '"2" is no length of time'],
    ['in 0s', '"0s" is no time at all'],
    ['in 400d', '"400d" is longer than a year'],
    ['now please', 'nothing may stand behind "now", and "please" does'],
    ['when PID exits', '"exits" is no PID'],
    ['when PID 12345', 'the word "exits" is missing behind the PID'],
    ['when PID 12345 sleeps', '"sleeps" is not "exits"'],
    ['when idle', 'the length of time is missing'],
    ['when idle 1m', '"1m" is shorter than 5m'],
    ['cron', 'no pattern stands behind "cron"'],
    ['cron "0 18 * *"', 'it has 4 fields instead of 5'],
    ['cron "0 25 * * *"', 'its hour "25" does not read'],
    ['cron "0 18 30 2 *"', 'no such day ever comes'],
    [
      'every day 18:00 Europe/Berln',
      '"europe/berln" is no time zone that is known here; most likely it is Europe/Berlin',
    ],
  ])('"%s" is refused: %s', (phrase, expected) => {
    expect(sentenceFor(phrase)).toContain(expected);
  });

  it('is one sentence without an end in the middle', () => {
    expect(sentenceFor('every 4')).toMatch(/^"every 4" does not read as a time: [^\n]+ when idle 20m\.$/);
  });
});

describe('a phrase', () => {
  const day = fc.integer({min: 0, max: 6}) as fc.Arbitrary<Weekday>;
  const time = fc.record({hour: fc.integer({min: 0, max: 23}), minute: fc.integer({min: 0, max: 59})});
  const at = (days: fc.Arbitrary<Extract<When, {kind: 'at'}>['day']>) =>
    fc.record({kind: fc.constant('at' as const), time, day: days});
  const when: fc.Arbitrary<When> = fc.oneof(
    fc.constant({kind: 'now'} as const),
    fc.integer({min: 1, max: 366 * 86_400}).map((seconds) => ({kind: 'after', ms: seconds * 1_000}) as const),
    fc.integer({min: 300, max: 366 * 86_400}).map((seconds) => ({kind: 'interval', ms: seconds * 1_000}) as const),
    fc.integer({min: 300, max: 86_400}).map((seconds) => ({kind: 'idle', forMs: seconds * 1_000}) as const),
    fc.integer({min: 1, max: 4_194_304}).map((pid) => ({kind: 'exit', pid}) as const),
    fc
      .constantFrom('0 18 * * 1-5', '*/15 8-18 L * *', '0 0 1 jan,jul *')
      .map((pattern) => ({kind: 'cron', pattern}) as const),
    at(fc.constantFrom({by: 'next'}, {by: 'days-on', days: 0}, {by: 'days-on', days: 1})),
    at(day.map((weekday) => ({by: 'weekday', weekday}))),
    at(fc.integer({min: 1, max: 28}).map((nth) => ({by: 'date', year: 2027, month: 2, day: nth}))),
    fc
      .tuple(fc.uniqueArray(day, {minLength: 1}), time)
      .map(([days, wall]) => ({kind: 'weekly', days: days.toSorted((a, b) => a - b), time: wall}) as const),
  );

  it('made of a time reads back as that time, with a zone behind it or without', () => {
    fc.assert(
      fc.property(when, fc.constantFrom(null, 'Europe/Berlin', 'UTC'), (one, zone) => {
        const phrase = zone === null ? whenPhrase(one) : `${whenPhrase(one)} ${zone}`;
        expect(readWhen(words(phrase))).toEqual({ok: true, value: {when: one, zone}});
      }),
    );
  });

  it('reads whatever its case', () => {
    expect(readWhen(words('EVERY Weekday 18:00 europe/berlin'))).toEqual(
      readWhen(words('every weekday 18:00 Europe/Berlin')),
    );
  });
});

describe('a wish for a report', () => {
  const read = (phrase: string) => readReport(words(phrase), KNOWN);
  const plain = {when: null, zone: null, channel: null, quiet: false};

  it.each([
    ['', 'all'],
    ['gpu-07', 'gpu-07'],
    ['GPU-07 lab', 'gpu-07 lab'],
    ['h200', 'h200'],
    ['gpu-* lab', 'gpu-* lab'],
    ['all', 'all'],
  ])('"%s" is about %s, at once', (phrase, hosts) => {
    const asked = read(phrase);
    expect(asked.ok && {...asked.value, hosts: choiceWords(asked.value.hosts)}).toEqual({...plain, hosts});
  });

  it('takes hosts, time, zone, channel and quietness in one line', () => {
    expect(read('h200 gpu-17 every weekday 18:00 Asia/Tokyo to=<#C0REPORTS|gpu-reports> loud')).toMatchObject({
      ok: true,
      value: {
        hosts: [
          {kind: 'group', name: 'h200'},
          {kind: 'host', name: 'gpu-17'},
        ],
        when: {kind: 'weekly', days: [1, 2, 3, 4, 5], time: {hour: 18, minute: 0}},
        zone: 'Asia/Tokyo',
        channel: 'C0REPORTS',
        quiet: false,
      },
    });
    expect(read('gpu-07 cron "*/30 9-17 * * 1-5" zone=America/New_York')).toMatchObject({
      value: {when: {kind: 'cron', pattern: '*/30 9-17 * * 1-5'}, zone: 'America/New_York', quiet: true},
    });
  });

  it('is quiet where it repeats, unless told otherwise', () => {
    const quiet = (phrase: string) => {
      const asked = read(phrase);
      return asked.ok ? asked.value.quiet : null;
    };
    expect(['every 4h', 'every 4h loud', 'in 2h', 'in 2h quiet', ''].map((phrase) => quiet(`lab ${phrase}`))).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  it.each([
    ['gpu-09 every 4h', '"gpu-09" is not in the hosts file; did you mean'],
    ['h20* now', '"h20*" is not in the hosts file'],
    ['10.0.0.7 now', 'is an address'],
    ['gpu-07 in 2h to=general', 'expected a channel, such as to=#gpu-reports'],
    ['gpu-07 in 2h quiet=yes', 'quiet=yes does not read; expected it without a value'],
    ['gpu-07 at 18:00 zone=Berlin', 'zone=Berlin does not read; expected Europe/Berlin'],
    ['gpu-07 gpu-08 when PID 7 exits', 'a PID means something on one host only; name that one host before it'],
    ['h200 when PID 7 exits', 'a PID means something on one host only'],
  ])('"%s" is refused: %s', (phrase, expected) => {
    const asked = read(phrase);
    expect(asked.ok ? 'read' : failureSentence(asked.failure)).toContain(expected);
  });

  it('is looked up at each report: groups and globs grow, a name that is gone stays to be told', () => {
    const asked = read('gpu-* lab');
    if (!asked.ok) throw new Error('does not read');
    const later = [...KNOWN.filter(({name}) => name !== 'lab'), {...aHost(), name: hostName('gpu-99')}];
    expect(chosenHosts(asked.value.hosts, later)).toEqual([
      {name: 'gpu-07', gone: false},
      {name: 'gpu-08', gone: false},
      {name: 'gpu-17', gone: false},
      {name: 'gpu-99', gone: false},
      {name: 'lab', gone: true},
    ]);
  });
});

describe('zones and patterns', () => {
  it('are known by their IANA names', () => {
    expect([
      readZone('europe/berlin'),
      readZone('utc'),
      readZone('CET'),
      readZone('+02:00'),
      readZone('Mars/Olympus'),
    ]).toEqual(['Europe/Berlin', 'UTC', null, null, null]);
    expect(nearestZones('tokyo')).toEqual(['Asia/Tokyo']);
  });

  it.each([
    ['*/0 * * * *', false],
    ['5-1 * * * *', false],
    ['1/5 * * * *', false],
    ['* * ? * *', false],
    ['0 9 * * mon-fri', true],
    ['0 9 29 feb *', true],
    ['0 9 31 4 *', false],
    ['0 9 31 4 1', true],
    ['@reboot', false],
    ['0,30 9-17/2 L * *', true],
  ])('%s reads: %s', (pattern, reads) => {
    expect(readCron(pattern).ok).toBe(reads);
  });
});
