/** The judge of the chaos run, on evidence made by hand: each promise is seen to be kept, and seen to be broken. */
import {describe, expect, it} from 'vitest';
import {dealConversations, ENDINGS, TROUBLES} from '../../src/playground/chaos/deck.ts';
import {type Evidence, judge} from '../../src/playground/chaos/judge.ts';
import type {Act, Seen, Told} from '../../src/playground/chaos/record.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';

const TAG = 'talk-7-3';
const [CONVERSATION] = dealConversations(7, 20).filter(({tag}) => tag === TAG);
if (CONVERSATION === undefined) throw new Error('the deck has no such conversation');

function seen(
  ts: string,
  texts: readonly string[],
  more: Partial<Seen> & {readonly buttons?: readonly string[]} = {},
): Seen {
  const {buttons = [], ...rest} = more;
  const versions = texts.map((text, nth) => ({
    atMs: 1_000 * (nth + 1),
    text,
    buttons: nth === texts.length - 1 ? buttons : [],
    message: {text} as SlackMessage,
  }));
  return {channel: 'C1', ts, threadTs: null, direct: null, deleted: false, versions, ...rest};
}

const CARD = seen('1.1', [
  `⏳ Waiting for a go · lab-1\nAsked by <@U0ASKER>: ${TAG}\nRun abc123 · since`,
  `✅ lab-1: reclaimed 60 GiB\nAsked by <@U0ASKER>: ${TAG}\nGo by <@U0GOER> at <!date^9^x|y>\nRun abc123 · since`,
]);
const GO = seen('1.2', ['Go by <@U0GOER> at <!date^9^x|y>: SIGTERM, then kill -9'], {threadTs: '1.1'});
const REPORT = seen('1.3', ['✅ lab-1: reclaimed 60 GiB\nRun abc123, 12 s in all'], {threadTs: '1.1'});
const ASK: Act = {tag: TAG, user: 'U0ASKER', kind: 'ask', what: '/gpu reclaim', atMs: 900, done: null};
const CLICK: Act = {tag: TAG, user: 'U0GOER', kind: 'click', what: 'go', atMs: 950, done: null};

function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    conversations: [CONVERSATION as NonNullable<typeof CONVERSATION>],
    seen: [CARD, GO, REPORT],
    told: [],
    acts: [ASK, CLICK],
    late: [],
    starts: [0],
    calls: [],
    envelopes: [],
    signals: [],
    ...change,
  };
}

const counts = (of: Evidence) =>
  Object.fromEntries(Object.entries(judge(of)).map(([key, lines]) => [key, lines.length]));
const KEPT = {lostReports: 0, duplicateRuns: 0, unanswered: 0, overLimits: 0, badSignals: 0};

describe('what was kept', () => {
  it('is found to be kept', () => {
    expect(counts(evidence())).toEqual(KEPT);
  });
});

describe('a final report is lost', () => {
  it.each<readonly [string, readonly Seen[]]>([
    ['where the thread never tells the end', [CARD, GO]],
    ['where it stands in another thread', [CARD, GO, {...REPORT, threadTs: '9.9'}]],
    ['where the card still waits', [{...CARD, versions: CARD.versions.slice(0, 1)}, GO, REPORT]],
    [
      'where the card can still be pressed',
      [
        seen(
          '1.1',
          CARD.versions.map(({text}) => text),
          {buttons: ['stop']},
        ),
        GO,
        REPORT,
      ],
    ],
    ['where an older edit lands last', [{...CARD, versions: CARD.versions.toReversed()}, GO, REPORT]],
    ['where the only card was deleted', [{...CARD, deleted: true}, GO, REPORT]],
  ])('%s', (_name, all) => {
    expect(counts(evidence({seen: all}))).toMatchObject({lostReports: 1});
  });

  it('not where a new card stands for a deleted one, nor where whoever asked was told alone', () => {
    const anew = {...CARD, ts: '2.1'};
    expect(counts(evidence({seen: [{...CARD, deleted: true}, anew, GO, REPORT]}))).toEqual(KEPT);
    const alone: readonly Told[] = [
      {user: 'U0ASKER', atMs: 3_000, how: 'direct', text: 'Told here because <#C1> does not take it\nshow abc123'},
      {user: 'U0ASKER', atMs: 3_100, how: 'direct', text: 'Run abc123, 12 s in all'},
    ];
    const waiting = {...CARD, versions: CARD.versions.slice(0, 1)};
    expect(counts(evidence({seen: [waiting, GO], told: alone}))).toMatchObject({lostReports: 0});
  });
});

it('an end that people gave up waiting for is lost, whatever came later', () => {
  expect(counts(evidence({late: ['no card said its end within 75 s']}))).toMatchObject({lostReports: 1});
});

describe('a run is one too many', () => {
  const second = (text: string): Seen => seen('3.1', [`${text}\nAsked by <@U0ASKER>: ${TAG}\nRun def456 · since`]);

  it('where one command made two', () => {
    const made = second('✅ lab-1: nothing to do, 4 of 4 free');
    expect(counts(evidence({seen: [CARD, GO, REPORT, made]}))).toMatchObject({duplicateRuns: 1});
    expect(counts(evidence({seen: [CARD, GO, REPORT, made], acts: [ASK, {...ASK, atMs: 901}, CLICK]}))).toMatchObject({
      duplicateRuns: 0,
    });
  });

  it('not where it follows an interrupted one', () => {
    const interrupted = second('🟡 lab-1: interrupted, nothing sent');
    expect(counts(evidence({seen: [interrupted, CARD, GO, REPORT]}))).toMatchObject({duplicateRuns: 0});
  });
});

describe('an act is unanswered', () => {
  it('without a word after it', () => {
    expect(counts(evidence({acts: [ASK, CLICK, {...CLICK, atMs: 5_000, what: 'late click'}]}))).toMatchObject({
      unanswered: 1,
    });
    const told: readonly Told[] = [{user: 'U0GOER', atMs: 5_100, how: 'private', text: 'already decided'}];
    expect(counts(evidence({told, acts: [ASK, CLICK, {...CLICK, atMs: 5_000, what: 'late click'}]}))).toEqual(KEPT);
  });

  it('where two share one answer', () => {
    expect(counts(evidence({acts: [ASK, CLICK, {...CLICK, atMs: 951}]}))).toMatchObject({unanswered: 1});
  });
});

describe('a limit is broken', () => {
  const call = (method: string, atMs: number, error: string | null = null) => ({
    method,
    atMs,
    error,
    args: {channel: 'C1'},
  });

  it('by a message that Slack does not take', () => {
    expect(counts(evidence({calls: [call('chat.postMessage', 1, 'invalid_blocks')]}))).toMatchObject({overLimits: 1});
    expect(counts(evidence({calls: [call('chat.postMessage', 1, 'is_archived')]}))).toEqual(KEPT);
  });

  it('by more than 50 edits in a minute of one life', () => {
    const calls = Array.from({length: 51}, (_, nth) => call('chat.update', nth * 1_000));
    expect(counts(evidence({calls}))).toMatchObject({overLimits: 1});
    expect(counts(evidence({calls: calls.slice(1)}))).toEqual(KEPT);
    expect(counts(evidence({calls, starts: [0, 25_500]}))).toEqual(KEPT);
  });

  it('by more than a message a second after a short burst', () => {
    const flood = Array.from({length: 12}, (_, nth) => call('chat.postMessage', nth * 500));
    expect(counts(evidence({calls: flood}))).toMatchObject({overLimits: 1});
    expect(counts(evidence({calls: flood.map((one, nth) => ({...one, atMs: nth * 1_000}))}))).toEqual(KEPT);
  });
});

describe('a signal is nobody’s', () => {
  const signal = (tag: string | null, atMs: number) => ({tag, name: 'vllm (PID 9)', signal: 'KILL', atMs});

  it.each([
    ['that reached somebody whom nobody asked for', [signal(null, 2_000)]],
    ['that came before the go', [signal(TAG, 940)]],
    ['that came twice', [signal(TAG, 2_000), signal(TAG, 2_100)]],
  ])('%s', (_name, signals) => {
    expect(counts(evidence({signals}))).toMatchObject({badSignals: 1});
  });

  it('not one after the go', () => {
    expect(counts(evidence({signals: [signal(TAG, 2_000)]}))).toEqual(KEPT);
  });
});

describe('the deck', () => {
  it('is the same for the same seed, another for another, and holds every ending and every trouble', () => {
    const dealt = dealConversations(3, 200);
    expect(dealConversations(3, 200)).toEqual(dealt);
    expect(dealConversations(4, 200)).not.toEqual(dealt);
    expect(new Set(dealt.map(({ending}) => ending))).toEqual(new Set(ENDINGS));
    expect(new Set(dealt.flatMap(({troubles}) => troubles.map(({kind}) => kind)))).toEqual(new Set(TROUBLES));
  });

  it('has what the two broken programs need also in a short run', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const dealt = dealConversations(seed, 20);
      expect(dealt.flatMap(({troubles}) => troubles.map(({kind}) => kind))).toContain('outage-then-kill');
      expect(
        dealt.some(({ending, troubles}) => ending === 'dry-run' && troubles.some(({kind}) => kind === 'lost-ack')),
      ).toBe(true);
    }
  });
});
