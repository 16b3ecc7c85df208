/** Slack in trouble, and the bot started again: what people are owed comes, once Slack takes it. */
import {describe, expect, it} from 'vitest';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {HOST, type Rig, startRig} from './rig.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

async function waitingCard(rig: Rig): Promise<SlackMessage> {
  const {slack} = rig;
  await slack.type(slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
  const waits = ({message}: {readonly message: SlackMessage}) => JSON.stringify(message.blocks).includes(ACTION.leave);
  return (await slack.news.next(['post', 'update'], waits, 'waiting card')).message;
}

describe('while Slack is down', () => {
  it.each([
    {kind: 'http-error', method: '*', status: 503, times: ALWAYS},
    {kind: 'drop-answer', method: 'chat.update', times: ALWAYS},
    {kind: 'rate-limit', method: '*', retryAfterS: 1, times: ALWAYS},
  ] as const)('the run goes on, and its report comes afterwards ($kind)', async (fault) => {
    const rig = await startRig();
    const {slack} = rig;
    const release = rig.hold();
    const card = await waitingCard(rig);
    await slack.nextReply();
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextReply((message) => /^Go by/.test(message.text));
    const clear = slack.setFault(fault);
    release();
    await expect.poll(async () => (await rig.store.openRuns()).length).toBe(0);
    expect((await rig.store.pendingOutbox(10)).length).toBeGreaterThan(0);
    clear();
    await slack.nextUpdate((message) => message.ts === card.ts && /reclaimed/.test(message.text), {withinMs: 15_000});
    await expect.poll(() => rig.store.pendingOutbox(10), {timeout: 10_000}).toEqual([]);
  });

  it('a card whose answer was lost is at worst a double, and a click on either decides', async () => {
    const rig = await startRig();
    const {slack} = rig;
    slack.setFault({kind: 'drop-answer', method: 'chat.postMessage'});
    await waitingCard(rig);
    await expect.poll(async () => (await slack.messages()).length).toBe(2);
    const cards = await slack.messages();
    const [run] = await rig.store.openRuns();
    const kept = run === undefined ? null : await rig.store.cardOf(run.id);
    const double = cards.find((message) => message.ts !== kept?.ts && JSON.stringify(message.blocks).includes('leave'));
    await slack.click(slack.users.approver, double?.ts ?? kept?.ts ?? '', ACTION.terminateThenKill);
    await slack.nextUpdate((message) => message.ts === kept?.ts && /reclaimed/.test(message.text));
    expect(rig.executed).toHaveLength(1);
    await expect.poll(async () => (await slack.messages()).length).toBe(double === undefined ? 2 : 1);
  });

  it('a Retry-After for edits holds back neither the thread nor an answer', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.nextReply();
    slack.setFault({kind: 'rate-limit', method: 'chat.update', retryAfterS: 30, times: ALWAYS});
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextReply((message) => /^Go by/.test(message.text), {withinMs: 5_000});
    await slack.type(slack.users.stranger, '/gpu hosts');
    await slack.nextEphemeral((message) => message.to === slack.users.stranger.id, {withinMs: 5_000});
  });

  it('a reply whose answer was lost is told again, and says that it may stand there twice', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.nextReply();
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    slack.setFault({kind: 'drop-answer', method: 'chat.postMessage'});
    await slack.click(slack.users.approver, card.ts, ACTION.leave);
    const {view} = await slack.nextView(slack.users.approver);
    if (view === null) throw new Error('no form came');
    await slack.submitView(slack.users.approver, {reason: 'still needed'}, {view});
    await slack.nextReply((message) => /Left as it is/.test(message.text) && /may stand here twice/.test(message.text));
    const left = (await slack.thread(card.ts)).filter(({text}) => text.includes('Left as it is'));
    expect(left.map(({text}) => text.includes('twice'))).toEqual([false, true]);
  });

  it('a channel that is archived in the middle: the run goes on, and whoever asked is told alone, once each', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const release = rig.hold();
    const card = await waitingCard(rig);
    await slack.nextReply();
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextReply((message) => /^Go by/.test(message.text));
    const gone = {kind: 'refuse', method: '*', error: 'is_archived', channel: card.channel, times: ALWAYS} as const;
    slack.setFault(gone);
    release();
    const alone = await slack.nextDm(slack.users.requester, (message) => /Told here because/.test(message.text));
    expect(alone.text).toMatch(/reclaimed[\s\S]*archived/);
    expect(rig.executed).toHaveLength(1);
    expect(rig.fatal).toEqual([]);
  });

  it('a card that fell back to an older state is put right by a click on it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => message.ts === card.ts && /reclaimed/.test(message.text));
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    await fetch(`${slack.apiUrl}chat.update`, {
      method: 'POST',
      headers: {authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json'},
      body: JSON.stringify({channel: card.channel, ts: card.ts, text: card.text, blocks: card.blocks}),
    });
    await slack.nextUpdate((message) => /Waiting for a go/.test(message.text));
    await slack.click(slack.users.stranger, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => message.ts === card.ts && /reclaimed/.test(message.text));
    await slack.nextEphemeral((message) => message.to === slack.users.stranger.id);
    expect(rig.executed).toHaveLength(1);
  });

  it('a deleted card is posted anew, and the run finds it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.nextReply();
    const deleted = await fetch(`${slack.apiUrl}chat.delete`, {
      method: 'POST',
      headers: {authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json'},
      body: JSON.stringify({channel: card.channel, ts: card.ts}),
    });
    expect(await deleted.json()).toMatchObject({ok: true});
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill, {card});
    const again = await slack.nextPost((message) => message.ts !== card.ts);
    await slack.nextUpdate((message) => message.ts === again.ts && /reclaimed/.test(message.text));
  });

  it('a card that cannot be posted in this channel withdraws the plan and says how to mend it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    slack.setFault({kind: 'refuse', method: 'chat.postMessage', error: 'not_in_channel', times: ALWAYS});
    await slack.type(slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
    expect((await slack.nextEphemeral()).text).toMatch(/\/invite/);
    expect(await rig.store.openRuns()).toEqual([]);
  });

  it('blocks that Slack refuses arrive as plain text', async () => {
    const rig = await startRig();
    const {slack} = rig;
    slack.setFault({kind: 'refuse', method: 'chat.postMessage', error: 'invalid_blocks'});
    await slack.type(slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
    const post = await slack.nextPost();
    expect(post.text).toContain(HOST);
    expect(post.blocks ?? []).toEqual([]);
  });

  it.each(['invalid_auth', 'account_inactive', 'missing_scope'])(
    '%s ends the bot with one line, and is not tried again',
    async (error) => {
      const rig = await startRig();
      rig.slack.setFault({kind: 'refuse', method: 'chat.postMessage', error, times: ALWAYS});
      await rig.slack.type(rig.slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
      await expect.poll(() => rig.fatal[0]).toContain(error);
    },
  );

  it('a wrong app token ends the bot too, also on a reconnect', async () => {
    const rig = await startRig();
    rig.slack.setFault({kind: 'refuse', method: 'apps.connections.open', error: 'invalid_auth', times: ALWAYS});
    rig.slack.dropSockets();
    await expect.poll(() => rig.fatal[0], {timeout: 10_000}).toContain('invalid_auth');
  });
});

describe('the socket', () => {
  it.each(['dropSockets', 'refreshSockets'] as const)('comes back after %s, and commands are heard', async (how) => {
    const rig = await startRig();
    const {slack} = rig;
    slack[how]();
    await expect.poll(() => slack.connected(), {timeout: 5_000}).toBe(0);
    await slack.whenConnected();
    await slack.type(slack.users.stranger, '/gpu hosts');
    expect((await slack.nextEphemeral()).by).toBe('bot');
    expect(rig.fatal).toEqual([]);
  });

  it('comes back when Slack refuses the upgrade and the API for a while', async () => {
    const rig = await startRig();
    const {slack} = rig;
    slack.setFault({kind: 'refuse-upgrade'});
    slack.setFault({kind: 'http-error', method: 'apps.connections.open', status: 503});
    slack.dropSockets();
    await expect.poll(() => slack.connected()).toBe(0);
    await slack.whenConnected();
    expect(rig.fatal).toEqual([]);
  });
});

describe('started again', () => {
  it('posts what was owed, a run of the terminal too, and the old card still works', async () => {
    const rig = await startRig({connected: false});
    const {slack} = rig;
    const asked = {host: HOST, gpus: null, match: 'vllm', user: null, pids: [], includeOthers: false};
    const requester = {kind: 'os-user', name: 'anna', uid: 1000} as const;
    const proposed = await rig.engine.propose({...asked, graceMs: null, dryRun: false, reason: null, requester});
    expect(proposed.ok).toBe(true);
    expect((await rig.store.pendingOutbox(10)).length).toBe(1);
    await rig.connect();
    const card = await slack.nextPost();
    await slack.nextReply();
    await rig.restart();
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    expect(await slack.messages()).toHaveLength(1);
    // The card says it first; the thread follows.
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    const thread = await slack.thread(card.ts);
    expect(new Set(thread.map((message) => message.text)).size).toBe(thread.length);
  });
});

describe('a stop', () => {
  it('waits for work that is under way', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const release = rig.hold();
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextReply((message) => /^Go by/.test(message.text));
    const stopped = rig.stopBot(10_000);
    await expect.poll(() => slack.connected()).toBe(0);
    release();
    await stopped;
    expect(await rig.store.openRuns()).toEqual([]);
    expect((await slack.messages())[0]?.text).toMatch(/reclaimed/);
  });

  it('asks a run that goes on too long to send nothing more', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const release = rig.hold();
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await expect.poll(() => rig.executed.length).toBe(1);
    const stopped = rig.stopBot(50);
    const id = rig.executed[0];
    if (id === undefined) throw new Error('nothing was executed');
    await expect.poll(() => rig.store.stopAsked(id)).not.toBeNull();
    release();
    await stopped;
  });
});
