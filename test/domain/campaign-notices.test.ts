/** What is owed of a campaign without asking: once, and in its time; and the question at idle GPUs. */
import {describe, expect, it} from 'vitest';
import type {Campaign, CampaignNote, KeptCampaign} from '../../src/domain/campaign.ts';
import {
  answeredAs,
  answerNote,
  answerWords,
  nextNoticeMs,
  owedNotices,
  unfinishedEnd,
} from '../../src/domain/campaign-notices.ts';
import {type HostName, hostName} from '../../src/domain/host.ts';
import {noSamples} from '../../src/domain/samples.ts';
import {HOST} from '../doubles/build.ts';
import {kept} from '../doubles/campaign.ts';

const MINUTE = 60_000;
const TIMES = {askMs: 45 * MINUTE, keepMs: 120 * MINUTE};
const CARD = {channel: 'C1', ts: '1.2'};
const START = 1_000_000_000;

const note = (what: string, atMs = 1, by = ''): CampaignNote => ({what, atMs, by});

function held(change: Partial<Campaign> = {}, more: Partial<KeptCampaign> = {}): KeptCampaign {
  return kept({startedAtMs: START, ...change}, {card: CARD, ...more});
}

function owed(one: KeptCampaign, nowMs: number): readonly string[] {
  return owedNotices(one, nowMs, TIMES).map(({what}) => what);
}

/** Quiet since `sinceMs`, last sampled at `lastAtMs`. */
function quiet(sinceMs: number | null, lastAtMs: number, host: HostName = HOST) {
  return {nextMs: lastAtMs + MINUTE, samples: {...noSamples(host), count: 1, quietSinceMs: sinceMs, lastAtMs}};
}

describe('a notice', () => {
  it.each<[string, KeptCampaign, number, readonly string[]]>([
    ['the card of a hold from a terminal', held({}, {card: null}), START, ['card']],
    ['no card yet of one that Slack is posting', held({channel: 'C1'}, {card: null}), START + 1, []],
    ['the card that Slack did not take', held({channel: 'C1'}, {card: null}), START + MINUTE, ['card']],
    ['no card where none was taken', held({}, {card: null, notes: [note('card')]}), START + MINUTE, []],
    [
      'nothing of one that ended before anybody told it',
      held({}, {card: null, ended: end('os:anna')}),
      START + MINUTE,
      [],
    ],
    ['nothing while it holds', held({untilMs: START + 10}), START + 9, []],
    ['that its time has passed', held({untilMs: START + 10}), START + 10, ['over']],
    ['that of a keep', held({kind: 'keep', untilMs: START + 10}), START + 10, ['over']],
    ['once', held({untilMs: START + 10}, {notes: [note('over')]}), START + 99, []],
    ['not of one that was ended in time', held({untilMs: START + 10}, {ended: end('slack:U1')}), START + 11, []],
    ['an end at a terminal', held({}, {ended: end('os:anna')}), START + 5, ['ended']],
    ['an end in Slack only where it was not told', held({}, {ended: end('slack:U1')}), START + 5, []],
    ['an end in Slack that nobody told', held({}, {ended: end('slack:U1')}), START + 2 * MINUTE, ['ended']],
    [
      'an end that was made up for at once',
      held({}, {ended: end('slack:U1'), notes: [note('finished')]}),
      START + 5,
      ['ended'],
    ],
    ['an end once', held({}, {ended: end('os:anna'), notes: [note('ended')]}), START + 5, []],
  ])('is owed: %s', (_, one, nowMs, what) => {
    expect(owed(one, nowMs)).toEqual(what);
  });

  it('is due at its time, however late it is told', () => {
    expect(owedNotices(held({untilMs: START + 10}), START + 7_200_000, TIMES)).toMatchObject([{dueAtMs: START + 10}]);
    expect(nextNoticeMs(held({untilMs: START + 10}), START)).toBe(START + 10);
    expect(nextNoticeMs(held({untilMs: START + 10}), START + 10)).toBeNull();
    expect(nextNoticeMs(held(), START)).toBeNull();
  });
});

function end(by: string) {
  return {by, atMs: START + 5, after: []};
}

describe('the question at idle GPUs', () => {
  const since = START + MINUTE;
  const at45 = since + TIMES.askMs;
  const sampled = (
    samples: KeptCampaign['samples'],
    more: Partial<KeptCampaign> = {},
    change: Partial<Campaign> = {},
  ) => held({sampleMs: MINUTE, ...change}, {samples, ...more});
  const two = {hosts: [HOST, hostName('gpu-08')]};

  it.each<[string, KeptCampaign, number, readonly string[]]>([
    ['after 45 minutes', sampled([quiet(since, at45)]), at45, [`idle:${since}`]],
    ['not before', sampled([quiet(since, at45 - 1)]), at45 - 1, []],
    ['not where the GPUs work', sampled([quiet(null, at45)]), at45, []],
    [
      'by people’s own looks that are close together',
      held({}, {samples: [quiet(since, at45)]}),
      at45,
      [`idle:${since}`],
    ],
    ['not by looks that are long ago', held({}, {samples: [quiet(since, at45 - 16 * MINUTE)]}), at45, []],
    ['not where nobody looked', held(), at45, []],
    ['not where none was made yet', sampled([]), at45, []],
    ['not where the last one is old', sampled([quiet(since, at45 - 4 * MINUTE)]), at45, []],
    ['once a row', sampled([quiet(since, at45)], {notes: [note(`idle:${since}`)]}), at45 + 9 * MINUTE, []],
    ['again of another row', sampled([quiet(since, at45)], {notes: [note('idle:5')]}), at45, [`idle:${since}`]],
    [
      'not where one of two hosts works',
      sampled([quiet(since, at45), quiet(null, at45, hostName('gpu-08'))], {}, two),
      at45,
      [],
    ],
    ['not where one of two was never seen', sampled([quiet(since, at45)], {}, two), at45, []],
    [
      'by the later of two hosts',
      sampled([quiet(since, at45), quiet(since + 5, at45, hostName('gpu-08'))], {}, two),
      at45 + 5,
      [`idle:${since + 5}`],
    ],
    ['not once its time has passed', sampled([quiet(since, at45)], {notes: [note('over')]}, {untilMs: at45}), at45, []],
    ['not of a keep', sampled([quiet(since, at45)], {}, {kind: 'keep'}), at45, []],
    [
      'not once somebody said to end it',
      sampled([quiet(since, at45)], {notes: [note('answer:5', at45, 'end os:anna')]}),
      at45,
      [],
    ],
  ])('is asked %s', (_, one, nowMs, what) => {
    expect(owed(one, nowMs)).toEqual(what);
  });

  it('is asked again, under another name, when the time of "keep" is over and it is still idle', () => {
    const answer = note(answerNote(`${since}`), at45 + 5, answerWords('keep', 'slack:U1'));
    const one = (nowMs: number) => sampled([quiet(since, nowMs)], {notes: [note(`idle:${since}`), answer]});
    const again = at45 + 5 + TIMES.keepMs;
    expect(owed(one(again - 1), again - 1)).toEqual([]);
    expect(owed(one(again), again)).toEqual([`idle:${since}-${at45 + 5}`]);
    expect(answeredAs(one(again), `${since}`)).toEqual({answer: 'keep', by: 'slack:U1', atMs: at45 + 5});
    expect(answeredAs(one(again), `${since}-${at45 + 5}`)).toBeNull();
  });

  it('is left to be finished where who said "end it" died before that', () => {
    const answer = note(answerNote(`${since}`), at45, answerWords('end', 'slack:U1'));
    const one = sampled([quiet(since, at45)], {notes: [answer]});
    expect(unfinishedEnd(one, at45 + 59_999)).toBeNull();
    expect(unfinishedEnd(one, at45 + MINUTE)).toBe('slack:U1');
    expect(unfinishedEnd({...one, ended: end('slack:U1')}, at45 + MINUTE)).toBeNull();
    expect(unfinishedEnd(sampled([], {notes: [note('answer:1', 1, 'keep os:a')]}), at45)).toBeNull();
  });
});
