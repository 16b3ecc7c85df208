/** Words to the bot that are no command: where each is answered, and who reads it. Over a real Bolt and the local Slack. */
import {describe, expect, it} from 'vitest';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {meantInThread, wordsToBot} from '../../src/slack/mentioned.ts';
import {aRun} from '../doubles/build.ts';
import {HOST, type Rig, startRig} from './rig.ts';

function buttonsOf(message: {readonly blocks?: readonly unknown[]} | undefined): readonly string[] {
  return [...JSON.stringify(message?.blocks ?? []).matchAll(/"action_id":"([a-z_]+)"/g)].map((hit) => hit[1] ?? '');
}

/** A run whose card waits. */
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

type Where = 'command' | 'mention' | 'mention in the thread' | 'their own conversation';
type Answered = 'only them' | 'only them, in the thread' | 'all, in the thread' | 'in the conversation';

describe('what is answered where', () => {
  const rows: readonly (readonly [Where, string, Answered, RegExp])[] = [
    ['command', 'help', 'only them', /looks first/],
    ['command', 'pause', 'only them', /Paused: nothing is signalled/],
    ['mention', 'help', 'only them', /looks first/],
    ['mention', 'pause', 'all, in the thread', /^<@U\w+>:\nPaused: nothing is signalled/],
    ['mention', 'thanks', 'only them', /thanks/],
    ['mention in the thread', 'help', 'only them, in the thread', /looks first/],
    ['mention in the thread', 'runs', 'only them, in the thread', /newest first/],
    ['mention in the thread', 'show', 'only them, in the thread', /Asked by/],
    ['mention in the thread', 'status', 'only them, in the thread', /gpu-07/],
    ['mention in the thread', 'diagnose', 'only them, in the thread', /gpu-07/],
    ['mention in the thread', 'pause', 'all, in the thread', /Paused: nothing is signalled/],
    ['mention in the thread', 'stop looking', 'all, in the thread', /Nothing more is looked at|looked at no more/],
    ['mention in the thread', 'cancel', 'all, in the thread', /Stopped by <@U/],
    ['mention in the thread', 'cancel not today', 'all, in the thread', /Stopped by <@U\w+> at .*: not today/],
    ['their own conversation', 'help', 'in the conversation', /looks first/],
    ['their own conversation', 'status', 'in the conversation', /gpu-07/],
    ['their own conversation', 'pause', 'in the conversation', /Not here, where nobody else sees it: use <#/],
    ['their own conversation', `reclaim ${HOST}`, 'in the conversation', /Not here, where nobody else sees it: use <#/],
    ['their own conversation', 'schedules remove s00000', 'in the conversation', /Not here/],
  ];

  it.each(rows)('%s: "%s" is answered to %s', async (where, text, answered, words) => {
    const rig = await startRig();
    const {slack} = rig;
    const {approver} = slack.users;
    const card = where === 'mention in the thread' ? await asked(rig) : null;
    slack.skip();
    const bot = `@${slack.bot.name}`;
    const sent = {
      command: () => slack.type(approver, `/gpu ${text}`),
      mention: () => slack.type(approver, `${bot} ${text}`),
      'mention in the thread': () => slack.type(approver, `${bot} ${text}`, {threadTs: card?.ts ?? ''}),
      'their own conversation': () => slack.type(approver, text, {channel: slack.dm(approver)}),
    }[where];
    await sent();
    const fits = ({text: said}: {readonly text: string}): boolean => words.test(said);
    if (answered === 'in the conversation') {
      const told = await slack.nextDm(approver, fits);
      expect(buttonsOf(told)).not.toContain(ACTION.share);
    } else if (answered === 'all, in the thread') {
      const told = await slack.nextReply(fits);
      const root = card?.ts ?? (await slack.messages()).find(({user}) => user === approver.id)?.ts;
      expect(told.thread_ts).toBe(root);
    } else {
      const told = await slack.nextEphemeral(fits);
      expect(told.to).toBe(approver.id);
      expect(told.thread_ts).toBe(answered === 'only them, in the thread' ? card?.ts : undefined);
    }
    expect(rig.executed).toEqual([]);
    expect(rig.fatal).toEqual([]);
  });

  it.each(['edited', 'other-app'] as const)('a message that is %s is no word to the bot', async (mark) => {
    const rig = await startRig();
    const {slack} = rig;
    const {approver} = slack.users;
    await slack.type(approver, `@${slack.bot.name} pause`, {mark});
    await slack.type(approver, 'pause', {channel: slack.dm(approver), mark});
    // What comes after it is answered, so that the silence before is no slowness.
    await slack.type(approver, 'help', {channel: slack.dm(approver)});
    await slack.nextDm(approver, ({text}) => text.includes('looks first'));
    expect(await rig.store.paused()).toBeNull();
    expect(await slack.messages(slack.dm(approver))).toHaveLength(3);
  });

  it('opens a card in the channel for a mention in a thread, and tells that thread where', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    const {ts} = (await slack.type(requester, 'gpu-07 is full again')) as {readonly ts: string};
    await slack.type(requester, `@${slack.bot.name} reclaim ${HOST} match=vllm`, {threadTs: ts});
    const card = await slack.nextPost();
    expect(card.thread_ts).toBeUndefined();
    const told = await slack.nextReply((message) => message.thread_ts === ts);
    expect(told.text).toMatch(/A card for gpu-07 is opened in <#\w+>, run [0-9a-f]{6}.*\n<http\S+\|Its card>/);
  });

  it('takes slash commands in their own conversation as well: questions only', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    await slack.type(requester, '/gpu runs', {channel: slack.dm(requester)});
    expect((await slack.nextEphemeral()).text).toContain('No run yet');
    await slack.type(requester, `/gpu reclaim ${HOST}`, {channel: slack.dm(requester)});
    expect((await slack.nextEphemeral()).text).toContain('Not here');
    expect(await slack.messages()).toEqual([]);
  });
});

describe('reading a mention', () => {
  it.each([
    ['<@U1> status', 'status'],
    ['<@U1|gpu>: status', 'status'],
    ['hey <@U1>: ', 'hey'],
    ['status gpu-07 <@U1>', 'status gpu-07'],
    ['please <@U1> show 7f3a', 'show 7f3a'],
    ['<@U1>', ''],
    ['reclaim gpu-07 <@U2>', 'reclaim gpu-07 <@U2>'],
  ])('%s', (text, words) => {
    expect(wordsToBot(text, 'U1')).toBe(words);
  });

  it.each([
    ['show', 'show 7f3a00112233'],
    ['show 1234', 'show 1234'],
    ['cancel', 'cancel 7f3a00112233'],
    ['Cancel', 'cancel 7f3a00112233'],
    ['stop', 'cancel 7f3a00112233'],
    ['cancel 7f3a', 'cancel 7f3a'],
    ['cancel dead of night', 'cancel 7f3a00112233 dead of night'],
    ['cancel bo needs it', 'cancel 7f3a00112233 bo needs it'],
    ['status', 'status gpu-07'],
    ['status all', 'status all'],
    ['diagnose', 'diagnose gpu-07'],
    ['runs', 'runs'],
    ['pause', 'pause'],
    ['', ''],
  ])('in the thread of a run, "%s" means "%s"', (text, meant) => {
    expect(meantInThread(text, aRun())).toBe(meant);
  });
});
