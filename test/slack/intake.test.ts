/** Whoever asks is answered: while Slack is down, on a socket that is gone, and by the program after one that died. */
import {describe, expect, it} from 'vitest';
import type {Fault} from '../../src/playground/slack/faults.ts';
import {startRig} from './rig.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

describe('a private answer', () => {
  it.each<readonly Fault[]>([
    [{kind: 'http-error', method: 'response_url', status: 500}],
    [
      {kind: 'http-error', method: 'response_url', status: 404},
      {kind: 'rate-limit', method: 'chat.postEphemeral', retryAfterS: 1},
    ],
    [
      {kind: 'http-error', method: 'response_url', status: 500, times: 2},
      {kind: 'http-error', method: 'chat.postEphemeral', status: 503, times: 4},
    ],
  ])('comes although Slack does not take it at first (%j)', async (...faults) => {
    const rig = await startRig();
    for (const fault of faults) rig.slack.setFault(fault);
    await rig.slack.type(rig.slack.users.stranger, '/gpu hosts');
    expect(await rig.slack.nextEphemeral()).toMatchObject({by: 'bot', to: rig.slack.users.stranger.id});
    await expect.poll(() => rig.store.unsettled(9)).toEqual([]);
  });

  it('goes to the own conversation with the bot where nothing else takes it', async () => {
    const rig = await startRig();
    const {slack} = rig;
    slack.setFault({kind: 'http-error', method: 'response_url', status: 404, times: ALWAYS});
    slack.setFault({kind: 'refuse', method: 'chat.postEphemeral', error: 'user_not_in_channel', times: ALWAYS});
    await slack.type(slack.users.stranger, '/gpu hosts');
    await expect.poll(() => rig.store.unsettled(9)).toEqual([]);
    const direct = slack.calls.find(({method, args}) => method === 'chat.postMessage' && args['channel'] !== undefined);
    expect(direct?.args['channel']).toBe(slack.users.stranger.id);
  });
});

describe('what a program that died had taken', () => {
  it('is answered by the next one with the way on, once, and is not carried out', async () => {
    const rig = await startRig({connected: false});
    const {slack, store} = rig;
    const {id} = slack.users.approver;
    const left = {user: id, team: slack.team.id, channel: slack.channel.id, responseUrl: null};
    await store.claim('click:dead', Date.now() - 5_000, {asking: 'click', ...left});
    await store.claim('command:dead', Date.now() - 5_000, {asking: 'command', ...left});
    await store.claim('click:old', Date.now() - 3_600_000, {asking: 'click', ...left});
    await store.claim('unread', Date.now() - 5_000, {of: 'somebody else'});
    await rig.connect();
    await slack.nextEphemeral((message) => message.to === id && /press again/.test(message.text));
    await slack.nextEphemeral((message) => message.to === id && /your command/.test(message.text));
    await expect.poll(async () => (await store.unsettled(9)).map(({key}) => key)).toEqual(['unread']);
    await rig.restart();
    await slack.type(slack.users.stranger, '/gpu hosts');
    await slack.nextEphemeral((message) => message.to === slack.users.stranger.id);
    expect(slack.ephemerals(slack.users.approver)).toHaveLength(2);
    expect(rig.executed).toEqual([]);
  });
});

describe('what is under way', () => {
  it('is written down before it is acknowledged, and settled once it is answered', async () => {
    const rig = await startRig();
    const release = rig.hold();
    const done = await rig.slack.type(rig.slack.users.stranger, '/gpu status');
    expect(done.outcome).toBe('acked');
    expect(await rig.store.unsettled(9)).toMatchObject([
      {body: {asking: 'command', user: rig.slack.users.stranger.id}},
    ]);
    release();
    await rig.slack.nextEphemeral();
    await expect.poll(() => rig.store.unsettled(9)).toEqual([]);
  });
});
