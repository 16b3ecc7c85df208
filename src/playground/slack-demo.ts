/** The story, the attacks and the page through the local Slack: lab host, local Slack and production bot in one go. */
import {once} from 'node:events';
import type {Lab} from './lab/lab.ts';
import type {LabProcess} from './lab/process-tree.ts';
import {type LocalSlack, startLocalSlack} from './slack/local-slack.ts';
import type {SlackMessage} from './slack/news.ts';
import {HOST, isSkipped, raiseLab, STORY_KEPT, say, verdict} from './stage.ts';
import {type Answer, type Bot, makeBot} from './story/bot.ts';
import {botProcess} from './story/bot-process.ts';
import type {Break} from './story/breaks.ts';
import {type Cast, castFor} from './story/cast.ts';
import {isOver, slackDoor} from './story/door.ts';
import {hostSwitches} from './story/host-switches.ts';
import {castOn, labState, type Shown} from './story/lab-state.ts';
import {judgeStory, unaccounted} from './story/play.ts';
import {makeSlackBot, type SlackBot, slackEnv, slackPolicy} from './story/slack-bot.ts';
import type {SlackBreak} from './story/slack-breaks.ts';
import {received} from './story/verdict.ts';
import type {DemoOptions} from './terminal-demo.ts';
import {raiseZoo, ZOO_HOST} from './zoo-host.ts';

/** All that stands on the stage while a story is played. */
export interface Stagehands<Players = Cast> {
  readonly lab: Lab;
  readonly cast: Players;
  readonly slack: LocalSlack;
  readonly bot: Bot;
  readonly slackBot: SlackBot;
  /** More processes for the page's host pane. */
  readonly show: (processes: readonly LabProcess[], user: string) => void;
}

export interface SlackDemoOptions extends DemoOptions {
  /** Of the page; 0 takes a free one. */
  readonly port: number;
  /** A second host, `lab-zoo`, where every species stands beside the others. */
  readonly zoo?: boolean;
}

function onStage(
  options: SlackDemoOptions,
  policy: Readonly<Record<string, unknown>>,
  play: (hands: Stagehands) => Promise<number>,
): Promise<number> {
  const players = async (lab: Lab) => {
    const cast = await castFor(lab, options.seed);
    return {cast, shown: castOn(lab, cast)};
  };
  return stageWith(players, options, policy, play);
}

/** Lab first, then Slack, then the bot; down in the opposite order, whatever happens. */
export async function stageWith<Players>(
  players: (lab: Lab) => Promise<{readonly cast: Players; readonly shown: readonly Shown[]}>,
  options: SlackDemoOptions,
  policy: Readonly<Record<string, unknown>>,
  play: (hands: Stagehands<Players>) => Promise<number>,
): Promise<number> {
  const lab = await raiseLab(options.seed, options.kind);
  const undo: (() => Promise<void> | void)[] = [() => lab.stop()];
  const others: Record<string, Lab> = {};
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      for (const one of undo.toReversed()) await one();
    })();
    return stopping;
  };
  process.once('SIGINT', () => void stop().then(() => process.exit(130)));
  process.once('SIGTERM', () => void stop().then(() => process.exit(143)));
  try {
    const {cast, shown: first} = await players(lab);
    const shown = [...first];
    const show = (processes: readonly LabProcess[], user: string): void => {
      shown.unshift(...processes.map((process) => ({process, user})));
    };
    const states = [labState(HOST, lab, () => shown)];
    const labs = [lab];
    if (options.zoo === true) {
      say(`Raising ${ZOO_HOST} as well, with every species there is.`);
      const zoo = await raiseZoo(options.kind);
      undo.push(() => zoo.lab.stop());
      others[ZOO_HOST] = zoo.lab;
      const inZoo = zoo.processes.map((process) => ({process, user: process.label === 'bystander' ? 'bo' : 'root'}));
      states.push(labState(ZOO_HOST, zoo.lab, () => inZoo));
      labs.push(zoo.lab);
    }
    let slackBot: SlackBot | null = null;
    const slack = await startLocalSlack({
      bot: botProcess(
        () => slackBot,
        async () => (await Promise.all(labs.map((one) => received(one)))).flat().length,
      ),
      hostSwitches: hostSwitches(lab, HOST, show),
      port: options.port,
      // People live where the page is read: a report "at 18:00" is at 18:00 on it.
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      hostState: () => Promise.all(states.map((state) => state())),
      hints: [
        '/gpu help',
        '/gpu status',
        `/gpu diagnose ${HOST}`,
        ...[HOST, ...Object.keys(others)].map((host) => `/gpu reclaim ${host} match=vllm`),
        `/gpu profile start ${HOST} "my sweep" gpus=0-5`,
      ],
    });
    undo.push(() => slack.close());
    const bot = makeBot({[HOST]: lab, ...others}, slackPolicy(slack, policy), {
      env: slackEnv(slack),
      owner: slack.users.requester.id,
    });
    undo.push(() => bot.remove());
    const made = makeSlackBot(bot, slack);
    slackBot = made;
    undo.push(() => made.stop());
    await made.start();
    return await play({lab, cast, slack, bot, slackBot: made, show});
  } finally {
    await stop();
  }
}

export function playSlackScript(options: SlackDemoOptions): Promise<number> {
  return onStage(options, {}, async ({lab, cast, slack, bot}) => {
    const before = await lab.ledger();
    const door = slackDoor(slack, HOST, quiet);
    await door.go(await door.plan()).done;
    await printChannel(slack);
    return verdict((await judgeStory(lab, bot, cast, before)).broken, STORY_KEPT);
  });
}

export function playSlackBreak(options: SlackDemoOptions, name: string, attack: Break | SlackBreak): Promise<number> {
  return onStage(options, attack.policy ?? {}, async ({lab, cast, slack, bot, slackBot}) => {
    if (isSkipped(name, attack.needs, lab)) return 0;
    say(`Attack: ${attack.what}.`);
    const show = (answer: Answer): void => say(answer.out);
    const broken = await attack.play({
      lab,
      bot,
      cast,
      host: HOST,
      door: slackDoor(slack, HOST, quiet),
      show,
      say,
      slack,
      slackBot,
    });
    await printChannel(slack);
    const harm = (await unaccounted(lab, bot, cast)).filter((line) => line.startsWith('an innocent'));
    return verdict([...broken, ...harm], 'no forbidden signal');
  });
}

/** Stays up until Ctrl-C. */
export function playPage(options: SlackDemoOptions): Promise<number> {
  return onStage(options, {}, async ({slack}) => {
    const {requester, approver, stranger} = slack.users;
    say(
      '',
      `Open  ${slack.url}`,
      '',
      'GPU 0-3 are full and no name owns them: a ghost. A vLLM server has two workers on two more GPUs.',
      'Beside them live innocents. Three things to try:',
      `  1. as ${requester.name}:   /gpu reclaim ${HOST} match=vllm`,
      `  2. as ${approver.name}:  press the red button, "Terminate …, then kill -9", and watch the GPUs come back`,
      `  3. as ${stranger.name}:   press it yourself and see what you are told; or type /gpu help, /gpu diagnose ${HOST}`,
      '',
      'Ctrl-C ends everything and leaves nothing behind.',
    );
    await once(process, 'SIGINT');
    return 130;
  });
}

/** The same stage for other hands: a browser that is driven, a test. */
export function playOnPage(options: SlackDemoOptions, play: (hands: Stagehands) => Promise<number>): Promise<number> {
  return onStage(options, {}, play);
}

/** Channel and threads as text, as a person would read them, once the last report has come. */
async function printChannel(slack: LocalSlack): Promise<void> {
  const over = (await slack.messages()).some(isOver);
  if (over)
    await slack
      .nextReply((message) => message.text.includes('GPUs free now'), {withinMs: 10_000})
      .catch(() => undefined);
  say('', `#${slack.channel.name}`);
  for (const root of await slack.messages()) {
    say('', ...told(slack, root, ''));
    for (const reply of (await slack.thread(root.ts)).slice(1)) say(...told(slack, reply, '    | '));
  }
  for (const person of Object.values(slack.users))
    for (const only of slack.ephemerals(person)) say('', ...told(slack, only, `  (only ${person.name} sees) `));
}

function told(slack: LocalSlack, message: SlackMessage, indent: string): readonly string[] {
  const person = Object.values(slack.users).find((one) => one.id === message.user);
  return [
    `${indent}${person?.name ?? slack.bot.name}:`,
    ...message.text.split('\n').map((line) => `${indent}  ${line}`),
  ];
}

function quiet(): void {
  // The channel is printed as a whole at the end.
}
