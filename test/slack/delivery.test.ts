/** Card and thread over a real store, with a Slack whose answers the test holds in its hand. */
import {describe, expect, it} from 'vitest';
import type {Run, RunEvent, RunPhase} from '../../src/domain/run.ts';
import type {Append, Clock, RunStore} from '../../src/engine/ports.ts';
import type {Message} from '../../src/slack/blocks/message.ts';
import {makeDelivery} from '../../src/slack/delivery.ts';
import {makePace} from '../../src/slack/pace.ts';
import {makeProgressEditor} from '../../src/slack/progress-editor.ts';
import {systemClock} from '../../src/system-clock.ts';
import {aPlan} from '../doubles/build.ts';
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
}

async function desk(clock: Clock = systemClock()): Promise<Desk> {
  const store = await opened(storePath());
  const at: Desk = {
    store,
    edits: [],
    replies: [],
    posts: [],
    flying: [],
    failing: false,
    delivery: makeDelivery({
      store,
      poster: {
        post: async (_channel, message) => {
          if (at.failing) throw new Error('no Slack');
          at.posts.push(message.text);
          return `1.${at.posts.length}`;
        },
        reply: async (_card, message) => {
          if (at.failing) throw new Error('no Slack');
          at.replies.push(message.text);
        },
        edit: async (_card, message) => {
          if (at.failing) throw new Error('no Slack');
          at.edits.push(message.text);
          return 'sure' as const;
        },
        editInMs: () => 0,
      },
      editProgress: (_card, _message: Message) => new Promise<void>((resolve) => at.flying.push(resolve)),
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
