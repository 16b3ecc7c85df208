/** The production bot in the local Slack, as a child process that can be killed and started again. */
import type {LocalSlack} from '../slack/local-slack.ts';
import {type Bot, LAB_POLICY} from './bot.ts';

export interface SlackBot {
  /** Resolves once it is connected. */
  start(): Promise<void>;
  /** SIGTERM, as a supervisor would, and its end. */
  stop(): Promise<void>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
  /** False once its process has ended, by whatever. */
  running(): boolean;
  /** Called when it was started, and when it has ended. */
  listen(listener: () => void): () => void;
  /** What it said so far, for when it does not come up. */
  said(): string;
}

/** Who may go in the story: the approver alone, and the requester for ghosts and for what is their own. */
export function slackPolicy(
  slack: LocalSlack,
  change: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {...LAB_POLICY, approvers: [...LAB_POLICY.approvers, `slack:${slack.users.approver.id}`], ...change};
}

/** The variables that tell the production program which Slack is meant. */
export function slackEnv(slack: LocalSlack): Readonly<Record<string, string>> {
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_CHANNEL: slack.channel.id,
    SLACK_API_URL: slack.apiUrl,
  };
}

export function makeSlackBot(bot: Bot, slack: LocalSlack): SlackBot {
  let running: ReturnType<Bot['start']> | null = null;
  let said = '';
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = running;
    running = null;
    if (ending === null) return;
    ending.child.kill(signal);
    const answer = await ending.done;
    said += answer.out + answer.err;
    changed();
  };
  return {
    start: async () => {
      const started = bot.start('start');
      running = started;
      const ended = started.done.then((answer) => {
        said += answer.out + answer.err;
        if (running !== started) return;
        running = null;
        changed();
        throw new Error(`the bot ended with ${answer.code}:\n${answer.out}${answer.err}`);
      });
      ended.catch(() => undefined);
      changed();
      await Promise.race([slack.whenConnected(), ended]);
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    running: () => running !== null,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    said: () => said,
  };
}
