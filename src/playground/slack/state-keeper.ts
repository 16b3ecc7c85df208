/**
 * emulate behind a door: it keeps messages, threads, scopes, views and triggers. It deals out random ids for people and
 * channels at each start; here they are swapped for ours, both ways, in the raw text: an id is one word of capitals and
 * digits, the same in JSON and in a form.
 */
import {createEmulator} from 'emulate';
import {dmOf, personOfDm, tokenOf, type Workspace} from './cast.ts';

export type Answer = Readonly<Record<string, unknown>> & {readonly ok: boolean; readonly error?: string};

export interface StateKeeper {
  /** One Web API call. `unknown_method` where emulate has none. */
  call(method: string, args: Readonly<Record<string, unknown>>, token?: string): Promise<Answer>;
  /** The bytes of an upload, passed on as they are. */
  upload(path: string, body: Uint8Array, contentType: string): Promise<number>;
  /** The bytes of a file that was uploaded; null if there is none. */
  file(path: string): Promise<{readonly type: string; readonly bytes: Uint8Array} | null>;
  /** Replaces emulate's own address by `ours` in what it answers. */
  answerAs(ours: string): void;
  close(): Promise<void>;
}

/** Reads and writes on everybody's behalf: the front's own, never handed out. */
const KEEPER_TOKEN = 'xoxp-local-keeper';
const ALL_SCOPES = [
  'chat:write',
  ...['channels', 'groups', 'im', 'mpim'].flatMap((kind) => [`${kind}:read`, `${kind}:history`, `${kind}:write`]),
  'channels:join',
  'channels:manage',
  'users:read',
  'users:write',
  'files:read',
  'files:write',
  'team:read',
];

export async function startStateKeeper(workspace: Workspace, scopes: readonly string[]): Promise<StateKeeper> {
  const {bot, team} = workspace;
  const people = Object.values(workspace.users);
  const emulator = await createEmulator({
    service: 'slack',
    port: 0,
    seed: {
      slack: {
        team: {name: team.name, domain: team.domain},
        users: people.map(({name}) => ({name, real_name: name})),
        channels: Object.keys(workspace.channels).map((name) => ({name})),
        oauth_apps: [
          {
            app_id: bot.appId,
            client_id: 'local',
            client_secret: 'local',
            name: bot.name,
            redirect_uris: [],
            scopes,
            bot_id: bot.botId,
            bot_user_id: bot.userId,
            bot_name: bot.name,
          },
        ],
        tokens: [
          {
            token: workspace.botToken,
            type: 'bot',
            user_id: bot.userId,
            bot_id: bot.botId,
            bot_user_id: bot.userId,
            app_id: bot.appId,
            scopes,
          },
          ...people.map((person) => ({token: tokenOf(person), type: 'user', user: person.name, scopes: ALL_SCOPES})),
          {token: KEEPER_TOKEN, type: 'user', user: 'admin', scopes: ALL_SCOPES},
        ],
        strict_scopes: true,
      },
    },
  });

  const pairs: {readonly ours: string; readonly theirs: string}[] = [];
  let address = emulator.url;
  const swap = (text: string, from: 'ours' | 'theirs', to: 'ours' | 'theirs'): string =>
    pairs.reduce((whole, pair) => whole.replaceAll(pair[from], pair[to]), text);

  /** Nobody but the two of them may look into a conversation, the keeper neither. */
  const tokenFor = (args: Readonly<Record<string, unknown>>): string => {
    const person = personOfDm(workspace, String(args['channel'] ?? ''));
    return person === null ? KEEPER_TOKEN : tokenOf(person);
  };

  const call: StateKeeper['call'] = async (method, args, token = tokenFor(args)) => {
    const response = await fetch(`${emulator.url}/api/${method}`, {
      method: 'POST',
      headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
      body: swap(JSON.stringify(args), 'ours', 'theirs'),
    });
    if (response.status === 404) return {ok: false, error: 'unknown_method'};
    const text = swap(await response.text(), 'theirs', 'ours').replaceAll(emulator.url, address);
    return JSON.parse(text) as Answer;
  };

  const members = listOf(await call('users.list', {limit: 1000}), 'members');
  for (const person of people) pairs.push({ours: person.id, theirs: idNamed(members, person.name)});
  const channels = listOf(await call('conversations.list', {limit: 1000}), 'channels');
  for (const channel of Object.values(workspace.channels)) {
    pairs.push({ours: channel.id, theirs: idNamed(channels, channel.name)});
    await call('conversations.invite', {channel: channel.id, users: bot.userId});
    // One by one: who is a member already, as in a channel of the seed, is refused, and with them all of the list.
    for (const person of people) await call('conversations.invite', {channel: channel.id, users: person.id});
  }

  for (const person of people) {
    const {channel} = await call('conversations.open', {users: bot.userId}, tokenOf(person));
    pairs.push({ours: dmOf(person).id, theirs: String((channel as {readonly id?: unknown} | undefined)?.id)});
  }

  return {
    call,
    upload: async (path, body, contentType) => {
      const response = await fetch(`${emulator.url}${path}`, {
        method: 'POST',
        headers: {'content-type': contentType},
        // A buffer may be a view of a larger one: the bytes are copied.
        body: Uint8Array.from(body),
      });
      return response.status;
    },
    file: async (path) => {
      const response = await fetch(`${emulator.url}${path}`, {headers: {authorization: `Bearer ${KEEPER_TOKEN}`}});
      if (!response.ok) return null;
      const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
      return {type, bytes: new Uint8Array(await response.arrayBuffer())};
    },
    answerAs: (ours) => {
      address = ours;
    },
    close: () => emulator.close(),
  };
}

function listOf(answer: Answer, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list = answer[key];
  if (!Array.isArray(list)) throw new Error(`Internal error: emulate answered ${JSON.stringify(answer)}`);
  return list as readonly Readonly<Record<string, unknown>>[];
}

function idNamed(list: readonly Readonly<Record<string, unknown>>[], name: string): string {
  const found = list.find((one) => one['name'] === name)?.['id'];
  if (typeof found !== 'string') throw new Error(`Internal error: emulate has no "${name}"`);
  return found;
}
