/** Scheduled reports by the production bot on real hosts: dead across due times, cut off, and waiting for a real process. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import type {SlackMessage} from '../../src/playground/slack/news.ts';
import {type Bot, makeBot} from '../../src/playground/story/bot.ts';
import {hasButton} from '../../src/playground/story/door.ts';
import {makeSlackBot, type SlackBot, slackEnv, slackPolicy} from '../../src/playground/story/slack-bot.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {startHost} from './bench.ts';

const HOST = 'gpu-07';
const LONG = {withinMs: 60_000};
const stops: (() => Promise<void>)[] = [];

interface Stage {
  readonly lab: Lab;
  readonly slack: LocalSlack;
  readonly bot: Bot;
  readonly slackBot: SlackBot;
}

async function stage(policy: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  const lab = await startHost(HOST, 2);
  const slack = await startLocalSlack();
  const bot = makeBot({[HOST]: lab}, slackPolicy(slack, policy), {
    env: slackEnv(slack),
    owner: slack.users.requester.id,
  });
  const slackBot = makeSlackBot(bot, slack);
  stops.push(async () => {
    await slackBot.stop();
    bot.remove();
    await slack.close();
    await lab.stop();
  });
  await slackBot.start();
  return {lab, slack, bot, slackBot};
}

const isReport = (message: SlackMessage): boolean => message.text.includes('GPU report on');

interface Listed {
  readonly id: string;
  readonly phrase: string;
  readonly nextAtMs: number | null;
  readonly watch: {readonly pinned?: {readonly pid: number}} | null;
}

async function listed(bot: Bot): Promise<readonly Listed[]> {
  return ((await bot.json('schedules')) as {readonly schedules: readonly Listed[]}).schedules;
}

async function ask({slack}: Stage, text: string): Promise<string> {
  await slack.type(slack.users.requester, text);
  return (await slack.nextEphemeral((one) => /Schedule `s/.test(one.text), LONG)).text;
}

describe.concurrent('a scheduled report', () => {
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  test('that came due while the bot was dead is made once after its start, late, and signals nothing', async ({
    expect: soon,
  }) => {
    const on = await stage();
    const {lab, slack, bot, slackBot} = on;
    const ghost = await lab.spawn(species.inheritor([[{gpu: 0, MiB: 700}]]));
    await ask(on, `/gpu report ${HOST} in 15s`);
    await bot.run('report', HOST, 'in', '16s');
    await ask(on, `/gpu report ${HOST} every 5m`);
    const before = await listed(bot);
    expect(before.map(({phrase}) => phrase)).toEqual(['in 15s', 'in 16s', 'every 5m']);
    await slackBot.kill();
    await soon.poll(() => Date.now(), {timeout: 30_000}).toBeGreaterThan(before[1]?.nextAtMs ?? 0);
    expect((await slack.messages()).filter(isReport)).toEqual([]);
    await slackBot.start();
    const roots = [await slack.nextPost(isReport, LONG), await slack.nextPost(isReport, LONG)];
    for (const root of roots) {
      expect(root.text).toContain('⚠ Late: due ');
      expect(root.text).toContain('*1 host: 1 dirty*');
    }
    const detail = await slack.nextReply((reply) => hasButton(reply, 'propose'), LONG);
    expect(detail.text).toContain(`PID ${ghost.pid}`);
    // Over and told: neither comes again.
    await soon.poll(async () => (await listed(bot)).map(({phrase}) => phrase), {timeout: 30_000}).toEqual(['every 5m']);
    expect((await slack.messages()).filter(isReport)).toHaveLength(2);
    expect(await received(lab)).toEqual([]);
    expect(await lab.alive(ghost.pid)).toBe(true);
  });

  test('of a host that is cut off is told once, as not seen', async ({expect: soon}) => {
    const on = await stage();
    const {lab, slack, bot} = on;
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    // Time to be cut off in the middle of the look.
    await lab.setLoginShell('sleeps', 8);
    await ask(on, `/gpu report ${HOST} in 1s`);
    await soon.poll(() => lab.dropConnections(), {timeout: 30_000}).toBeGreaterThan(0);
    const root = await slack.nextPost(isReport, LONG);
    expect(root.text).toContain('*1 host: 1 not seen*');
    expect(root.text).toContain('0 of 1: what was not seen is unknown, not clean');
    expect((await slack.nextReply((reply) => reply.text.includes('Not seen:'), LONG)).text).toContain(HOST);
    await lab.setLoginShell('normal');
    const again = (await bot.json('report')) as {
      readonly ok: boolean;
      readonly hosts: readonly {readonly state: string}[];
    };
    expect(again).toMatchObject({ok: true, hosts: [{state: 'occupied'}]});
    const plain = await bot.run('report', 'lab');
    expect(plain).toMatchObject({code: 0, out: expect.stringMatching(/^1 host: 1 occupied\ngpu-07 occupied GPU 0/)});
    expect(plain.out).toContain('Looked at 1 of 1; nothing was signalled.');
  });

  test('waits for a real process, and says when it has ended', async () => {
    const on = await stage({watchEvery: '1s'});
    const {lab, slack, bot} = on;
    const worker = await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const answer = await ask(on, `/gpu report ${HOST} when PID ${worker.pid} exits`);
    expect(answer).toContain(`Waits for PID ${worker.pid}`);
    expect((await listed(bot))[0]?.watch?.pinned?.pid).toBe(worker.pid);
    await lab.endOfItself(worker.pid);
    const root = await slack.nextPost(isReport, LONG);
    expect(root.text).toMatch(new RegExp(`PID ${worker.pid} \\S+ on ${HOST} has ended\\.`));
    expect(root.text).toContain('*1 host: 1 clean*');
  });

  test('of the policy file is kept by the bot, shown by the terminal, and not to be removed there', async () => {
    const schedules = {nightly: {hosts: ['lab'], when: 'every day 02:30', zone: 'Europe/Berlin'}};
    const {bot} = await stage({schedules});
    expect(await listed(bot)).toMatchObject([{id: 'file:nightly', phrase: 'every day 02:30', quiet: true}]);
    expect((await bot.run('schedules')).out).toMatch(
      /^file:nightly {2}lab every day 02:30 Europe\/Berlin, quiet, by file\n {3}next \d{4}-/,
    );
    const refused = await bot.run('schedules', 'remove', 'nightly');
    expect(refused).toMatchObject({code: 6, out: '', err: expect.stringContaining('stands in the policy file')});
    expect(await bot.run('report', 'lab', 'every', 'fortnight', '18:00')).toMatchObject({code: 2});
  });
});
