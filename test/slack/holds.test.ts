/** `/gpu profile` and `/gpu keep` through a real Bolt over the local Slack: card, report in its thread, buttons, refusals. */
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {requestOf} from '../../src/domain/run-state.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {measuredHosts, type Said} from '../doubles/measured-host.ts';
import {HOST, type Rig, startRig} from './rig.ts';

const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');
/** The same host before, in another boot: then nobody of now was there. */
const BEFORE = H200.replace(/boot_id \S+/, 'boot_id 00000000-0000-0000-0000-000000000001');

async function measuring() {
  const said: Said = {probe: BEFORE, powerW: 700, looks: 0, folders: []};
  const rig = await startRig({remote: measuredHosts(said)});
  return {rig, said};
}

async function ask({slack}: Rig, text: string, user = slack.users.requester) {
  await slack.type(user, text);
  return (await slack.nextEphemeral((one) => one.to === user.id)).text;
}

function idIn(text: string): string {
  return /\b(c[0-9a-f]{5})\b/.exec(text)?.[1] ?? '';
}

describe('/gpu profile', () => {
  it('has a card in the channel, and at its end a report in the thread with a button that only opens a card', async () => {
    const {rig, said} = await measuring();
    const {slack} = rig;
    const answered = await ask(rig, `/gpu profile start ${HOST} <!channel> sweep out=/data until=2h`);
    const id = idIn(answered);
    expect(answered).toContain('holds from now on');
    const card = await slack.nextPost();
    expect(card.text).toContain(`profile ${id} "`);
    expect(card.text).not.toContain('<!channel>');
    expect(card.text).toMatch(/holds until <!date\^\d+/);
    expect(card.text).toContain(`/gpu profile stop ${id}`);
    expect(await ask(rig, '/gpu profile list')).toContain(id);
    expect(card.text).toContain(`by <@${slack.users.requester.id}>`);
    expect(await ask(rig, `/gpu profile stop ${id}`, slack.users.stranger)).toMatch(
      /held by <@U[A-Z0-9]+> \(profile c[0-9a-f]{5} [\s\S]*they, or an approver, may end it/,
    );
    expect(await ask(rig, `/gpu profile report ${id}`)).toContain(`"/gpu profile stop ${id}"`);

    said.probe = H200;
    said.powerW = 300;
    expect(await ask(rig, `/gpu profile stop ${HOST}`)).toContain('its report is in the thread of its card');
    const edited = await slack.nextUpdate((one) => one.ts === card.ts);
    expect(edited.text).toContain('Ended <!date');
    const report = await slack.nextReply((one) => one.text.includes('left behind'));
    expect(report.thread_ts).toBe(card.ts);
    expect(report.text).toMatch(/nvidia-smi -i GPU-[0-9a-f-]{36} -pl 700/);
    expect(report.text).toContain('not sampled');
    const value = /"value":"(host:[^"]* pid:\d+)"/.exec(JSON.stringify(report.blocks))?.[1] ?? '';
    expect(value).toMatch(new RegExp(`^host:${HOST} pid:\\d+$`));
    await slack.click(slack.users.approver, report.ts, ACTION.propose, {card: report});
    const opened = await slack.nextPost((one) => one.ts !== card.ts);
    expect(opened.text).toContain(HOST);
    const [run] = await rig.store.openRuns();
    expect(value).toBe(`host:${HOST} pid:${run === undefined ? '' : requestOf(run).pids.join()}`);
    expect(rig.executed).toEqual([]);
    expect(rig.fatal).toEqual([]);

    said.powerW = 700;
    await ask(rig, `/gpu profile report ${id}`);
    const again = await slack.nextReply((one) => one.ts !== report.ts && one.text.includes('are as at the start'));
    expect(again.thread_ts).toBe(card.ts);
  });

  it('says what does not read, and what is not there', async () => {
    const {rig} = await measuring();
    expect(await ask(rig, '/gpu profile begin gpu-07')).toContain('"begin" is no argument here');
    expect(await ask(rig, '/gpu profile start')).toContain('needs a host');
    expect(await ask(rig, '/gpu profile stop c12345')).toContain('No campaign or hold is called');
    expect(await ask(rig, '/gpu profile list')).toContain('No GPU is held for anybody');
  });
});

describe('/gpu keep', () => {
  it('holds, is seen by all, and by its clock in the zone of who asks', async () => {
    const {rig, said} = await measuring();
    const answered = await ask(rig, `/gpu keep ${HOST} gpus=0 until=18:00 "with carla"`);
    const card = await rig.slack.nextPost();
    expect(card.text).toContain(`keep ${idIn(answered)} "with carla" on ${HOST}, GPU 0`);
    expect(said.looks).toBe(0);
    expect(await ask(rig, `/gpu profile stop ${idIn(answered)}`)).toContain('is ended.');
    expect((await rig.slack.nextUpdate((one) => one.ts === card.ts)).text).toContain('Ended');
    expect(await ask(rig, `/gpu keep ${HOST} until=18:00`)).toContain('why, in a few words');
  });
});
