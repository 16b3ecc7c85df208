/**
 * The Web API as a bot meets it: token, then Slack's own checks, then emulate, then what emulate leaves out. Every call is
 * recorded, and every change is news.
 */

import {withIds} from './blocks.ts';
import {dmOf, personOfDm, type Workspace} from './cast.ts';
import {charactersOf, checkBlocks, checkView, MESSAGE_CHARACTERS} from './check-blocks.ts';
import {isObject, type Json} from './check-elements.ts';
import type {Ephemerals} from './ephemerals.ts';
import type {Homes} from './homes.ts';
import type {Newsroom, SlackMessage} from './news.ts';
import type {Screens} from './screens.ts';
import {sharesIn} from './shares.ts';
import type {Sockets} from './sockets.ts';
import type {Answer, StateKeeper} from './state-keeper.ts';

export interface WebApi {
  /** A call with whatever token came. */
  call(method: string, token: string, args: Json): Promise<Answer>;
  /** A call that Slack makes on the bot's behalf (response_url, an ack that carries a message). */
  asBot(method: string, args: Json): Promise<Answer>;
  /** A message with the marks that Slack puts on a bot's own. */
  marked(channel: string, message: Json): SlackMessage;
}

export function openWebApi(deps: {
  readonly workspace: Workspace;
  readonly scopes: readonly string[];
  readonly keeper: StateKeeper;
  readonly news: Newsroom;
  readonly ephemerals: Ephemerals;
  readonly screens: Screens;
  readonly homes: Homes;
  readonly sockets: Sockets;
  readonly host: () => string;
}): WebApi {
  const {workspace, keeper, news, ephemerals, screens} = deps;
  const {bot, botToken, appToken} = workspace;

  const marked: WebApi['marked'] = (channel, message) => {
    const own = message['user'] === bot.userId ? {bot_id: bot.botId, app_id: bot.appId} : {};
    const whole: Json = {...message, ...own, type: 'message', channel};
    return whole as unknown as SlackMessage;
  };

  const asBot: WebApi['asBot'] = async (method, asked) => {
    const given = toPerson(asked, workspace);
    const refused = refusal(method, given, workspace);
    if (refused !== null) return refused;
    // emulate keeps a view for good; on nobody's screen there is nothing to update.
    if (method === 'views.update' && typeof given['view_id'] === 'string' && screens.owner(given['view_id']) === null)
      return {ok: false, error: 'not_found'};
    const args = await completed(method, given, keeper);
    const answer = await keeper.call(method, args, botToken);
    if (!answer.ok) return answer;
    // emulate's profiles have no time zone, and all of them are of its own workspace.
    if (method === 'users.info' && isObject(answer['user'])) {
      const guest = workspace.elsewhere.includes(String(answer['user']['id'])) ? {team_id: ELSEWHERE} : {};
      return {...answer, user: {...answer['user'], tz: workspace.zone, ...guest}};
    }
    const channel = String(answer['channel'] ?? args['channel'] ?? '');
    const whole = isObject(answer['message']) ? {...answer, message: marked(channel, answer['message'])} : answer;
    tell(method, args, whole, channel);
    if (method === 'files.completeUploadExternal') await tellFiles(answer);
    return Array.isArray(answer['messages'])
      ? {...answer, messages: answer['messages'].filter(isObject).map((one) => marked(channel, one))}
      : whole;
  };

  const tell = (method: string, args: Json, answer: Answer, channel: string): void => {
    const message = answer['message'] as SlackMessage | undefined;
    const person = personOfDm(workspace, channel);
    switch (method) {
      case 'chat.postMessage':
        if (message === undefined) return;
        if (person !== null) news.tell({kind: 'dm', user: person.id, message});
        else news.tell({kind: message.thread_ts === undefined ? 'post' : 'reply', message});
        return;
      case 'chat.update':
        if (message !== undefined) news.tell({kind: 'update', message});
        return;
      case 'chat.delete':
        news.tell({kind: 'deleted', channel, ts: String(args['ts'])});
        return;
      case 'chat.postEphemeral':
        ephemerals.add(String(args['user']), 'bot', {
          channel: String(args['channel']),
          user: bot.userId,
          text: String(args['text'] ?? ''),
          ts: String(answer['message_ts']),
          ...(Array.isArray(args['blocks']) ? {blocks: args['blocks']} : {}),
          ...(typeof args['thread_ts'] === 'string' ? {thread_ts: args['thread_ts']} : {}),
        });
        return;
      case 'views.open':
      case 'views.push':
        screens.opened(String(args['trigger_id']), answer['view'], method === 'views.open' ? 'open' : 'push');
        return;
      case 'views.update':
        screens.updated(answer['view']);
        return;
      case 'views.publish':
        if (isObject(answer['view'])) deps.homes.published(String(args['user_id']), answer['view']);
        return;
    }
  };

  /** A file that was shared is a message like any other. */
  const tellFiles = async (answer: Answer): Promise<void> => {
    for (const {channel, ts} of sharesIn(answer)) {
      const found = await keeper.call('conversations.replies', {channel, ts, limit: 1});
      const messages = Array.isArray(found['messages']) ? found['messages'].filter(isObject) : [];
      const message = messages.find((one) => one['ts'] === ts);
      if (message !== undefined) tell('chat.postMessage', {}, {ok: true, message: marked(channel, message)}, channel);
    }
  };

  return {
    marked,
    asBot,
    call: async (method, token, args) => {
      if (token === '') return {ok: false, error: 'not_authed'};
      if (method === 'apps.connections.open') {
        if (token === appToken) return {ok: true, url: deps.sockets.address(deps.host())};
        return {ok: false, error: token === botToken ? 'not_allowed_token_type' : 'invalid_auth'};
      }
      if (token === appToken) return {ok: false, error: 'not_allowed_token_type'};
      if (token !== botToken) return {ok: false, error: 'invalid_auth'};
      if (method.startsWith('usergroups.')) return groupsAnswer(method, args, workspace, deps.scopes);
      // emulate's own test method is none of Slack's.
      if (method === 'views.generateTriggerId') return {ok: false, error: 'unknown_method'};
      return asBot(method, args);
    },
  };
}

/** A view's JSON may weigh 250 kB. */
const VIEW_CHARACTERS = 250_000;
/** The workspace of people who are here by a shared channel. */
const ELSEWHERE = 'T0ELSEWHERE';

/** A message to a person's id goes into their conversation with the app. */
function toPerson(args: Json, workspace: Workspace): Json {
  const person = Object.values(workspace.users).find(({id}) => id === args['channel']);
  return person === undefined ? args : {...args, channel: dmOf(person).id};
}

/** What Slack refuses before it looks at anything else. */
function refusal(method: string, args: Json, workspace: Workspace): Answer | null {
  if (method === 'chat.postMessage' || method === 'chat.update' || method === 'chat.postEphemeral') {
    const {blocks, text, attachments} = args;
    if (blocks !== undefined) {
      const found = checkBlocks(blocks, 'message');
      if (found.length > 0) return invalid('invalid_blocks', found);
      if (charactersOf(blocks) > MESSAGE_CHARACTERS) return {ok: false, error: 'msg_blocks_too_long'};
    }
    const empty = (value: unknown): boolean =>
      value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    if (empty(text) && empty(blocks) && empty(attachments)) return {ok: false, error: 'no_text'};
  }
  if (method === 'views.open' || method === 'views.push' || method === 'views.update') {
    const home = method === 'views.update' && isObject(args['view']) && args['view']['type'] === 'home';
    const found = checkView(args['view'], home ? 'home' : 'modal');
    if (found.length > 0) return invalid('invalid_arguments', found);
  }
  if (method === 'views.publish') {
    if (workspace.tabs.home === 'off') return {ok: false, error: 'not_enabled'};
    const found = checkView(args['view'], 'home');
    if (found.length > 0) return invalid('invalid_arguments', found);
  }
  if (method.startsWith('views.') && JSON.stringify(args['view'] ?? '').length > VIEW_CHARACTERS)
    return {ok: false, error: 'view_too_large'};
  if (method === 'chat.postMessage' && workspace.tabs.messages === 'off') {
    const person = personOfDm(workspace, String(args['channel'] ?? ''));
    if (person !== null) return {ok: false, error: 'messages_tab_disabled'};
  }
  return null;
}

/** Ids for what came without, and the blocks that an update without blocks leaves standing (emulate would clear them). */
async function completed(method: string, args: Json, keeper: StateKeeper): Promise<Json> {
  if (method.startsWith('views.') && isObject(args['view']))
    return {...args, view: {...args['view'], blocks: withIds(args['view']['blocks'])}};
  if (!method.startsWith('chat.')) return args;
  if (Array.isArray(args['blocks'])) return {...args, blocks: withIds(args['blocks'])};
  if (method !== 'chat.update') return args;
  const {channel, ts} = args;
  const seen = await keeper.call('conversations.replies', {channel, ts, limit: 1000});
  const messages = Array.isArray(seen['messages']) ? seen['messages'].filter(isObject) : [];
  const blocks = messages.find((message) => message['ts'] === ts)?.['blocks'];
  return blocks === undefined ? args : {...args, blocks};
}

function groupsAnswer(method: string, args: Json, workspace: Workspace, scopes: readonly string[]): Answer {
  if (!scopes.includes('usergroups:read'))
    return {ok: false, error: 'missing_scope', needed: 'usergroups:read', provided: scopes.join(',')};
  const {groups, team} = workspace;
  if (method === 'usergroups.list') {
    const usergroups = groups.map(({id, name, users}) => ({
      id,
      team_id: team.id,
      handle: name,
      name,
      user_count: users.length,
      ...(args['include_users'] === true || args['include_users'] === 'true' ? {users} : {}),
    }));
    return {ok: true, usergroups};
  }
  if (method !== 'usergroups.users.list') return {ok: false, error: 'unknown_method'};
  const group = groups.find(({id}) => id === args['usergroup']);
  return group === undefined ? {ok: false, error: 'no_such_subteam'} : {ok: true, users: group.users};
}

function invalid(error: string, messages: readonly string[]): Answer {
  return {ok: false, error, response_metadata: {messages: messages.map((message) => `[ERROR] ${message}`)}};
}
