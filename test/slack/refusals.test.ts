/** Every click and every command is answered, privately, by a sentence with a way on; and none of these signals anything. */
import {describe, expect, it} from 'vitest';
import type {LocalSlack} from '../../src/playground/slack/local-slack.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {HOST, type Rig, startRig} from './rig.ts';

async function waitingCard(rig: Rig, text = `/gpu reclaim ${HOST} match=vllm`): Promise<SlackMessage> {
  const {slack} = rig;
  await slack.type(slack.users.requester, text);
  const waits = ({message}: {readonly message: SlackMessage}) => JSON.stringify(message.blocks).includes(ACTION.leave);
  return (await slack.news.next(['post', 'update'], waits, 'waiting card')).message;
}

describe('a click that may not decide', () => {
  it('of a stranger names who may', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {stranger, approver} = slack.users;
    const card = await waitingCard(rig);
    await slack.click(stranger, card.ts, ACTION.terminateThenKill);
    const told = await slack.nextEphemeral();
    expect(told.to).toBe(stranger.id);
    expect(told.text).toContain(`<@${approver.id}>`);
    expect(await rig.engine.openRuns()).toMatchObject({value: [{phase: 'awaiting-go'}]});
  });

  it('of a stranger opens no choice either', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.click(slack.users.stranger, card.ts, ACTION.choose);
    await slack.nextEphemeral((message) => message.to === slack.users.stranger.id);
    expect(slack.viewOf(slack.users.stranger)).toBeNull();
  });

  it('of a person of another workspace is refused, whoever it is', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill, {teamId: 'T0ELSEWHERE'});
    expect((await slack.nextEphemeral()).text).toMatch(/own workspace/);
    expect(rig.executed).toEqual([]);
  });

  it('after the expiry says that it expired, and the card loses its buttons', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    rig.skip(16 * 60_000);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill, {card});
    expect((await slack.nextEphemeral()).text).toMatch(/expired/);
    await rig.engine.recover();
    await slack.nextReply((message) => /Nobody gave the go/.test(message.text));
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill, {card});
    const again = await slack.nextEphemeral();
    expect(again.text).toMatch(/expired at <!date\^\d+\^.*ask again/i);
    expect(again.text).toMatch(/\|Its card>$/);
    expect(rig.executed).toEqual([]);
  });

  it('after another’s go names who decided', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    await slack.click(slack.users.stranger, card.ts, ACTION.leave, {card});
    const told = await slack.nextEphemeral();
    expect(told.text).toContain(`was approved by <@${slack.users.approver.id}> at <!date^`);
    expect(told.text).toMatch(/\|Its card>$/);
    expect(rig.executed).toHaveLength(1);
  });

  it('on a card of a run that the store does not know says so', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    const blocks = JSON.parse(JSON.stringify(card.blocks).replaceAll(/[0-9a-f]{12}:/g, '000000000000:'));
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill, {card: {...card, blocks}});
    expect((await slack.nextEphemeral()).text).toMatch(/No run belongs.*\/gpu diagnose HOST/);
  });

  it('on a plan that nobody approved in time asks for the same again, on a card of its own', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig, `/gpu reclaim ${HOST} match=vllm reason="prod at 9"`);
    rig.skip(16 * 60_000);
    await rig.engine.recover();
    await slack.nextUpdate((message) => JSON.stringify(message.blocks).includes(ACTION.askAgain));
    await slack.click(slack.users.approver, card.ts, ACTION.askAgain);
    const fresh = await slack.nextPost((message) => message.ts !== card.ts && message.thread_ts === undefined);
    expect(fresh.text).toContain(`asked by <@${slack.users.approver.id}>`);
    expect(fresh.text).toContain('`/gpu reclaim gpu-07 match=vllm`');
    expect(fresh.text).not.toContain('prod at 9');
    expect(rig.executed).toEqual([]);
    await slack.click(slack.users.approver, card.ts, ACTION.askAgain);
    expect((await slack.nextEphemeral()).text).toMatch(/is busy with run .*which you asked for/);
  });

  it('of a group’s member counts, and while Slack does not tell the members nobody is one', async () => {
    const rig = await startRig({
      groups: {oncall: ['approver']},
      policy: (slack: LocalSlack) => ({approvers: slack.groups.map(({id}) => ({kind: 'slack-group', id}))}),
    });
    const {slack} = rig;
    const clear = slack.setFault({
      kind: 'refuse',
      method: 'usergroups.users.list',
      error: 'missing_scope',
      times: Number.POSITIVE_INFINITY,
    });
    const card = await waitingCard(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextEphemeral((message) => /usergroups:read/.test(message.text));
    clear();
    rig.skip(61_000);
    await slack.click(slack.users.stranger, card.ts, ACTION.terminateThenKill);
    const told = await slack.nextEphemeral(
      (message) => message.to === slack.users.stranger.id && /now:/.test(message.text),
    );
    expect(told.text).toBe(`In <!subteam^${slack.groups[0]?.id}> now: <@${slack.users.approver.id}>.`);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
  });
});

describe('a command', () => {
  it('in another channel is refused with the right one, but help answers', async () => {
    const rig = await startRig({allowed: (slack) => slack.channels['random']?.id});
    const {slack} = rig;
    await slack.type(slack.users.requester, `/gpu reclaim ${HOST}`);
    expect((await slack.nextEphemeral()).text).toContain(`<#${slack.channels['random']?.id}>`);
    await slack.type(slack.users.requester, '/gpu');
    expect((await slack.nextEphemeral()).text).toContain('/gpu reclaim');
    expect(await slack.messages()).toEqual([]);
  });

  it.each([
    ['/gpu recliam gpu-07', /reclaim/],
    ['/gpu reclaim', /needs a host/],
    ['/gpu reclaim gpu-70', /gpu-07/],
    ['/gpu reclaim 10.0.0.7', /address/],
    ['/gpu reclaim gpu-07 gpus=x', /gpus/],
    ['/gpu pause gpu-07', /no argument/],
    ['/gpu show zzz', /No run/],
    ['/gpu probe gpu-07', /terminal/],
    [`/gpu ${'x'.repeat(10_000)}`, /no command/],
    ['/gpu hosts', /gpu-07/],
    ['/gpu runs', /./],
    ['/gpu status', /gpu-07/],
    ['/gpu pause', /Paused/],
    ['/gpu resume', /not an approver|no approver|not paused|Resumed/],
    ['/gpu help', /\/gpu reclaim/],
  ])('%s is answered in private', async (text, expected) => {
    const rig = await startRig();
    await rig.slack.type(rig.slack.users.stranger, text);
    const told = await rig.slack.nextEphemeral((message) => expected.test(message.text));
    expect(told.by).toBe('bot');
    expect(await rig.slack.messages()).toEqual([]);
    expect(rig.fatal).toEqual([]);
  });

  it('for a busy host says who has it, since when, why, how far it is, and links to the card', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig, `/gpu reclaim ${HOST} match=vllm reason="prod at 9"`);
    await slack.type(slack.users.approver, `/gpu reclaim ${HOST}`);
    const told = await slack.nextEphemeral((message) => message.to === slack.users.approver.id);
    expect(told.text).toMatch(
      /^⛔ gpu-07 is busy with run [0-9a-f]{6}, which <@\w+> asked for at <!date\^\d+\^[^>]+>; its plan waits for a go until <!date\^/,
    );
    expect(told.text).toContain(`<@${slack.users.requester.id}>`);
    expect(told.text).toContain('Reason: prod at 9.');
    expect(told.text).toContain(card.ts.replace('.', ''));
    expect(told.text).toMatch(/\|Its card>$/);
    expect(await slack.messages()).toHaveLength(1);
  });

  it('for a host that one has oneself says so, and how to take it back', async () => {
    const rig = await startRig();
    const {slack} = rig;
    await waitingCard(rig);
    await slack.type(slack.users.requester, `/gpu reclaim ${HOST}`);
    const told = await slack.nextEphemeral((message) => message.to === slack.users.requester.id);
    expect(told.text).toMatch(/which you asked for at .*"\/gpu cancel [0-9a-f]{6}" withdraws it.*\n<.*\|Its card>/);
  });

  it('whose host answers slowly says that it still looks', async () => {
    const rig = await startRig();
    const release = rig.hold();
    await rig.slack.type(rig.slack.users.stranger, `/gpu diagnose ${HOST}`);
    await rig.slack.nextEphemeral((message) => /Still looking/.test(message.text));
    release();
    await rig.slack.nextEphemeral((message) => /3 GPUs/.test(message.text));
  });

  it('works as a mention inside of a thread, where slash commands do not', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const card = await waitingCard(rig);
    await slack.type(slack.users.stranger, `<@${slack.bot.userId}> hosts`, {threadTs: card.ts});
    expect((await slack.nextEphemeral()).text).toContain(HOST);
  });
});
