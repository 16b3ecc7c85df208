/**
 * Two promises of the Slack door, measured on the local Slack's own record: an ack within 100 ms at the 99th percentile
 * while 20 surveys run, and one winner for every double click, the other told privately. Exits 1 if either is broken.
 */
import {writeFileSync} from 'node:fs';
import {setPriority} from 'node:os';
import {setTimeout as wait} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {type Lab, startLab} from './lab/lab.ts';
import {workload} from './lab/species.ts';
import type {SlackPerson} from './slack/cast.ts';
import {type LocalSlack, startLocalSlack} from './slack/local-slack.ts';
import {say} from './stage.ts';
import {makeBot} from './story/bot.ts';
import {GO, hasButton, isOver} from './story/door.ts';
import {makeSlackBot, slackEnv, slackPolicy} from './story/slack-bot.ts';

/** nice(1): the lowest, and the highest. */
const LAST = 19;
const FIRST = -20;
const SURVEYS = 20;
const ROUNDS = 5;
const COMMANDS = 200;
/** Between two commands, ms: fifty people typing at once, not a flood that would starve the looks. */
const PAUSE_MS = 20;
const ACK_P99_MS = 100;

async function main(): Promise<number> {
  const {values} = parseArgs({options: {clicks: {type: 'string', default: '100'}}, allowPositionals: false});
  const labs: Lab[] = [];
  // GPU hosts are other machines: here they share our processors, so they get what the bot leaves. Only root may do that.
  const root = process.getuid?.() === 0;
  if (!root) say('Not root: the lab hosts take their full share of this machine, so the ack figure is a ceiling.');
  if (root) setPriority(LAST);
  for (let at = 1; at <= SURVEYS; at += 1) labs.push(await startLab({name: `lab-${at}`, gpus: 2}));
  const slack = await startLocalSlack({users: {second: 'eve'}});
  const second = slack.users['second'];
  if (second === undefined) throw new Error('Internal error: the second approver is missing');
  if (root) setPriority(0);
  if (root) niceOfSession(FIRST);
  const names = Object.fromEntries(labs.map((lab) => [lab.name, lab]));
  const policy = {
    ...slackPolicy(slack, {grace: '1s', memberDelay: '0s', limits: {runsPerPerson: 1000}}),
    approvers: [`slack:${slack.users.approver.id}`, `slack:${second.id}`],
  };
  const bot = makeBot(names, policy, {env: slackEnv(slack), owner: slack.users.requester.id});
  const slackBot = makeSlackBot(bot, slack);
  try {
    await slackBot.start();
    const acks = await measureAcks(slack);
    const clicks = await clickTwice(slack, [slack.users.approver, second], Number(values.clicks), async () => {
      await labs[0]?.spawn(workload([{gpu: 0, MiB: 1_000}]));
    });
    return acks && clicks ? 0 : 1;
  } finally {
    await slackBot.stop();
    bot.remove();
    await slack.close();
    for (const lab of labs) await lab.stop();
    if (root) niceOfSession(0);
  }
}

/** Nice values count only within a session where the kernel groups tasks by session (sched(7), autogroup); labs have their own. */
function niceOfSession(nice: number): void {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    say('This kernel has no autogroups: the lab hosts are held back by nice alone.');
  }
}

/** Commands typed one after the other while the whole fleet is being looked at, again and again. */
async function measureAcks(slack: LocalSlack): Promise<boolean> {
  // The first round opens the connections: a bot that has run for a minute has them open.
  await slack.type(slack.users.requester, '/gpu status lab');
  await slack.nextEphemeral((message) => message.text.includes('lab-20'), {withinMs: 60_000});
  const before = slack.envelopes.length;
  let looking = true;
  let rounds = 0;
  const looks = (async () => {
    while (looking) {
      await slack.type(slack.users.requester, '/gpu status lab');
      await slack.nextEphemeral((message) => message.text.includes('lab-20'), {withinMs: 60_000});
      rounds += 1;
    }
  })();
  for (let at = 0; at < COMMANDS || rounds < ROUNDS; at += 1) {
    await slack.type(slack.users.approver, '/gpu help');
    await wait(PAUSE_MS);
  }
  looking = false;
  await looks;
  const acks = slack.envelopes
    .slice(before)
    .flatMap((envelope) => (envelope.ackMs === null ? [] : [envelope.ackMs]))
    .toSorted((a, b) => a - b);
  const at = (share: number): number =>
    acks[Math.min(acks.length - 1, Math.ceil(acks.length * share) - 1)] ?? Number.POSITIVE_INFINITY;
  say(
    `ack of ${acks.length} commands during ${rounds} x ${SURVEYS} surveys on open connections: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, max ${at(1).toFixed(1)} ms (aim: p99 under ${ACK_P99_MS})`,
  );
  return at(0.99) < ACK_P99_MS && acks.length >= COMMANDS;
}

/** Each time a fresh plan, and both press its button in the same moment. */
async function clickTwice(
  slack: LocalSlack,
  people: readonly SlackPerson[],
  times: number,
  fill: () => Promise<void>,
): Promise<boolean> {
  let winners = 0;
  let answers = 0;
  for (let at = 0; at < times; at += 1) {
    await fill();
    slack.skip();
    const told = () => people.reduce((sum, person) => sum + slack.ephemerals(person).length, 0);
    const before = told();
    await slack.type(slack.users.requester, '/gpu reclaim lab-1 match=vllm');
    const card = await slack.nextUpdate((message) => hasButton(message, GO), {withinMs: 30_000});
    await Promise.all(people.map((person) => slack.click(person, card.ts, GO, {card})));
    await slack.nextEphemeral((message) => people.some((person) => person.id === message.to));
    const over = await slack.nextUpdate((message) => message.ts === card.ts && isOver(message), {withinMs: 60_000});
    winners += people.filter((person) => over.text.includes(`Go by <@${person.id}>`)).length;
    answers += told() - before;
  }
  say(`${times} double clicks by two approvers: ${winners} winners, ${answers} private answers`);
  return winners === times && answers === times;
}

process.exitCode = await main();
