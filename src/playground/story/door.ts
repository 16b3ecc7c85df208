/** The two ways to the same engine: the terminal and Slack. A story or an attack is played through either. */

import type {SlackPerson} from '../slack/cast.ts';
import type {LocalSlack} from '../slack/local-slack.ts';
import type {SlackMessage} from '../slack/news.ts';
import type {Answer, Bot} from './bot.ts';

/** A plan that waits: what a go must carry. */
export interface Waiting {
  /** `COUNT:HOST:DIGEST` at the terminal, the root card in Slack. */
  readonly confirm: string;
  readonly card: SlackMessage | null;
}

export interface Door {
  readonly name: 'terminal' | 'slack';
  /** Asks to have back what matches vllm, and resolves once the plan is shown. Throws if none waits. */
  plan(): Promise<Waiting>;
  /** Gives the go; `done` resolves when the run is over and told. */
  go(waiting: Waiting): {readonly done: Promise<Answer>};
}

export function terminalDoor(bot: Bot, host: string, show: (command: string, answer: Answer) => void): Door {
  return {
    name: 'terminal',
    plan: async () => {
      const words = ['reclaim', host, 'match=vllm'];
      const answer = await bot.run(...words);
      show(`gpu-reclaim ${words.join(' ')}`, answer);
      const confirm = /--confirm (\S+)/.exec(answer.out)?.[1];
      if (confirm === undefined) throw new Error(`no plan waits: exit ${answer.code}`);
      return {confirm, card: null};
    },
    go: (waiting) => {
      const words = ['reclaim', host, '--confirm', waiting.confirm];
      const done = bot.start(...words).done.then((answer) => {
        show(`gpu-reclaim ${words.join(' ')}`, answer);
        return answer;
      });
      return {done};
    },
  };
}

/** Asked by the requester, gone by the approver, in the local Slack's channel. */
export function slackDoor(
  slack: LocalSlack,
  host: string,
  show: (what: string, lines: readonly string[]) => void,
  by: SlackPerson = slack.users.approver,
): Door {
  return {
    name: 'slack',
    plan: async () => {
      const command = `/gpu reclaim ${host} match=vllm`;
      await slack.type(slack.users.requester, command);
      const root = await slack.nextPost(() => true, {withinMs: 30_000});
      const card = await slack.nextUpdate(
        (message) => message.ts === root.ts && (hasButton(message, GO) || isOver(message)),
        {withinMs: 30_000},
      );
      show(`${slack.users.requester.name}: ${command}`, card.text.split('\n'));
      if (!hasButton(card, GO)) throw new Error(`no plan waits: ${card.text}`);
      return {confirm: card.ts, card};
    },
    go: (waiting) => {
      const clicked = slack.click(by, waiting.confirm, GO, waiting.card === null ? {} : {card: waiting.card});
      const done = clicked.then(async () => {
        const last = await slack.nextUpdate((message) => message.ts === waiting.confirm && isOver(message), {
          withinMs: 120_000,
        });
        show(`${by.name} presses the red button`, last.text.split('\n'));
        return {code: 0, out: last.text, err: ''};
      });
      return {done};
    },
  };
}

export const GO = 'go_terminate_then_kill';

export function hasButton(message: SlackMessage, action: string): boolean {
  return JSON.stringify(message.blocks ?? []).includes(`"action_id":"${action}"`);
}

/** The sign of its first line is that of an outcome; buttons of a card that is over signal nothing. */
export function isOver(message: SlackMessage): boolean {
  return /^\*?(✅|🟡|🔴|⚪|❓)/u.test(message.text);
}
