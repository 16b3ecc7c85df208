/** A tiny real Bolt app over a real socket: what the local Slack is held against. */
import {App, LogLevel, SocketModeReceiver} from '@slack/bolt';
import type {LocalSlack} from '../../src/playground/slack/local-slack.ts';

export interface TinyBot {
  readonly app: App;
  /** Drops from the socket's point of view: how often it was connected. */
  connections(): number;
  stop(): Promise<void>;
}

const quiet = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
};

/** `pingTimeoutMs`: short where a lost connection is to be taken up again at once; a busy machine then drops good ones too. */
export async function startTinyBot(
  slack: LocalSlack,
  listeners: (app: App) => void,
  pingTimeoutMs = 300,
): Promise<TinyBot> {
  const clientOptions = {
    slackApiUrl: slack.apiUrl,
    timeout: 10_000,
    retryConfig: {retries: 3, factor: 1, minTimeout: 50, randomize: false},
  };
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    clientPingTimeout: pingTimeoutMs,
    logger: quiet,
    logLevel: LogLevel.ERROR,
    installerOptions: {clientOptions},
  });
  let connections = 0;
  receiver.client.on('connected', () => {
    connections += 1;
  });
  const app = new App({
    receiver,
    token: slack.botToken,
    convoStore: false,
    deferInitialization: true,
    logger: quiet,
    logLevel: LogLevel.ERROR,
    clientOptions,
  });
  listeners(app);
  await app.init();
  await app.start();
  await slack.whenConnected();
  return {
    app,
    connections: () => connections,
    stop: async () => {
      // @slack/socket-mode 3.1.0 resolves at once and keeps a timer if the other end goes first.
      const gone = new Promise<void>((resolve) => receiver.client.once('disconnected', () => resolve()));
      await app.stop();
      await gone;
    },
  };
}

/** A card with the one button that matters, guarded by a dialog. */
export function card(text: string) {
  return {
    text,
    blocks: [
      {type: 'section' as const, text: {type: 'mrkdwn' as const, text}},
      {
        type: 'actions' as const,
        elements: [
          {
            type: 'button' as const,
            action_id: 'kill',
            style: 'danger' as const,
            value: 'run-1',
            text: {type: 'plain_text' as const, text: 'Kill 3 processes'},
            confirm: {
              title: {type: 'plain_text' as const, text: 'Kill 3 processes?'},
              text: {type: 'mrkdwn' as const, text: 'On *lab-1*, 12 GiB.'},
              confirm: {type: 'plain_text' as const, text: 'Kill'},
              deny: {type: 'plain_text' as const, text: 'Back'},
            },
          },
          {
            type: 'button' as const,
            action_id: 'choose',
            value: 'run-1',
            text: {type: 'plain_text' as const, text: 'Choose…'},
          },
        ],
      },
    ],
  };
}

export function modal(blocks?: readonly object[]) {
  return {
    type: 'modal' as const,
    callback_id: 'choice',
    private_metadata: 'run-1',
    title: {type: 'plain_text' as const, text: 'Choose'},
    submit: {type: 'plain_text' as const, text: 'Use these'},
    close: {type: 'plain_text' as const, text: 'Back'},
    blocks: [
      {
        type: 'input' as const,
        block_id: 'why',
        label: {type: 'plain_text' as const, text: 'Reason'},
        element: {type: 'plain_text_input' as const, action_id: 'reason'},
      },
      {
        type: 'input' as const,
        block_id: 'who',
        optional: true,
        label: {type: 'plain_text' as const, text: 'Processes'},
        element: {
          type: 'checkboxes' as const,
          action_id: 'pids',
          options: [
            {text: {type: 'plain_text' as const, text: 'PID 100'}, value: '100'},
            {text: {type: 'plain_text' as const, text: 'PID 200'}, value: '200'},
          ],
          initial_options: [{text: {type: 'plain_text' as const, text: 'PID 100'}, value: '100'}],
        },
      },
      ...((blocks ?? []) as []),
    ],
  };
}
