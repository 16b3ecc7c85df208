/** What Slack sends, typed with Bolt's own types: the compiler holds the shapes, not our memory. */
import {randomUUID} from 'node:crypto';
import type {
  BlockAction,
  BlockElementAction,
  EnvelopedEvent,
  SlashCommand,
  types,
  ViewClosedAction,
  ViewOutput,
  ViewSubmitAction,
} from '@slack/bolt';
import type {Named, SlackPerson, Workspace} from './cast.ts';
import type {Json} from './check-elements.ts';
import type {SlackMessage} from './news.ts';

/** Who acts, from which workspace, and the keys to answer with. */
export interface Act {
  readonly workspace: Workspace;
  readonly person: SlackPerson;
  /** Another workspace than ours: a person of a shared channel. */
  readonly teamId: string;
  readonly triggerId: string;
}

/** Deprecated by Slack, still sent, worth nothing. */
const TOKEN = 'local-verification-token';

export function slashCommand(
  act: Act,
  said: {readonly command: string; readonly text: string; readonly channel: Named; readonly responseUrl: string},
): SlashCommand {
  return {
    token: TOKEN,
    team_id: act.teamId,
    team_domain: act.workspace.team.domain,
    channel_id: said.channel.id,
    channel_name: said.channel.name,
    user_id: act.person.id,
    user_name: act.person.name,
    command: said.command,
    text: said.text,
    api_app_id: act.workspace.bot.appId,
    is_enterprise_install: 'false',
    response_url: said.responseUrl,
    trigger_id: act.triggerId,
  };
}

export function messageAction(
  act: Act,
  clicked: {
    readonly action: BlockElementAction;
    readonly message: SlackMessage;
    readonly channel: Named;
    readonly ephemeral: boolean;
    readonly responseUrl: string;
  },
): BlockAction {
  const {message, channel} = clicked;
  return {
    ...common(act),
    type: 'block_actions',
    user: {...userOf(act), username: act.person.name},
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: clicked.ephemeral,
      ...(message.thread_ts === undefined ? {} : {thread_ts: message.thread_ts}),
    },
    channel,
    // Slack doesn't hand an ephemeral message back.
    ...(clicked.ephemeral ? {} : {message: {...message}}),
    state: {values: {}},
    response_url: clicked.responseUrl,
    trigger_id: act.triggerId,
    actions: [clicked.action],
  };
}

export function viewAction(act: Act, action: BlockElementAction, view: ViewOutput): BlockAction {
  return {
    ...common(act),
    type: 'block_actions',
    user: {...userOf(act), username: act.person.name},
    container: {type: 'view', view_id: view.id},
    view,
    state: view.state,
    // Bolt's type wants one; a view has none.
    response_url: '',
    trigger_id: act.triggerId,
    actions: [action],
  };
}

export function viewSubmission(act: Act, view: ViewOutput): ViewSubmitAction {
  return {
    ...common(act),
    type: 'view_submission',
    user: userOf(act),
    view,
    trigger_id: act.triggerId,
    response_urls: [],
  };
}

export function viewClosed(act: Act, view: ViewOutput, isCleared: boolean): ViewClosedAction {
  return {...common(act), type: 'view_closed', user: userOf(act), view, is_cleared: isCleared};
}

type Said = Pick<SlackMessage, 'ts' | 'text' | 'channel' | 'thread_ts'>;

/** A message that is no fresh word of a person: an edit of an earlier one, or another app's. Slack sends both. */
export type Mark = 'edited' | 'other-app';

function marks(act: Act, mark: Mark | undefined) {
  if (mark === undefined) return {};
  return mark === 'edited' ? {edited: {user: act.person.id, ts: stamp()}} : {bot_id: 'B0OTHERAPP'};
}

export function appMention(act: Act, message: Said, mark?: Mark): EnvelopedEvent<types.AppMentionEvent> {
  return enveloped(act, {
    type: 'app_mention',
    user: act.person.id,
    username: act.person.name,
    text: message.text,
    ts: message.ts,
    event_ts: message.ts,
    channel: message.channel,
    ...(message.thread_ts === undefined ? {} : {thread_ts: message.thread_ts}),
    ...marks(act, mark),
  });
}

/** Somebody's own words to the app, on its Messages tab. */
export function directMessage(act: Act, message: Said, mark?: Mark): EnvelopedEvent<types.GenericMessageEvent> {
  return enveloped(act, {
    type: 'message',
    subtype: undefined,
    user: act.person.id,
    team: act.teamId,
    text: message.text,
    ts: message.ts,
    event_ts: message.ts,
    channel: message.channel,
    channel_type: 'im',
    ...(message.thread_ts === undefined ? {} : {thread_ts: message.thread_ts}),
    ...marks(act, mark),
  });
}

/** `view`: what was published for this person before, if anything. */
export function appHomeOpened(
  act: Act,
  opened: {readonly channel: string; readonly view: ViewOutput | null},
): EnvelopedEvent<types.AppHomeOpenedEvent> {
  const event: types.AppHomeOpenedEvent = {
    type: 'app_home_opened',
    user: act.person.id,
    channel: opened.channel,
    tab: 'home',
    event_ts: stamp(),
  };
  if (opened.view === null) return enveloped(act, event);
  // Bolt's type has the view as it is published; Slack hands it over with its id and hash.
  const whole: Json = {...event, view: opened.view};
  return enveloped(act, whole as unknown as types.AppHomeOpenedEvent);
}

function enveloped<E>(act: Act, event: E): EnvelopedEvent<E> {
  const {workspace} = act;
  return {
    token: TOKEN,
    team_id: act.teamId,
    api_app_id: workspace.bot.appId,
    type: 'event_callback',
    event_id: `Ev${randomUUID().replaceAll('-', '').slice(0, 9).toUpperCase()}`,
    event_time: Math.floor(Date.now() / 1000),
    is_ext_shared_channel: act.teamId !== workspace.team.id,
    authorizations: [
      {
        enterprise_id: null,
        team_id: workspace.team.id,
        user_id: workspace.bot.userId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    event,
  };
}

/** One click or choice, in the shape of its element. The element is one that Slack took, so its parts are there. */
export function elementAction(element: Json, blockId: string, picked: Json): BlockElementAction {
  const {options: _options, option_groups: _groups, url: _url, accessibility_label: _label, ...shown} = element;
  const action: Json = {...shown, ...picked, block_id: blockId, action_ts: stamp()};
  return action as unknown as BlockElementAction;
}

/** Seconds with six decimals, never twice the same. */
function stamp(): string {
  counter = (counter + 1) % 1000;
  const now = Date.now();
  return `${Math.floor(now / 1000)}.${String(now % 1000).padStart(3, '0')}${String(counter).padStart(3, '0')}`;
}
let counter = 0;

function common(act: Act) {
  const {workspace} = act;
  return {
    token: TOKEN,
    api_app_id: workspace.bot.appId,
    team: {id: act.teamId, domain: workspace.team.domain},
    is_enterprise_install: false,
  };
}

function userOf(act: Act) {
  return {id: act.person.id, name: act.person.name, team_id: act.teamId};
}
