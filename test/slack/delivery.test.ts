/** Card and thread over a real store, with a Slack whose answers the test holds in its hand. */
import {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import type {Run, RunEvent, RunPhase} from '../../src/domain/run.ts';
import type {Append, Clock, RunStore} from '../../src/engine/ports.ts';
import type {Message} from '../../src/slack/blocks/message.ts';
import {makeDelivery} from '../../src/slack/delivery.ts';
import {makePace} from '../../src/slack/pace.ts';
import {makeProgressEditor} from '../../src/slack/progress-editor.ts';
import {systemClock} from '../../src/system-clock.ts';
import {aPlan} from '../doubles/build.ts';
import {handClock} from '../doubles/hand-clock.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER, openRun} from '../store/sample.ts';

const LOG = {info: () => undefined, warn: () => undefined, error: () => undefined};
const DAY_MS = 24 * 3_600_000;

interface Desk {
  readonly store: RunStore;
  readonly delivery: ReturnType<typeof makeDelivery>;
  readonly edits: string[];
  readonly replies: string[];
  readonly posts: string[];
  /** Progress edits that are on their way; each lands when called. */
  readonly flying: (() => void)[];
  failing: boolean;
  /** What the next call of each kind throws, once. */
  readonly throws: {post?: unknown; reply?: unknown; edit?: unknown; progress?: unknown};
  /** What an edit says of itself. */
  certainty: 'sure' | 'doubtful';
  /** ms until Slack takes an edit. */
  editInMs: number;
}

function refused(error: string): Error {
  return new webApi.WebAPIPlatformError({ok: false, error});
}

async function desk(clock: Clock = systemClock(), kept: RunStore | null = null): Promise<Desk> {
  const store = kept ?? (await opened(storePath()));
  const trouble = (kind: keyof Desk['throws']): void => {
    if (at.failing) throw new Error('no Slack');
    const error = at.throws[kind];
    delete at.throws[kind];
    if (error !== undefined) throw error;
  };
  const at: Desk = {
    store,
    edits: [],
    replies: [],
    posts: [],
    flying: [],
    failing: false,
    throws: {},
    certainty: 'sure',
    editInMs: 0,
    delivery: makeDelivery({
      store,
      poster: {
        post: async (_channel, message) => {
          trouble('post');
          at.posts.push(message.text);
          return `1.${at.posts.length}`;
        },
        reply: async (card, message, _toChannel, notes = []) => {
          trouble('reply');
          at.replies.push([`${card.ts} ${message.text}`, ...notes].join('\n'));
        },
        edit: async (_card, message) => {
          trouble('edit');
          at.edits.push(message.text);
          return at.certainty;
        },
        editInMs: () => at.editInMs,
      },
      editProgress: async (_card, _message: Message) => {
        trouble('progress');
        await new Promise<void>((resolve) => at.flying.push(resolve));
      },
      editor: makeProgressEditor({clock, log: LOG, pace: makePace(clock)}),
      clock,
      log: LOG,
      channel: 'C1',
      team: () => 'T1',
      command: '/gpu',
      approvers: ['<@U1>'],
      pictures: {show: () => undefined},
      onFatal: () => undefined,
      tellEnd: async () => undefined,
    }),
  };
  return at;
}

async function append(at: Desk, run: Run, phase: RunPhase, event: RunEvent, more: Partial<Append> = {}): Promise<Run> {
  const key = `${run.id}:${run.version + 1}:0:${event.kind}`;
  const result = await at.store.append({
    runId: run.id,
    expectedVersion: run.version,
    phase,
    events: [event],
    outbox: [{key, runId: run.id, kind: event.kind, body: null}],
    ...more,
  });
  if (!result.ok) throw new Error(result.conflict);
  at.delivery.announce(result.run, [event]);
  return result.run;
}

function planned(run: Run): RunEvent {
  return {
    kind: 'planned',
    atMs: Date.now(),
    plan: {...aPlan(), runId: run.id},
    digest: 'd1',
    expiresAtMs: Date.now() + 900_000,
  };
}

function closed(atMs = Date.now()): RunEvent {
  return {
    kind: 'closed',
    atMs,
    outcome: {word: 'reclaimed', gpus: [], survivors: [], because: null, freedAfterMs: null},
  };
}

describe('the card of a run', () => {
  it('ends as the end says, although a progress edit lands after it', async () => {
    const at = await desk();
    const opened = await openRun(at.store);
    const run = await append(at, opened, 'awaiting-go', planned(opened), {
      openApproval: {digest: 'd1', expiresAtMs: Date.now() + 900_000},
    });
    await at.delivery.settled(5_000);
    at.delivery.progress(run, {kind: 'heartbeat', uptimeMs: 5});
    await expect.poll(() => at.flying.length).toBe(1);
    await append(at, run, 'closed', closed());
    await expect.poll(() => at.edits.filter((text) => /reclaimed/.test(text)).length).toBe(1);
    expect(await at.store.pendingOutbox(10)).not.toEqual([]);
    at.flying[0]?.();
    await expect.poll(() => at.edits.filter((text) => /reclaimed/.test(text)).length).toBe(2);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
  });

  it('and its thread come once each, whatever failed in between', async () => {
    const at = await desk();
    at.failing = true;
    const opened = await openRun(at.store);
    const run = await append(at, opened, 'awaiting-go', planned(opened), {
      openApproval: {digest: 'd1', expiresAtMs: Date.now() + 900_000},
    });
    await append(at, run, 'closed', closed());
    await at.delivery.settled(5_000);
    expect(at.posts).toEqual([]);
    at.failing = false;
    await expect
      .poll(
        async () => {
          await at.delivery.flush();
          return at.store.pendingOutbox(10);
        },
        {timeout: 10_000},
      )
      .toEqual([]);
    await at.delivery.flush();
    expect(at.posts).toHaveLength(1);
    expect(at.replies.length).toBeGreaterThan(0);
    expect(new Set(at.replies).size).toBe(at.replies.length);
  });

  it('is not posted for what ended days before any bot saw it', async () => {
    const at = await desk();
    const opened = await openRun(at.store);
    await append(at, opened, 'closed', closed(Date.now() - 2 * DAY_MS), {owner: OWNER});
    await at.delivery.flush();
    expect(at.posts).toEqual([]);
    expect(await at.store.pendingOutbox(10)).toEqual([]);
  });
});

async function waiting(at: Desk): Promise<Run> {
  const run = await openRun(at.store);
  return append(at, run, 'awaiting-go', planned(run), {
    openApproval: {digest: 'd1', expiresAtMs: Date.now() + 900_000},
  });
}

/** Over, with a sentence in the thread. */
async function over(at: Desk, run: Run, atMs = Date.now()): Promise<Run> {
  return append(at, await append(at, run, 'awaiting-go', {kind: 'expired', atMs}), 'closed', closed(atMs));
}

describe('trouble on the way', () => {
  it('an edit that may still land, over a newer one, is written once more when it can no longer', async () => {
    const clock = handClock();
    const at = await desk(clock);
    const run = await waiting(at);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.certainty = 'doubtful';
    await append(at, run, 'closed', closed());
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.certainty = 'sure';
    await clock.turn(29_000);
    await at.delivery.flush();
    const before = at.edits.length;
    await clock.turn(2_000);
    await at.delivery.flush();
    expect(at.edits.slice(before)).toEqual([expect.stringContaining('reclaimed')]);
    await clock.turn(60_000);
    await at.delivery.flush();
    expect(at.edits).toHaveLength(before + 1);
  });

  it('such a doubt outlives the program, and is settled by the next one', async () => {
    const clock = handClock();
    const at = await desk(clock);
    const run = await waiting(at);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.certainty = 'doubtful';
    await append(at, run, 'closed', closed());
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.delivery.stop();
    const next = await desk(clock, at.store);
    await next.delivery.flush();
    expect(next.edits).toEqual([]);
    await clock.turn(15_100);
    await next.delivery.flush();
    expect(next.edits).toEqual([expect.stringContaining('reclaimed')]);
    expect(await at.store.unsettled(9)).toEqual([]);
  });

  it('a card that is found deleted by a reply stands anew, and the thread goes on beneath it', async () => {
    const at = await desk();
    const run = await waiting(at);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.throws.reply = refused('thread_not_found');
    await over(at, run);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    expect(at.posts).toHaveLength(2);
    expect(at.replies.at(-1)).toMatch(/^1\.2 Nobody gave the go/);
    expect(await at.store.cardOf(run.id)).toMatchObject({ts: '1.2'});
  });

  it('a progress edit that finds the card deleted is not the last word on it', async () => {
    const at = await desk();
    const run = await waiting(at);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.throws.progress = refused('message_not_found');
    at.throws.edit = refused('message_not_found');
    at.delivery.progress(run, {kind: 'heartbeat', uptimeMs: 5});
    await expect.poll(() => at.posts.length).toBe(2);
    expect(await at.store.cardOf(run.id)).toMatchObject({ts: '1.2'});
  });

  it('no edit that Slack does not take now holds back what the thread says', async () => {
    const at = await desk();
    const run = await waiting(at);
    await expect.poll(() => at.store.pendingOutbox(10)).toEqual([]);
    at.editInMs = 30_000;
    await over(at, run);
    await expect.poll(() => at.replies.at(-1)).toMatch(/Nobody gave the go/);
    expect(await at.store.owedRuns(10)).toEqual([run.id]);
    at.editInMs = 0;
    await at.delivery.flush();
    expect(at.edits.at(-1)).toMatch(/reclaimed/);
    expect(await at.store.owedRuns(10)).toEqual([]);
  });

  it('what comes late says by how much', async () => {
    const at = await desk();
    const run = await waiting(at);
    await over(at, run, Date.now() - 40_000);
    await expect.poll(() => at.replies.at(-1)).toMatch(/Told 40 s late/);
    expect(at.edits.at(-1)).toMatch(/Told 40 s late/);
  });
});
