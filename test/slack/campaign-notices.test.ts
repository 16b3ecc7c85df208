/** What is told of campaigns without asking, by the real bot over the local Slack: once, late where it was down, and answered once. */
import {describe, expect, it} from 'vitest';
import {campaignId} from '../../src/domain/campaign.ts';
import type {Person} from '../../src/domain/person.ts';
import type {Policy} from '../../src/domain/policy.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {H200} from '../doubles/campaign-bench.ts';
import {measuredHosts, type Said} from '../doubles/measured-host.ts';
import {HOST, type Rig, startRig} from './rig.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function measuring(policy: (slack: Rig['slack']) => Partial<Policy> = () => ({})) {
  const said: Said = {probe: H200, powerW: 700, looks: 0, folders: []};
  const rig = await startRig({remote: measuredHosts(said), policy});
  return {rig, said, slack: rig.slack};
}

async function ask({slack}: Rig, text: string, user = slack.users.requester) {
  await slack.type(user, text);
  return (await slack.nextEphemeral((one) => one.to === user.id)).text;
}

async function begun(rig: Rig, text: string) {
  const id = /\b(c[0-9a-f]{5})\b/.exec(await ask(rig, text))?.[1] ?? '';
  const card = await rig.slack.nextPost();
  return {id: campaignId(id), card};
}

/** What stands in its thread below the card. */
async function replies({slack}: Rig, ts: string): Promise<readonly string[]> {
  return (await slack.thread(ts)).slice(1).map(({text}) => text);
}

/** Quiet samples, one a minute. */
async function idleFor(rig: Rig, id: ReturnType<typeof campaignId>, minutes: number): Promise<void> {
  for (let at = 0; at < minutes; at += 1) {
    rig.skip(MINUTE);
    await rig.engine.takeSample(id, HOST);
  }
}

describe('a hold whose time passes', () => {
  it('is told once, in the thread of its card, which says so too', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu profile start ${HOST} sweep until=2h`);
    rig.skip(2 * HOUR);
    const told = await slack.nextReply((one) => one.text.includes('has passed'));
    expect(told.thread_ts).toBe(card.ts);
    expect(told.text).toContain(`<@${slack.users.requester.id}> Its time`);
    expect(told.text).toContain(`/gpu profile stop ${id}\` makes the report`);
    expect(told.text).not.toContain('Told late');
    expect((await slack.nextUpdate((one) => one.ts === card.ts)).text).toContain('it holds nothing any more');
    await rig.restart();
    await ask(rig, `/gpu profile stop ${id}`);
    expect((await replies(rig, card.ts)).filter((text) => text.includes('has passed'))).toHaveLength(1);
    expect(rig.fatal).toEqual([]);
  });

  it('is told late by a bot that was down for two hours, once, also with its host cut', async () => {
    const {rig, said, slack} = await measuring();
    const {card} = await begun(rig, `/gpu profile start ${HOST} sweep until=1h sample=60s`);
    await rig.stopBot(0);
    rig.skip(3 * HOUR);
    said.probe = null;
    await rig.restart();
    const told = await slack.nextReply((one) => one.text.includes('has passed'));
    expect(told.text).toContain('Told late');
    await rig.restart();
    expect(await ask(rig, '/gpu profile list')).toContain('its time was over');
    expect(await replies(rig, card.ts)).toHaveLength(1);
    expect(said.samples ?? 0).toBe(0);
  });

  it('is history after that where it was a keep', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu keep ${HOST} until=1h "with carla"`);
    rig.skip(HOUR);
    expect((await slack.nextReply((one) => one.text.includes('has passed'))).thread_ts).toBe(card.ts);
    await slack.nextUpdate((one) => one.ts === card.ts);
    await rig.restart();
    expect(await ask(rig, '/gpu profile list')).toMatch(new RegExp(`${id}[\\s\\S]*by itself`));
    expect(await replies(rig, card.ts)).toHaveLength(1);
  });
});

describe('a report that Slack did not take', () => {
  it('is owed: it comes to the thread of its card once Slack takes it, also from the next program', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu profile start ${HOST} sweep`);
    const clear = slack.setFault({
      kind: 'http-error',
      method: 'chat.postMessage',
      status: 503,
      times: Number.POSITIVE_INFINITY,
    });
    await slack.type(slack.users.requester, `/gpu profile stop ${id}`);
    await slack.nextEphemeral((one) => one.text.includes('it comes as soon as Slack takes it'));
    expect(await replies(rig, card.ts)).toEqual([]);
    await rig.restart();
    clear();
    rig.skip(2 * MINUTE);
    await slack.nextReply((one) => one.thread_ts === card.ts && one.text.includes('Nothing was signalled'));
    await rig.restart();
    await ask(rig, '/gpu profile list');
    expect((await replies(rig, card.ts)).filter((text) => text.includes('Nothing was signalled'))).toHaveLength(1);
  });
});

describe('a campaign whose GPUs stand idle', () => {
  it('is asked about once, and ended by its holder with the report in the thread', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu profile start ${HOST} sweep sample=60s`);
    await idleFor(rig, id, 46);
    const question = await slack.nextReply((one) => one.text.includes('end it, or keep'));
    expect(question.thread_ts).toBe(card.ts);
    expect(question.text).toMatch(/Idle 4[56] m: end it, or keep 2 h\?/);
    await slack.click(slack.users.stranger, question.ts, ACTION.idleEnd, {card: question});
    expect((await slack.nextEphemeral((one) => one.to === slack.users.stranger.id)).text).toContain('may end it');
    await idleFor(rig, id, 3);
    await slack.click(slack.users.requester, question.ts, ACTION.idleEnd, {card: question});
    const answered = await slack.nextUpdate((one) => one.ts === question.ts);
    expect(answered.text).toContain(`<@${slack.users.requester.id}> ends it`);
    expect(JSON.stringify(answered.blocks)).not.toContain(ACTION.idleEnd);
    const report = await slack.nextReply((one) => one.text.includes('highest of'));
    expect(report.text).toContain('none missed');
    expect((await replies(rig, card.ts)).filter((text) => text.includes('keep 2 h'))).toHaveLength(0);
    expect(rig.fatal).toEqual([]);
  });

  it('goes on for two hours with "keep"; who comes second is told so', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu profile start ${HOST} sweep sample=60s`);
    await idleFor(rig, id, 46);
    const question = await slack.nextReply((one) => one.text.includes('end it, or keep'));
    const {approver, requester} = slack.users;
    await slack.click(approver, question.ts, ACTION.idleKeep, {card: question});
    const answered = await slack.nextUpdate((one) => one.ts === question.ts);
    expect(answered.text).toContain(`<@${approver.id}> keeps it`);
    await slack.click(requester, question.ts, ACTION.idleEnd, {card: question});
    expect((await slack.nextEphemeral((one) => one.to === requester.id)).text).toMatch(
      /was first, at .*: it is kept on/,
    );
    await idleFor(rig, id, 118);
    expect((await replies(rig, card.ts)).filter((text) => text.includes('end it, or keep'))).toHaveLength(0);
    await idleFor(rig, id, 3);
    await slack.nextReply((one) => one.ts !== question.ts && one.text.includes('end it, or keep'));
  });

  it('is ended at the next start where the bot died between the answer and the end', async () => {
    const {rig, slack} = await measuring();
    const {id, card} = await begun(rig, `/gpu profile start ${HOST} sweep sample=60s`);
    await idleFor(rig, id, 46);
    await slack.nextReply((one) => one.text.includes('end it, or keep'));
    const [kept] = await rig.store.campaigns.all(Date.now());
    const asked = kept?.notes.find(({what}) => what.startsWith('idle:'))?.what.slice('idle:'.length) ?? '';
    const person: Person = {kind: 'slack-user', id: slack.users.requester.id, team: '', groups: []};
    await rig.engine.answerIdle({id, question: asked, answer: 'end'}, person);
    await rig.stopBot(0);
    rig.skip(2 * HOUR);
    await rig.restart();
    // By who said so, with the way to the report: it was nobody's to be told.
    const ended = await slack.nextUpdate((one) => one.ts === card.ts && one.text.includes('Ended'));
    expect(ended.text).toContain(`by <@${person.id}>`);
  });
});

describe('a hold from a terminal', () => {
  const ANNA: Person = {kind: 'os-user', name: 'anna', uid: 1001};

  it('has a card in the first channel, is ended there, and reaches its holder where the policy knows them', async () => {
    const {rig, slack} = await measuring((local) => ({
      samePerson: [['os:anna', `slack:${local.users.stranger.id}`]],
    }));
    const started = await rig.engine.startHold({
      kind: 'keep',
      hosts: [HOST],
      gpus: [0],
      label: 'hand work',
      out: null,
      sampleMs: null,
      locked: {graphics: null, memory: null},
      pids: [],
      until: {kind: 'after', ms: 4 * HOUR},
      zone: 'UTC',
      person: ANNA,
      channel: null,
    });
    if (!started.ok) throw new Error(JSON.stringify(started.failure));
    const {id} = started.value.campaign;
    const card = await slack.nextPost();
    expect(card.text).toContain(`keep ${id} "hand work" on ${HOST}, GPU 0`);
    // Their own hold by their other id: no override is asked for.
    const refused = await ask(rig, `/gpu profile start ${HOST}`, slack.users.approver);
    expect(refused).toContain('held by');
    await rig.engine.stopHold(id, ANNA);
    expect((await slack.nextReply((one) => one.text.includes('Ended by'))).thread_ts).toBe(card.ts);
    expect((await slack.nextUpdate((one) => one.ts === card.ts)).text).toContain('by anna (terminal)');
  });
});

describe('a hold on a process', () => {
  it('is told in the channel, and is over by itself, which is said', async () => {
    const {rig, said, slack} = await measuring();
    const {card} = await begun(rig, `/gpu keep ${HOST} pid=1365 until=2h "my debugger"`);
    expect(card.text).toContain('PID 1365');
    expect(card.text).toContain('over by itself once they have ended');
    said.probe = H200.replaceAll('1365', '1999');
    rig.skip(2 * MINUTE);
    const over = await slack.nextReply((one) => one.text.includes('PID 1365 has ended'));
    expect(over.thread_ts).toBe(card.ts);
    expect((await slack.nextUpdate((one) => one.ts === card.ts)).text).toContain('by itself');
  });
});
