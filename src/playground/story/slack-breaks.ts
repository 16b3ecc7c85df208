/** Attacks that only Slack knows: old cards, strangers, two clicks at once, a bot that dies between click and outcome. */
import type {LocalSlack} from '../slack/local-slack.ts';
import type {Break, Stage} from './breaks.ts';
import {GO, hasButton, isOver} from './door.ts';
import {lastRun} from './play.ts';
import type {SlackBot} from './slack-bot.ts';
import {asWords, received} from './verdict.ts';

export interface SlackStage extends Stage {
  readonly slack: LocalSlack;
  readonly slackBot: SlackBot;
  readonly door: NonNullable<Stage['door']>;
}

export interface SlackBreak extends Omit<Break, 'play'> {
  readonly play: (stage: SlackStage) => Promise<readonly string[]>;
}

export const SLACK_BREAKS: Readonly<Record<string, SlackBreak>> = {
  'old-card': {
    what: 'the button of a card that was replaced by a newer choice',
    play: async (stage) => {
      const {slack} = stage;
      const waiting = await stage.door.plan();
      await slack.click(slack.users.approver, waiting.confirm, 'choose');
      // First it says that it looks again, then it has ticks.
      const {approver} = slack.users;
      const opened = await slack.news.next(
        ['view'],
        (one) => one.user === approver.id && one.view?.submit !== undefined && one.view.submit !== null,
        'a form with ticks',
        30_000,
      );
      if (opened.view === null) return ['the choice did not open'];
      await slack.submitView(slack.users.approver, onlyFirst(opened.view));
      await slack.nextUpdate((message) => message.ts === waiting.confirm && hasButton(message, GO));
      await slack.click(slack.users.approver, waiting.confirm, GO, waiting.card === null ? {} : {card: waiting.card});
      const answer = await slack.nextEphemeral((message) => message.to === slack.users.approver.id);
      stage.say(`${slack.users.approver.name} is told: ${answer.text}`);
      return anySignal(stage);
    },
  },
  stranger: {
    what: 'somebody who is no approver presses the button',
    play: async (stage) => {
      const {slack} = stage;
      const waiting = await stage.door.plan();
      await slack.click(slack.users.stranger, waiting.confirm, GO);
      const answer = await slack.nextEphemeral((message) => message.to === slack.users.stranger.id);
      stage.say(`${slack.users.stranger.name} is told: ${answer.text}`);
      const card = (await slack.messages()).find((message) => message.ts === waiting.confirm);
      return [
        ...(await anySignal(stage)),
        ...(card !== undefined && hasButton(card, GO) ? [] : ['the card lost its button to a stranger']),
      ];
    },
  },
  'double-click': {
    what: 'two people press the button in the same moment, and one of them twice',
    play: async (stage) => {
      const {slack} = stage;
      const waiting = await stage.door.plan();
      const clicks = [slack.users.approver, slack.users.approver, slack.users.stranger].map((person) =>
        slack.click(person, waiting.confirm, GO),
      );
      await Promise.all(clicks);
      const told = await slack.nextEphemeral();
      stage.say(`told privately: ${told.text}`);
      await slack.nextUpdate((message) => message.ts === waiting.confirm && isOver(message), {withinMs: 120_000});
      const seen = await received(stage.lab);
      const words = asWords(seen);
      return words.filter((word, at) => words.indexOf(word) !== at).map((word) => `${word} came twice`);
    },
  },
  restart: {
    what: 'the bot is killed with SIGKILL between the click and the outcome, and started again',
    play: async (stage) => {
      const {slack, slackBot, lab} = stage;
      const waiting = await stage.door.plan();
      await slack.click(slack.users.approver, waiting.confirm, GO);
      while ((await received(lab)).length === 0) await new Promise((resolve) => setImmediate(resolve));
      await slackBot.kill();
      const before = asWords(await received(lab));
      stage.say(`killed after ${before.join(', ')}; starting it again`);
      await slackBot.start();
      const closed = await slack.nextUpdate((message) => message.ts === waiting.confirm && isOver(message), {
        withinMs: 60_000,
      });
      stage.say(...closed.text.split('\n'));
      // Nothing continues to signal by itself; what arrived after the kill was already on its way in one remote command.
      const after = asWords(await received(lab));
      const kills = after.filter((word) => word.startsWith('KILL') && !before.includes(word));
      const run = await firstRun(stage);
      return [
        ...kills.map((word) => `${word} came after the restart`),
        ...(run === 'interrupted' ? [] : [`the run ended as ${run}, not interrupted`]),
      ];
    },
  },
};

async function anySignal(stage: SlackStage): Promise<readonly string[]> {
  return asWords(await received(stage.lab)).map((word) => `forbidden: ${word}`);
}

/** The outcome of the oldest run: the restart may have opened another that waits. */
async function firstRun(stage: SlackStage): Promise<string> {
  const answer = (await stage.bot.json('runs')) as {runs: {outcome: {word: string} | null; phase: string}[]};
  const oldest = answer.runs.at(-1) ?? (await lastRun(stage.bot));
  return oldest.outcome?.word ?? oldest.phase;
}

/** Answers for a choice that leaves one process ticked: the first option of the first group. */
function onlyFirst(view: {readonly blocks: readonly unknown[]}): Record<string, readonly string[]> {
  const answers: Record<string, readonly string[]> = {};
  let taken = false;
  for (const block of view.blocks as readonly {
    readonly block_id?: string;
    readonly element?: {readonly action_id?: string; readonly options?: readonly {readonly value: string}[]};
  }[]) {
    const {element} = block;
    if (element?.action_id === undefined || element.options === undefined) continue;
    answers[block.block_id ?? element.action_id] = taken
      ? []
      : element.options.slice(0, 1).map((option) => option.value);
    taken = true;
  }
  return answers;
}
