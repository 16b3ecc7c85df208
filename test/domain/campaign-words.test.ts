import {describe, expect, it} from 'vitest';
import {readHold} from '../../src/domain/campaign-words.ts';
import {type Host, hostName} from '../../src/domain/host.ts';
import {aHost} from '../doubles/build.ts';

const KNOWN: readonly Host[] = [
  {...aHost(), name: hostName('gpu-07'), groups: ['train']},
  {...aHost(), name: hostName('gpu-08'), groups: ['train']},
];
const AT_SIX = {kind: 'at', time: {hour: 18, minute: 0}, day: {by: 'next'}};

function start(...words: readonly string[]) {
  return readHold('profile', words, KNOWN);
}

describe('profile start', () => {
  it.each<[string[], object]>([
    [['gpu-07'], {hosts: ['gpu-07'], gpus: null, label: null, out: null, until: null}],
    [['GPU-07', 'gpu-08'], {hosts: ['gpu-07', 'gpu-08']}],
    [['train'], {hosts: ['gpu-07', 'gpu-08']}],
    [['gpu-07', 'H200', 'sweep', '3'], {hosts: ['gpu-07'], label: 'H200 sweep 3'}],
    [['gpu-07', 'nsys run of gpu-08'], {hosts: ['gpu-07'], label: 'nsys run of gpu-08'}],
    [['label=train', 'gpu-07'], {hosts: ['gpu-07'], label: 'train'}],
    [['gpu-07', 'gpus=0-2,5', 'out=/data/a b'], {gpus: [0, 1, 2, 5], out: '/data/a b'}],
    [['gpu-07', 'sample=60s'], {sampleMs: 60_000}],
    [['gpu-07', 'SAMPLE=10S'], {sampleMs: 10_000}],
    [['gpu-07', 'lgc=1410,1410'], {locked: {graphics: {low: 1410, high: 1410}, memory: null}}],
    [['gpu-07', 'lmc=2619'], {locked: {graphics: null, memory: {low: 2619, high: 2619}}}],
    [['gpu-07'], {sampleMs: null}],
    [['gpu-07', 'until=18:00'], {until: AT_SIX}],
    [['gpu-07', 'until=6pm'], {until: AT_SIX}],
    [['gpu-07', 'until=2h'], {until: {kind: 'after', ms: 7_200_000}}],
    [['gpu-07', 'until=in 2h'], {until: {kind: 'after', ms: 7_200_000}}],
    [['gpu-07', 'until=1h30m'], {until: {kind: 'after', ms: 5_400_000}}],
    [
      ['gpu-07', 'until=tomorrow 07:30'],
      {until: {kind: 'at', time: {hour: 7, minute: 30}, day: {by: 'days-on', days: 1}}},
    ],
  ])('%j', (words, asked) => {
    expect(start(...words)).toMatchObject({ok: true, value: {asked}});
  });

  it('takes the zone from either place', () => {
    expect(start('gpu-07', 'until=18:00 Europe/Berlin')).toMatchObject({value: {zone: 'Europe/Berlin'}});
    expect(start('gpu-07', 'until=18:00', 'zone=europe/berlin')).toMatchObject({value: {zone: 'Europe/Berlin'}});
    expect(start('gpu-07', 'until=18:00')).toMatchObject({value: {zone: null}});
  });

  it.each<[string[], object]>([
    [[], {reason: 'host-missing'}],
    [['sweep'], {reason: 'host-unknown'}],
    [['10.0.0.1'], {reason: 'host-is-address'}],
    // One more host, misspelt: a hold that lacks it would be worse than a question.
    [['gpu-07', 'gpu-80'], {reason: 'host-unknown', host: 'gpu-80'}],
    [['gpu-07', 'gpus=x'], {reason: 'argument-bad', argument: 'gpus'}],
    [['gpu-07', 'out=here'], {reason: 'argument-bad', argument: 'out'}],
    [['gpu-07', 'out=/two\nlines'], {reason: 'argument-bad', argument: 'out'}],
    [['gpu-07', 'until=every day 18:00'], {reason: 'schedule-unreadable'}],
    [['gpu-07', 'lgc=fast'], {reason: 'argument-bad', argument: 'lgc'}],
    [['gpu-07', 'lmc='], {reason: 'argument-bad', argument: 'lmc'}],
    [['gpu-07', 'sample=9s'], {reason: 'argument-bad', argument: 'sample'}],
    [['gpu-07', 'sample=2h'], {reason: 'argument-bad', argument: 'sample'}],
    [['gpu-07', 'sample=60'], {reason: 'argument-bad', argument: 'sample'}],
    [['gpu-07', 'until=later'], {reason: 'schedule-unreadable'}],
    [['gpu-07', 'zone=CET'], {reason: 'argument-bad', argument: 'zone'}],
    [['gpu-07', 'untill=18:00'], {reason: 'argument-unknown', nearest: ['until']}],
    [['gpu-07', 'gpus=1', 'gpus=2'], {reason: 'argument-bad', expected: 'it once only'}],
  ])('refuses %j', (words, failure) => {
    expect(start(...words)).toMatchObject({ok: false, failure});
  });
});

describe('keep', () => {
  const keep = (...words: readonly string[]) => readHold('keep', words, KNOWN);

  it('is a hold with an end and a reason', () => {
    const read = keep('gpu-07', 'gpus=0', 'until=18:00', 'with carla');
    expect(read).toMatchObject({
      value: {asked: {kind: 'keep', hosts: ['gpu-07'], gpus: [0], label: 'with carla', until: AT_SIX}},
    });
  });

  it.each<[string[], string]>([
    [['gpu-07', 'until=18:00'], 'label'],
    [['gpu-07', 'why not'], 'until'],
  ])('needs both: %j', (words, argument) => {
    expect(keep(...words)).toMatchObject({failure: {reason: 'argument-bad', argument}});
  });

  it('may be of single processes, on one host', () => {
    expect(keep('gpu-07', 'pid=4711,4712,4711', 'until=2h', 'why')).toMatchObject({
      value: {asked: {gpus: null, pids: [4711, 4712]}},
    });
    expect(keep('gpu-07', 'until=2h', 'why')).toMatchObject({value: {asked: {pids: []}}});
    for (const pid of ['0', 'x', '', '4711,', '99999999', '-1'])
      expect(keep('gpu-07', `pid=${pid}`, 'until=2h', 'why')).toMatchObject({failure: {argument: 'pid'}});
    expect(keep('train', 'pid=4711', 'until=2h', 'why')).toMatchObject({failure: {reason: 'one-host-only'}});
    expect(start('gpu-07', 'pid=4711')).toMatchObject({failure: {reason: 'argument-unknown', argument: 'pid'}});
  });

  it('has no folder to look into', () => {
    expect(keep('gpu-07', 'out=/x', 'until=2h', 'why')).toMatchObject({failure: {reason: 'argument-unknown'}});
  });
});
