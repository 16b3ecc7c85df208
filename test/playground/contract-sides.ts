/** The same Web API twice: our front of the local Slack, and `emulate` alone, reached by nothing but HTTP. */
import {createEmulator} from 'emulate';
import {workspaceOf} from '../../src/playground/slack/cast.ts';
import {startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {startTinyBot} from './slack-bot.ts';

export type Answer = Readonly<Record<string, unknown>> & {readonly ok?: boolean; readonly error?: string};

export interface Side {
  readonly name: 'front' | 'emulate';
  readonly channel: string;
  readonly user: string;
  readonly botToken: string;
  /** One call with a JSON body; `token` null: none at all. An answer that is no JSON comes as `{http: status}`. */
  call(method: string, args?: Readonly<Record<string, unknown>>, token?: string | null): Promise<Answer>;
  /** What a person does that may open a form: a command, or a press inside of an open one. */
  trigger(from: 'command' | 'view', viewId?: string): Promise<string>;
  /** The status of the upload. */
  upload(url: unknown, bytes: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** What the manifest grants, and no more. */
export const GRANTED = [
  'commands',
  'chat:write',
  'files:write',
  'app_mentions:read',
  'im:history',
  'users:read',
  'usergroups:read',
];

async function post(url: string, args: object, token: string | null): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...(token === null ? {} : {authorization: `Bearer ${token}`})},
    body: JSON.stringify(args),
  });
  const text = await response.text();
  return text.startsWith('{') && response.status !== 404 ? (JSON.parse(text) as Answer) : {http: response.status};
}

async function upload(url: unknown, bytes: Uint8Array): Promise<number> {
  return (await fetch(String(url), {method: 'POST', body: Uint8Array.from(bytes)})).status;
}

export async function frontSide(scopes: readonly string[] = GRANTED): Promise<Side> {
  const slack = await startLocalSlack({scopes, ackMs: 2_000});
  const {requester} = slack.users;
  const triggers: string[] = [];
  const bot = await startTinyBot(slack, (app) => {
    app.command('/gpu', async ({ack, command}) => {
      triggers.push(command.trigger_id);
      await ack();
    });
    app.view(/.*/, async ({ack, body}) => {
      triggers.push((body as unknown as {readonly trigger_id: string}).trigger_id);
      await ack({response_action: 'update', view: sameView(body.view)});
    });
  });
  return {
    name: 'front',
    channel: slack.channel.id,
    user: requester.id,
    botToken: slack.botToken,
    call: (method, args = {}, token = slack.botToken) => post(`${slack.apiUrl}${method}`, args, token),
    trigger: async (from) => {
      if (from === 'command') await slack.type(requester, '/gpu help');
      else await slack.submitView(requester, {});
      return triggers.pop() ?? '';
    },
    upload,
    close: async () => {
      await bot.stop();
      await slack.close();
    },
  };
}

/** The form stays as it is: only its trigger is wanted. */
function sameView(view: {readonly title: unknown; readonly blocks: unknown}) {
  return {type: 'modal', title: view.title, submit: {type: 'plain_text', text: 'Go'}, blocks: view.blocks} as never;
}

export async function emulateSide(scopes: readonly string[] = GRANTED): Promise<Side> {
  const {bot, team, users, channels, botToken} = workspaceOf({});
  const admin = 'xoxp-contract';
  const [place] = Object.values(channels);
  const ids = {bot_id: bot.botId, bot_user_id: bot.userId, app_id: bot.appId};
  const emulator = await createEmulator({
    service: 'slack',
    port: 0,
    seed: {
      slack: {
        team: {name: team.name, domain: team.domain},
        users: [{name: users.requester.name, real_name: users.requester.name}],
        channels: [{name: place?.name ?? ''}],
        oauth_apps: [
          {...ids, client_id: 'x', client_secret: 'x', name: bot.name, redirect_uris: [], scopes, bot_name: bot.name},
        ],
        tokens: [
          {...ids, token: botToken, type: 'bot', user_id: bot.userId, scopes},
          {
            token: admin,
            type: 'user',
            user: 'admin',
            scopes: ['channels:read', 'channels:manage', 'channels:write', 'users:read'],
          },
        ],
        strict_scopes: true,
      },
    },
  });
  const call: Side['call'] = (method, args = {}, token = botToken) =>
    post(`${emulator.url}/api/${method}`, args, token);
  const named = async (method: string, key: string, name: string): Promise<string> => {
    const list = (await call(method, {limit: 1_000}, admin))[key] as readonly {
      readonly id: string;
      readonly name: string;
    }[];
    return list.find((one) => one.name === name)?.id ?? '';
  };
  const channel = await named('conversations.list', 'channels', place?.name ?? '');
  const user = await named('users.list', 'members', users.requester.name);
  await call('conversations.invite', {channel, users: bot.userId}, admin);
  return {
    name: 'emulate',
    channel,
    user,
    botToken,
    call,
    trigger: async (from, viewId) => {
      const asked = {user_id: user, ...(from === 'view' && viewId !== undefined ? {view_id: viewId} : {})};
      return String((await call('views.generateTriggerId', asked))['trigger_id']);
    },
    upload,
    close: () => emulator.close(),
  };
}
