/** Who hears of a run's end in private, and when approvers are reminded: each decision as a row, on a clock of its own. */
import {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import type {OutcomeWord} from '../../src/domain/outcome.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {endGoesTo} from '../../src/slack/blocks/ended-message.ts';
import {endToldKey, tellRequester} from '../../src/slack/ended.ts';
import {makeReminders} from '../../src/slack/reminders.ts';
import {ANNA, aRequest} from '../doubles/build.ts';
import {approved, closedAs, ghostPlan, planned, requested, runOf} from './blocks-runs.ts';

const LOG = {info: () => undefined, warn: () => undefined, error: () => undefined};
const {requester} = requested.kind === 'requested' ? requested.request : {requester: ANNA};
const MINUTE = 60_000;
const ASKED = requested.atMs;

function ended(word: OutcomeWord, afterMs: number, ...before: readonly RunEvent[]): Run {
  return runOf('closed', requested, planned(ghostPlan()), ...before, {...closedAs(word), atMs: ASKED + afterMs});
}

describe('the end of a run goes', () => {
  const id = requester.kind === 'slack-user' ? requester.id : '';
  const ownGo = {...approved, by: requester, atMs: ASKED + 9 * MINUTE};
  const left = {kind: 'denied', by: approved.by, atMs: ASKED + 9 * MINUTE, reason: null} as const;
  it.each<readonly [string, Run, string | null]>([
    ['to whoever asked minutes ago', ended('reclaimed', 3 * MINUTE, approved), id],
    ['to nobody who asked just now', ended('reclaimed', MINUTE, approved), null],
    ['to nobody who pressed the go just now', ended('reclaimed', 10 * MINUTE, ownGo), null],
    ['to who pressed it long ago', ended('reclaimed', 12 * MINUTE, ownGo), id],
    ['to nobody for a dry run', ended('dry-run', 2_000), null],
    ['to nobody where there was nothing to do', ended('nothing-to-do', 2_000), null],
    ['to who asked, where another left it', ended('denied', 9 * MINUTE, left), id],
    ['to nobody who left it', ended('denied', 9 * MINUTE, {...left, by: requester}), null],
    [
      'to who asked, where nobody decided',
      ended('expired', 15 * MINUTE, {kind: 'expired', atMs: ASKED + 15 * MINUTE}),
      id,
    ],
    [
      'to nobody who stopped it',
      ended('cancelled', 9 * MINUTE, {kind: 'cancelled', by: `slack:${id}`, atMs: ASKED + 9 * MINUTE, reason: null}),
      null,
    ],
    ...(['partly', 'nothing-freed', 'failed', 'interrupted', 'unknown'] as const).map(
      (word) => [`at once where it is ${word}`, ended(word, 10 * MINUTE, ownGo), id] as const,
    ),
    [
      'to no terminal',
      runOf('closed', {kind: 'requested', atMs: ASKED, request: aRequest({requester: ANNA})}, closedAs('failed')),
      null,
    ],
    ['to nobody before it is over', runOf('executing', requested, approved), null],
  ])('%s', (_what, run, to) => {
    expect(endGoesTo(run)).toBe(to);
  });
});

/** A store of claims, and a poster that fails as it is told. */
function world() {
  const claims = new Set<string>();
  const at = {
    claims,
    nowMs: ASKED,
    posts: [] as string[],
    fails: null as Error | null,
    paused: false,
    runs: [] as Run[],
    store: {
      claim: async (key: string) => !claims.has(key) && claims.add(key) !== undefined,
      unclaim: async (key: string) => void claims.delete(key),
      openRuns: async () => at.runs,
      paused: async () => (at.paused ? {by: 'slack:U1', atMs: 1} : null),
      cardOf: async () => ({team: 'T', channel: 'C', ts: '1'}),
    },
    poster: {
      post: async (_to: string, {text}: {readonly text: string}) => {
        if (at.fails !== null) throw at.fails;
        at.posts.push(text);
        return '1';
      },
      reply: async (_card: unknown, {text}: {readonly text: string}) => {
        if (at.fails !== null) throw at.fails;
        at.posts.push(text);
      },
      edit: async () => 'sure' as const,
      editInMs: () => 0,
    },
    clock: {now: () => at.nowMs},
  };
  return at;
}

describe('telling it', () => {
  const run = ended('partly', MINUTE, approved);
  const tell = (at: ReturnType<typeof world>, wanted = true) =>
    tellRequester({...at, log: LOG, wanted, linkOf: async () => null}, run);

  it('is once, also after a crash; and never where the policy keeps out, or another told it', async () => {
    const at = world();
    await tell(at);
    await tell(at);
    expect(at.posts).toHaveLength(1);
    const off = world();
    await tell(off, false);
    const away = world();
    away.claims.add(endToldKey(run.id));
    await tell(away);
    expect([...off.posts, ...away.posts]).toEqual([]);
  });

  it('stays owed while Slack is down, and is given up where that person takes nothing', async () => {
    const at = world();
    at.fails = new Error('no Slack');
    await expect(tell(at)).rejects.toThrow('no Slack');
    at.fails = null;
    await tell(at);
    expect(at.posts).toHaveLength(1);
    const gone = world();
    for (const error of ['channel_not_found', 'messages_tab_disabled', 'user_disabled']) {
      gone.claims.clear();
      gone.fails = new webApi.WebAPIPlatformError({ok: false, error});
      await tell(gone);
      expect([...gone.claims]).toEqual([endToldKey(run.id)]);
    }
  });
});

describe('the reminder', () => {
  const plan = planned(ghostPlan());
  const waiting = runOf('awaiting-go', requested, plan);
  const half = plan.atMs + (plan.expiresAtMs - plan.atMs) / 2;
  const reminders = (at: ReturnType<typeof world>, approvers: readonly string[] = ['<!subteam^S0ONCALL>']) =>
    makeReminders({...at, log: LOG, approvers});

  const brief = {...plan, expiresAtMs: plan.atMs + 100_000};
  const drill = {...requested, request: aRequest({requester, practice: true})};
  type Change = Partial<Pick<ReturnType<typeof world>, 'nowMs' | 'paused' | 'runs'>>;
  it.each<readonly [string, Change, readonly string[], number]>([
    ['comes at half of the time', {}, ['<!subteam^S0ONCALL>'], 1],
    ['not before', {nowMs: half - 1}, ['<!subteam^S0ONCALL>'], 0],
    ['not once the time is over', {nowMs: plan.expiresAtMs}, ['<!subteam^S0ONCALL>'], 0],
    ['not while all is paused', {paused: true}, ['<!subteam^S0ONCALL>'], 0],
    ['not after the decision', {runs: [{...waiting, phase: 'executing'}]}, ['<@U1>'], 0],
    ['not for those of a terminal alone', {}, ['anna (terminal)'], 0],
    ['not for a drill', {runs: [runOf('awaiting-go', drill, plan)]}, ['<@U1>'], 0],
    [
      'not for a plan that waits briefly',
      {runs: [runOf('awaiting-go', requested, brief)], nowMs: plan.atMs + MINUTE},
      ['<@U1>'],
      0,
    ],
  ])('%s', async (_what, change, approvers, count) => {
    const at = world();
    at.runs = [waiting];
    at.nowMs = half;
    Object.assign(at, change);
    const remind = reminders(at, approvers);
    await remind();
    await remind();
    await reminders(at, approvers)();
    expect(at.posts).toHaveLength(count);
  });

  it('comes after a pause, and after Slack has asked to wait; of a lost answer comes no second', async () => {
    const at = world();
    at.runs = [waiting];
    at.nowMs = half;
    at.paused = true;
    const remind = reminders(at);
    await remind();
    at.paused = false;
    at.fails = new webApi.WebAPIRateLimitedError(1);
    await remind();
    at.fails = null;
    await remind();
    expect(at.posts).toHaveLength(1);
    const down = world();
    down.runs = [waiting];
    down.nowMs = half;
    down.fails = Object.assign(new Error('no Slack'), {code: 'ECONNREFUSED'});
    await reminders(down)();
    down.fails = null;
    await reminders(down)();
    expect(down.posts).toHaveLength(1);
    const lost = world();
    lost.runs = [waiting];
    lost.nowMs = half;
    lost.fails = new Error('socket hang up');
    await reminders(lost)();
    lost.fails = null;
    await reminders(lost)();
    expect(lost.posts).toEqual([]);
  });
});
