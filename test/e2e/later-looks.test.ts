/** After the close: the production bot looks again at real processes, calls people for a return, and for nothing else. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {type Bot, makeBot} from '../../src/playground/story/bot.ts';
import {GO, hasButton} from '../../src/playground/story/door.ts';
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

async function stage(lookAgain: readonly string[]): Promise<Stage> {
  const lab = await startHost(HOST, 2);
  const slack = await startLocalSlack();
  const policy = slackPolicy(slack, {grace: '1500ms', memberDelay: '300ms', stalled: '1s', verify: '10s', lookAgain});
  const bot = makeBot({[HOST]: lab}, policy, {env: slackEnv(slack), owner: slack.users.requester.id});
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

/** Asks, gives the go, and comes back with the card's ts once the run is closed and its looks are announced. */
async function reclaim({slack}: Stage): Promise<string> {
  await slack.type(slack.users.requester, `/gpu reclaim ${HOST} match=vllm`);
  const root = await slack.nextPost(() => true, LONG);
  const waiting = await slack.nextUpdate((one) => one.ts === root.ts && hasButton(one, GO), LONG);
  await slack.click(slack.users.approver, root.ts, GO, {card: waiting});
  await slack.nextUpdate((one) => one.ts === root.ts && one.text.includes('Looks again'), LONG);
  return root.ts;
}

interface Shown {
  readonly id: string;
  readonly outcome: {readonly word: string};
  readonly looksAgainAtMs: readonly number[];
  readonly timeToFree: readonly {readonly how: string; readonly allMs: number | null}[];
  readonly events: readonly {readonly kind: string; readonly note: Record<string, unknown>}[];
}

async function shown(bot: Bot): Promise<Shown & {readonly notes: readonly Record<string, unknown>[]}> {
  const listed = (await bot.json('runs')) as {readonly runs: readonly {readonly id: string}[]};
  const {run} = (await bot.json('show', listed.runs.at(-1)?.id ?? '')) as {readonly run: Shown};
  return {...run, notes: run.events.filter((event) => event.kind === 'noted').map((event) => event.note)};
}

describe.concurrent('a later look', () => {
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  test('calls people when a supervisor has started its worker again, and changes no outcome', async () => {
    const on = await stage(['1s', '8s']);
    const {lab, slack, bot} = on;
    const keeper = await lab.spawn(species.supervisor([species.workload([{gpu: 0, MiB: 700}])]));
    const ts = await reclaim(on);
    const told = await slack.nextReply((reply) => reply.text.includes('Came back'), LONG);
    expect(told.text).toMatch(
      new RegExp(
        `returned at \\+[\\d.]+ s: PID ${keeper.pid} supervisord started vllm\\S+ again, PID \\d+, 700 MiB on GPU 0`,
      ),
    );
    expect(told.text).toContain(`<@${slack.users.requester.id}> asked for it`);
    expect(told.text).not.toContain('looked late');
    const broadcast = slack.calls
      .filter((call) => call.args['reply_broadcast'] !== undefined)
      .map((call) => String(call.args['text']));
    expect(broadcast.filter((text) => text.includes('Came back'))).toHaveLength(1);

    const card = await slack.nextUpdate((one) => one.ts === ts && /still there/.test(one.text), LONG);
    expect(card.text).not.toContain('Looks again');
    expect(card.text).toMatch(/Later, .*returned at .*supervisord/);
    expect(card.text).toMatch(/Later, .*still there at .*supervisord/);
    const run = await shown(bot);
    // Final, whatever the later looks see: the supervisor may have been quicker than the closing look.
    expect(['nothing-freed', 'reclaimed']).toContain(run.outcome.word);
    expect(run.looksAgainAtMs).toEqual([]);
    expect(run.notes).toMatchObject([
      {
        what: 'compared',
        last: false,
        late: false,
        returns: [{by: 'restart', known: false, supervisor: {pid: keeper.pid}}],
      },
      {what: 'compared', last: true, late: false, returns: [{by: 'restart', known: true}]},
    ]);
    // It only looked: the one signal is that of the go.
    expect((await received(lab)).map((one) => one.signal)).toEqual(['TERM']);
    // Said once in the thread.
    const replies = (await slack.thread(ts)).filter((reply) => reply.text.includes('Came back'));
    expect(replies).toHaveLength(1);
  });

  test('notes a person’s new start on the card alone, and that nothing came back, once', async (context) => {
    const on = await stage(['3s', '5s']);
    const {lab, slack, bot} = on;
    // There the lab's own control process is everybody's living parent, as no shell or init is.
    if (lab.kind === 'flat') return context.skip('needs a lab with a PID namespace of its own');
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const ts = await reclaim(on);
    const again = await lab.spawn(species.workload([{gpu: 0, MiB: 600}]));
    const card = await slack.nextUpdate((one) => one.ts === ts && /nothing came back/.test(one.text), LONG);
    expect(card.text).toMatch(
      new RegExp(`Later, .*new at .*, a start and no return: PID ${again.pid} vllm\\S+ .*600 MiB on GPU 0`),
    );
    expect(card.text.match(/nothing came back/g)).toHaveLength(1);
    expect(card.text.match(/a start and no return/g)).toHaveLength(1);
    expect(
      (await slack.thread(ts))
        .slice(1)
        .map((reply) => reply.text)
        .join('\n'),
    ).not.toMatch(/no return|came back/i);
    const run = await shown(bot);
    expect(run.notes).toMatchObject([
      {what: 'compared', returns: [], starts: [{pid: again.pid}]},
      {what: 'compared', returns: [], starts: [], last: true},
    ]);
    expect(run.timeToFree).toMatchObject([{how: 'free', allMs: expect.any(Number)}]);
    expect(await lab.alive(again.pid)).toBe(true);
  });

  test('that came due while the bot was dead is made once after its start, and marked late', async ({expect: soon}) => {
    const on = await stage(['5s', '6s']);
    const {lab, slack, bot, slackBot} = on;
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const ts = await reclaim(on);
    await slackBot.kill();
    const owed = await shown(bot);
    expect((await bot.run('show', owed.id)).out).toMatch(
      /Looks again \d\d:\d\d:\d\d, \d\d:\d\d:\d\d UTC, by the Slack bot if one runs on this store/,
    );
    expect(owed.notes).toEqual([]);
    expect(owed.looksAgainAtMs).toHaveLength(2);
    await soon.poll(() => Date.now(), {timeout: 30_000}).toBeGreaterThan(owed.looksAgainAtMs.at(-1) ?? 0);
    await slackBot.start();
    const card = await slack.nextUpdate((one) => one.ts === ts && /Later,/.test(one.text), LONG);
    expect(card.text).toMatch(
      /nothing came back by \+[\d.]+ s.* \(looked late: due at \+6\.0 s, and nobody was there\)/,
    );
    expect(card.text).not.toContain('Looks again');
    expect((await shown(bot)).notes).toMatchObject([{what: 'compared', afterMs: 6_000, last: true, late: true}]);
  });

  test('is made no more once somebody has stopped it, and a failed one is not called clean', async () => {
    const on = await stage(['2s', '120s']);
    const {lab, slack, bot} = on;
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const ts = await reclaim(on);
    lab.setFault({kind: 'failed'});
    const failed = await slack.nextUpdate((one) => one.ts === ts && /Later,/.test(one.text), LONG);
    expect(failed.text).toMatch(/Later, .*could not tell at \+[\d.]+ s for GPU 0-1/);
    expect(failed.text).not.toContain('nothing came back');
    await slack.click(slack.users.stranger, ts, 'stop_looking', {card: failed});
    const card = await slack.nextUpdate((one) => one.ts === ts && /stopped by/.test(one.text), LONG);
    expect(card.text).toContain(`later looks stopped by <@${slack.users.stranger.id}>`);
    expect(hasButton(card, 'stop_looking')).toBe(false);
    expect((await shown(bot)).looksAgainAtMs).toEqual([]);
  });
});
