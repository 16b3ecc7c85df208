/** The main line through a real Bolt over a real socket: command, card, click, thread. */
import {describe, expect, it} from 'vitest';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {formSaying, ticksIn} from './choose-flow.ts';
import {HOST, type Rig, startRig} from './rig.ts';

/** Somebody asks, and the card waits for a go. */
async function asked(rig: Rig, text = `/gpu reclaim ${HOST} match=vllm`) {
  const {slack} = rig;
  await slack.type(slack.users.requester, text);
  // A quick look is over before its card is posted: then the first post has the buttons.
  const waits = ({message}: {readonly message: SlackMessage}) =>
    message.thread_ts === undefined && buttonsOf(message).length > 0;
  const {message} = await slack.news.next(['post', 'update'], waits, 'card with buttons');
  return message;
}

function buttonsOf(message: {readonly blocks?: readonly unknown[]}): readonly string[] {
  return [...JSON.stringify(message.blocks ?? []).matchAll(/"action_id":"([a-z_]+)"/g)].map((hit) => hit[1] ?? '');
}

describe('a reclaim in Slack', () => {
  it('goes from the command over the card and a click of another to the report in the thread', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {approver} = slack.users;
    const card = await asked(rig);
    expect(card.text).toContain(HOST);
    expect(rig.executed).toEqual([]);

    expect(await slack.click(approver, card.ts, ACTION.terminateThenKill)).toMatchObject({outcome: 'acked'});
    await slack.nextReply((message) => /^Go by/.test(message.text));
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    const [final] = (await slack.messages()).filter((message) => message.ts === card.ts);
    expect(buttonsOf(final ?? {})).toEqual([]);
    expect(rig.executed).toHaveLength(1);
    expect(await slack.messages()).toHaveLength(1);
    await expect.poll(() => rig.store.pendingOutbox(10)).toEqual([]);
    expect(rig.fatal).toEqual([]);
  });

  it('lets one of two who click at once win, and tells the other who was first', async () => {
    const rig = await startRig({
      users: {second: 'bob'},
      policy: (slack) => ({
        approvers: [slack.users.approver, slack.users['second'] ?? slack.users.approver].map(({id}) => ({
          kind: 'slack-user' as const,
          id,
        })),
      }),
    });
    const {slack} = rig;
    const {approver} = slack.users;
    const second = slack.users['second'] ?? approver;
    const card = await asked(rig);
    await Promise.all([approver, second].map((one) => slack.click(one, card.ts, ACTION.terminateThenKill, {card})));
    const told = await slack.nextEphemeral();
    const winner = told.to === approver.id ? second : approver;
    expect(told.text).toContain(`<@${winner.id}>`);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    expect(rig.executed).toHaveLength(1);
    expect(slack.ephemerals(winner)).toEqual([]);
  });

  it('takes a click that Slack delivers twice only once', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await asked(rig);
    slack.setFault({kind: 'duplicate-envelope'});
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    expect(rig.executed).toHaveLength(1);
    expect(slack.ephemerals(slack.users.approver)).toEqual([]);
  });

  it('opens a card for a command that Slack delivers twice only once', async () => {
    const rig = await startRig();
    rig.slack.setFault({kind: 'duplicate-envelope'});
    await asked(rig);
    await expect.poll(() => rig.log.some((line) => line.startsWith('delivered again'))).toBe(true);
    expect(await rig.slack.messages()).toHaveLength(1);
  });

  it('asks a requester alone for a reason, and announces the break-glass go to the channel', async () => {
    const rig = await startRig({policy: () => ({selfGo: false})});
    const {slack} = rig;
    const {requester} = slack.users;
    const card = await asked(rig);
    await slack.click(requester, card.ts, ACTION.terminateOnly);
    await slack.nextView(requester);
    expect(rig.executed).toEqual([]);
    await slack.submitView(requester, {reason: 'prod starts at 6'});
    const announced = await slack.nextReply((message) => /Break-glass/.test(message.text));
    expect(announced.text).toContain('prod starts at 6');
    const call = slack.calls.find(({method, args}) => method === 'chat.postMessage' && args['text'] === announced.text);
    expect(String(call?.args['reply_broadcast'])).toBe('true');
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    expect(rig.executed).toHaveLength(1);
  });

  it('makes the next version of the plan by Choose, and calls a click on the old card outdated', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const old = await asked(rig);
    await slack.click(requester, old.ts, ACTION.choose);
    const view = await formSaying(rig, requester, /Since the card/);
    await slack.submitView(requester, ticksIn(view, {500: false, 600: true}));
    await slack.nextUpdate((message) => message.ts === old.ts && /600/.test(message.text));

    await slack.click(approver, old.ts, ACTION.terminateThenKill, {card: old});
    const told = await slack.nextEphemeral((message) => message.to === approver.id);
    expect(told.text).toMatch(/waits now|outdated|newer/i);
    expect(rig.executed).toEqual([]);
  });

  it('closes a plan by Leave it, with the reason in the thread', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await asked(rig);
    await slack.click(slack.users.stranger, card.ts, ACTION.leave);
    await slack.nextView(slack.users.stranger);
    await slack.submitView(slack.users.stranger, {reason: 'still measuring'});
    expect((await slack.nextReply((message) => /Left as it is/.test(message.text))).text).toContain('still measuring');
    await slack.nextUpdate((message) => message.ts === card.ts && buttonsOf(message).length === 0);
    expect(rig.executed).toEqual([]);
  });

  it('stops a working run by its button', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const release = rig.hold();
    const card = await asked(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => message.ts === card.ts && buttonsOf(message).includes(ACTION.stop));
    await slack.click(slack.users.stranger, card.ts, ACTION.stop);
    await slack.nextEphemeral((message) => /before its next signal/.test(message.text));
    release();
    await slack.nextUpdate((message) => /cancelled/.test(message.text));
  });

  it('opens a card from the end of a diagnosis', async () => {
    const rig = await startRig();
    const {slack} = rig;
    await slack.type(slack.users.requester, `/gpu diagnose ${HOST}`);
    const told = await slack.nextEphemeral((message) => buttonsOf(message).includes(ACTION.propose));
    await slack.click(slack.users.requester, told.ts, ACTION.propose);
    expect((await slack.nextPost()).text).toContain(HOST);
    expect(rig.executed).toEqual([]);
  });
});
