/** What one person is told alone, and shared; how a run ended; and the one reminder. Over a real Bolt and the local Slack. */
import {describe, expect, it} from 'vitest';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {HOST, type Rig, startRig} from './rig.ts';

function buttonsOf(message: {readonly blocks?: readonly unknown[]} | undefined): readonly string[] {
  return [...JSON.stringify(message?.blocks ?? []).matchAll(/"action_id":"([a-z_]+)"/g)].map((hit) => hit[1] ?? '');
}

async function asked({slack}: Rig): Promise<SlackMessage> {
  await slack.type(slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
  const {message} = await slack.news.next(
    ['post', 'update'],
    ({message: one}) => one.thread_ts === undefined && buttonsOf(one).length > 0,
    'card with buttons',
  );
  await slack.nextReply((reply) => reply.text.includes('What was found'));
  return message;
}

describe('Share', () => {
  const SHAREABLE = ['help', 'status', `diagnose ${HOST}`, 'runs', 'hosts', 'schedules'];

  it.each(SHAREABLE)('posts the very answer to "%s", and takes the place of the private one', async (text) => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await slack.type(requester, `/gpu ${text}`);
    const told = await slack.nextEphemeral();
    expect(buttonsOf(told).at(-1)).toBe(ACTION.share);
    expect(await slack.messages()).toEqual([]);
    await slack.click(requester, told.ts, ACTION.share);
    const shared = await slack.nextPost();
    const said = told.text.replace(/\n?\[Share\]$/, '');
    const how = text.startsWith('status') || text.startsWith('diagnose') ? 'looked' : 'as of';
    expect(shared.text.startsWith(said)).toBe(true);
    expect(shared.text.slice(said.length)).toMatch(
      new RegExp(`^\\nShared by <@${requester.id}>, ${how} <!date\\^\\d+`),
    );
    expect(buttonsOf(shared)).not.toContain(ACTION.share);
    await expect
      .poll(() => slack.ephemerals(requester).map((one) => one.text))
      .toEqual([expect.stringContaining('Shared: the answer stands')]);
    expect(rig.fatal).toEqual([]);
  });

  it('is once, by whom it was told, and of what is kept: never of what a button says', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, stranger} = slack.users;
    await slack.type(requester, '/gpu runs');
    const told = await slack.nextEphemeral();
    await slack.click(stranger, told.ts, ACTION.share, {card: told});
    expect((await slack.nextEphemeral(({to}) => to === stranger.id)).text).toContain('kept no more');
    const forged = JSON.parse(JSON.stringify(told).replace(/share:[0-9a-f]{16}/, 'share:everything')) as typeof told;
    await slack.click(requester, told.ts, ACTION.share, {card: forged});
    await slack.nextEphemeral(({text}) => text.includes('kept no more'));
    await Promise.all([1, 2].map(() => slack.click(requester, told.ts, ACTION.share, {card: told})));
    await slack.nextEphemeral(({text}) => text.includes('shared already'));
    await slack.nextPost();
    expect(await slack.messages()).toHaveLength(1);
    rig.skip(31 * 60_000);
    await slack.type(requester, '/gpu hosts');
    const late = await slack.nextEphemeral(({text}) => text.includes('1 host'));
    rig.skip(31 * 60_000);
    await slack.click(requester, late.ts, ACTION.share);
    await slack.nextEphemeral(({text}) => text.includes('kept no more'));
    expect(await slack.messages()).toHaveLength(1);
  });

  it('may be pressed again where Slack did not take it, and says what to do where the bot is no member', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await slack.type(requester, '/gpu runs');
    const told = await slack.nextEphemeral();
    slack.setFault({kind: 'refuse', method: 'chat.postMessage', error: 'not_in_channel'});
    await slack.click(requester, told.ts, ACTION.share, {card: told});
    expect((await slack.nextEphemeral()).text).toContain('/invite');
    await slack.click(requester, told.ts, ACTION.share, {card: told});
    await slack.nextPost();
  });

  it('of an answer in a thread posts into that thread, and is not offered for what changes something', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    const card = await asked(rig);
    await slack.type(requester, `@${slack.bot.name} status`, {threadTs: card.ts});
    const told = await slack.nextEphemeral(({thread_ts: thread}) => thread === card.ts);
    await slack.click(requester, told.ts, ACTION.share);
    const shared = await slack.nextReply((message) => message.text.includes('Shared by'));
    expect(shared.thread_ts).toBe(card.ts);
    await slack.type(requester, '/gpu pause');
    expect(buttonsOf(await slack.nextEphemeral(({text}) => text.includes('Paused')))).toEqual([]);
  });
});

describe('the end of a run', () => {
  it('is told to whoever asked, once, with the way to the card, where they did nothing on it lately', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const card = await asked(rig);
    rig.skip(5 * 60_000);
    await slack.click(approver, card.ts, ACTION.terminateThenKill);
    const told = await slack.nextDm(requester);
    expect(told.text).toMatch(/gpu-07: reclaimed/);
    expect(told.text).toMatch(
      new RegExp(`Go by <@${approver.id}>[\\s\\S]*You asked for run [0-9a-f]{6} · <http\\S+\\|Its card>`),
    );
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    await rig.restart();
    await slack.type(requester, '/gpu runs');
    await slack.nextEphemeral();
    expect(await slack.messages(slack.dm(requester))).toHaveLength(1);
    expect(await slack.messages(slack.dm(approver))).toEqual([]);
  });

  it('is not told to whoever has just pressed the button, nor where the policy says no, nor to a terminal', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const card = await asked(rig);
    await slack.click(approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    expect(await slack.messages(slack.dm(requester))).toEqual([]);

    const silent = await startRig({policy: () => ({tellRequester: false})});
    const waiting = await asked(silent);
    silent.skip(5 * 60_000);
    await silent.slack.click(silent.slack.users.approver, waiting.ts, ACTION.terminateThenKill);
    await silent.slack.nextUpdate((message) => /reclaimed/.test(message.text));
    await expect.poll(() => silent.store.pendingOutbox(10)).toEqual([]);
    expect(await silent.slack.messages(silent.slack.dm(silent.slack.users.requester))).toEqual([]);
  });

  it('stays owed while Slack is down, and is told once it is back, also by the next bot', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const card = await asked(rig);
    rig.skip(5 * 60_000);
    const release = rig.hold();
    await slack.click(approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => buttonsOf(message).includes(ACTION.stop));
    slack.setFault({kind: 'http-error', method: 'chat.postMessage', status: 503, times: Number.POSITIVE_INFINITY});
    release();
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    expect(await rig.store.pendingOutbox(10)).not.toEqual([]);
    await rig.restart();
    slack.clearFaults();
    expect((await slack.nextDm(requester)).text).toMatch(/gpu-07: reclaimed/);
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    expect(await slack.messages(slack.dm(requester))).toHaveLength(1);
  });
});

describe('the reminder to approvers', () => {
  it('comes once, in the thread, when half of the time is over', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {approver} = slack.users;
    const card = await asked(rig);
    rig.skip(8 * 60_000);
    const reminder = await slack.nextReply((message) => message.text.includes('still waits for a decision'));
    expect(reminder.thread_ts).toBe(card.ts);
    expect(reminder.text).toMatch(new RegExp(`⏰ <@${approver.id}>.*until <!date\\^\\d+.*no second reminder`));
    rig.skip(4 * 60_000);
    await rig.restart();
    await slack.type(approver, `@${slack.bot.name} show`, {threadTs: card.ts});
    await slack.nextEphemeral();
    const said = (await slack.thread(card.ts)).filter(({text}) => text.includes('still waits for a decision'));
    expect(said).toHaveLength(1);
  });

  it('does not come for a plan that waits briefly', async () => {
    const rig = await startRig({policy: () => ({approvalMs: 100_000})});
    const {slack} = rig;
    const card = await asked(rig);
    rig.skip(60_000);
    await slack.type(slack.users.approver, `@${slack.bot.name} pause`, {threadTs: card.ts});
    await slack.nextReply((message) => message.text.includes('Paused'));
    expect((await slack.thread(card.ts)).filter(({text}) => text.includes('still waits'))).toEqual([]);
  });

  it('does not come while all is paused, but after that', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {approver, requester} = slack.users;
    const card = await asked(rig);
    await slack.type(requester, '/gpu pause');
    await slack.nextEphemeral(({text}) => text.includes('Paused'));
    rig.skip(8 * 60_000);
    await slack.type(requester, `@${slack.bot.name} pause`, {threadTs: card.ts});
    await slack.nextReply((message) => message.text.includes('Paused'));
    expect((await slack.thread(card.ts)).filter(({text}) => text.includes('still waits'))).toEqual([]);
    await slack.type(approver, '/gpu resume');
    await slack.nextReply((message) => message.text.includes('still waits for a decision'));
  });
});
