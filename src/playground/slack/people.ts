/** What people do: type, click, fill in a modal. Each act is sent to the bot as Slack sends it, and its failure is shown. */
import type {ViewOutput} from '@slack/bolt';
import {type ConfirmText, confirmOf, elementsOf, type Placed} from './blocks.ts';
import {dmOf, type Named, personOfDm, type SlackPerson, tokenOf, type Workspace} from './cast.ts';
import {isObject, type Json} from './check-elements.ts';
import type {Ephemerals} from './ephemerals.ts';
import {type Answers, fillIn, missingIn, pickedIn} from './form.ts';
import type {Homes} from './homes.ts';
import type {Newsroom, SlackMessage} from './news.ts';
import {
  type Act,
  appHomeOpened,
  appMention,
  directMessage,
  elementAction,
  type Mark,
  messageAction,
  slashCommand,
  viewAction,
  viewClosed,
  viewSubmission,
} from './payloads.ts';
import {isShowable, type ResponseUrls} from './response-urls.ts';
import type {Screens} from './screens.ts';
import type {Delivery, Sockets} from './sockets.ts';
import type {StateKeeper} from './state-keeper.ts';
import {followAnswer} from './view-answer.ts';
import type {WebApi} from './web-api.ts';

/** What became of what a person did. `not-sent`: Slack's own client kept it (dialog denied, required field empty). */
export type Done =
  | Delivery
  | {readonly outcome: 'not-sent'; readonly why: string; readonly errors?: Readonly<Record<string, string>>}
  /** Only a message: nobody was asked to answer it. */
  | {readonly outcome: 'posted'; readonly ts: string};

export interface ClickOptions {
  /** The button as it stood on an earlier version of the card: a late click on an old card. */
  readonly card?: SlackMessage;
  readonly blockId?: string;
  /** A person of another workspace. */
  readonly teamId?: string;
  /** What the confirm dialog, if there is one, is answered; confirmed by default. */
  readonly dialog?: 'confirm' | 'deny';
  /** Option values, for a select, radio buttons or checkboxes. */
  readonly choice?: string | readonly string[];
  /** What else is filled into the modal at that moment. */
  readonly answers?: Answers;
}

export interface People {
  /** `/gpu …` is a command; anything else is a message, and a mention of the bot in it is an event. */
  type(
    person: SlackPerson,
    text: string,
    options: {readonly channel: Named; readonly threadTs?: string; readonly teamId?: string; readonly mark?: Mark},
  ): Promise<Done>;
  /** `where` is the ts of a message, or the id of an open view or of the person's Home tab. */
  click(person: SlackPerson, channel: Named, where: string, actionId: string, options: ClickOptions): Promise<Done>;
  confirmOf(channel: Named, where: string, actionId: string): Promise<ConfirmText | null>;
  submit(
    person: SlackPerson,
    answers: Answers,
    options: {readonly view?: ViewOutput; readonly teamId?: string},
  ): Promise<Done>;
  closeView(person: SlackPerson): Promise<Done>;
  /** Looks at the app's Home tab. `teamId`: as a person of another workspace. */
  openHome(person: SlackPerson, teamId?: string): Promise<Done>;
}

export function gather(deps: {
  readonly workspace: Workspace;
  readonly commands: readonly string[];
  readonly keeper: StateKeeper;
  readonly api: WebApi;
  readonly news: Newsroom;
  readonly ephemerals: Ephemerals;
  readonly screens: Screens;
  readonly homes: Homes;
  readonly sockets: Sockets;
  readonly responses: ResponseUrls;
}): People {
  const {workspace, keeper, api, news, ephemerals, screens, homes, sockets, responses} = deps;

  const act = async (person: SlackPerson, teamId?: string, viewId?: string): Promise<Act> => ({
    workspace,
    person,
    teamId: teamId ?? workspace.team.id,
    triggerId: await screens.trigger(person.id, viewId),
  });
  /** Slack's own word to one person. emulate deals out its ts, so that it stands where it belongs. */
  const tellOnly = async (person: SlackPerson, channel: Named, text: string): Promise<void> => {
    const answer = await keeper.call('chat.postEphemeral', {channel: channel.id, user: person.id, text});
    if (!answer.ok) throw new Error(`Internal error: not told: ${answer.error}`);
    ephemerals.add(person.id, 'slack', {
      channel: channel.id,
      user: 'USLACKBOT',
      text,
      ts: String(answer['message_ts']),
    });
  };

  const command = async (person: SlackPerson, channel: Named, text: string, teamId?: string): Promise<Done> => {
    const [, name = '', rest = ''] = /^(\/\S*)\s*([\s\S]*)$/.exec(text) ?? [];
    if (!deps.commands.includes(name)) {
      await tellOnly(person, channel, `${name} is not a valid command.`);
      return {outcome: 'not-sent', why: 'no such command'};
    }
    const origin = {user: person.id, channel: channel.id, ts: null};
    const payload = slashCommand(await act(person, teamId), {
      command: name,
      text: withPeople(rest.trimEnd(), workspace),
      channel,
      responseUrl: responses.create(origin),
    });
    const done = await sockets.deliver('slash_commands', payload);
    if (done.outcome !== 'acked') await tellOnly(person, channel, `${name} failed with the error "${done.outcome}"`);
    else if (isShowable(done.response)) await responses.show(origin, done.response);
    return done;
  };

  const messageAt = async (channel: Named, ts: string): Promise<SlackMessage | null> => {
    const hidden = ephemerals.find(ts);
    if (hidden !== undefined) return hidden;
    const answer = await keeper.call('conversations.replies', {channel: channel.id, ts, limit: 1});
    const found = Array.isArray(answer['messages']) ? answer['messages'].filter(isObject) : [];
    const message = found.find((one) => one['ts'] === ts);
    return message === undefined ? null : api.marked(channel.id, message);
  };
  const elementIn = (blocks: unknown, actionId: string, blockId?: string): Placed => {
    const placed = elementsOf(Array.isArray(blocks) ? (blocks as readonly Json[]) : []);
    const found = placed.find(
      (one) => one.element['action_id'] === actionId && (blockId === undefined || one.blockId === blockId),
    );
    if (found === undefined) {
      const there = placed.map((one) => String(one.element['action_id'])).join(', ') || 'none';
      throw new Error(`Nothing to click is called "${actionId}"; there are ${there}`);
    }
    return found;
  };

  return {
    type: async (person, text, {channel, threadTs, teamId, mark}) => {
      if (text.startsWith('/') && threadTs === undefined) return command(person, channel, text, teamId);
      if (text.startsWith('/')) {
        await tellOnly(person, channel, `${text.split(/\s/)[0]} is not supported in threads. Sorry!`);
        return {outcome: 'not-sent', why: 'commands do not work in threads'};
      }
      const isDm = personOfDm(workspace, channel.id) !== null;
      if (isDm && workspace.tabs.messages !== 'on')
        return {outcome: 'not-sent', why: 'Sending messages to this app has been turned off.'};
      const thread = threadTs === undefined ? {} : {thread_ts: threadTs};
      const answer = await keeper.call(
        'chat.postMessage',
        {channel: channel.id, text: withPeople(text, workspace), ...thread},
        tokenOf(person),
      );
      if (!answer.ok || !isObject(answer['message'])) throw new Error(`Internal error: not posted: ${answer.error}`);
      const message = api.marked(channel.id, answer['message']);
      news.tell({kind: 'said', message});
      const wants = (event: string): boolean => workspace.events.includes(event);
      // In their own conversation a mention is only a word.
      if (isDm && wants('message.im'))
        return sockets.deliver('events_api', directMessage(await act(person, teamId), message, mark));
      if (!isDm && wants('app_mention') && message.text.includes(`<@${workspace.bot.userId}`))
        return sockets.deliver('events_api', appMention(await act(person, teamId), message, mark));
      return {outcome: 'posted', ts: message.ts};
    },

    click: async (person, channel, where, actionId, options) => {
      const home = homes.of(person.id);
      const isHome = home !== null && home.id === where;
      const view = isHome ? home : where.startsWith('V') ? screens.top(person.id) : null;
      const message = view === null ? (options.card ?? (await messageAt(channel, where))) : null;
      if (view === null && message === null) throw new Error(`There is no message ${where}`);
      const placed = elementIn(view?.blocks ?? message?.blocks, actionId, options.blockId);
      if (confirmOf(placed.element) !== null && options.dialog === 'deny')
        return {outcome: 'not-sent', why: 'the dialog was denied'};
      const action = elementAction(placed.element, placed.blockId, pickedIn(placed.element, options.choice));
      const doing = await act(person, options.teamId, isHome ? undefined : view?.id);
      if (view !== null) {
        const filled: ViewOutput = {...view, state: {values: fillIn(view, options.answers ?? {})}};
        return sockets.deliver('interactive', viewAction(doing, action, filled));
      }
      if (message === null) throw new Error('Internal error: neither a view nor a message');
      const responseUrl = responses.create({user: person.id, channel: channel.id, ts: message.ts});
      const ephemeral = ephemerals.find(message.ts) !== undefined;
      const done = await sockets.deliver(
        'interactive',
        messageAction(doing, {action, message, channel, ephemeral, responseUrl}),
      );
      // Slack puts a small warning beside the button; here it is a line of its own.
      if (done.outcome !== 'acked')
        await tellOnly(person, channel, `The app did not answer the click (${done.outcome})`);
      return done;
    },

    confirmOf: async (channel, where, actionId) => {
      const message = await messageAt(channel, where);
      return confirmOf(elementIn(message?.blocks, actionId).element);
    },

    submit: async (person, answers, options) => {
      const view = options.view ?? screens.top(person.id);
      if (view === null) throw new Error(`No modal is open before ${person.name}`);
      const values = fillIn(view, answers);
      const missing = missingIn(view, values);
      if (Object.keys(missing).length > 0) {
        screens.say(person.id, missing);
        return {outcome: 'not-sent', why: 'a required field is empty', errors: missing};
      }
      const doing = await act(person, options.teamId, view.id);
      const done = await sockets.deliver('interactive', viewSubmission(doing, {...view, state: {values}}));
      if (done.outcome !== 'acked') {
        screens.say(person.id, {'': 'We had some trouble connecting. Try again?'});
        return done;
      }
      await followAnswer({api, screens}, person.id, view, done.response);
      return done;
    },

    openHome: async (person, teamId) => {
      if (workspace.tabs.home === 'off') return {outcome: 'not-sent', why: 'the app has no Home tab'};
      if (!workspace.events.includes('app_home_opened'))
        return {outcome: 'not-sent', why: 'the app did not ask to be told'};
      const opened = {channel: dmOf(person).id, view: homes.of(person.id)};
      return sockets.deliver('events_api', appHomeOpened(await act(person, teamId), opened));
    },

    closeView: async (person) => {
      const view = screens.top(person.id);
      if (view === null) return {outcome: 'not-sent', why: 'no modal is open'};
      if (view.clear_on_close) screens.clear(person.id);
      else screens.leave(person.id, view.id);
      if (!view.notify_on_close) return {outcome: 'not-sent', why: 'the app did not ask to be told'};
      return sockets.deliver('interactive', viewClosed(await act(person), view, view.clear_on_close));
    },
  };
}

/** `@name` and `#channel` become ids, as a command with `should_escape` gets them. */
function withPeople(text: string, workspace: Workspace): string {
  const people = [
    ...Object.values(workspace.users).map(({id, name}) => ({id, name})),
    {id: workspace.bot.userId, name: workspace.bot.name},
  ];
  return text
    .replaceAll(/(^|[\s(])@([\w-]+)/g, (whole, before: string, name: string) => {
      const found = people.find((one) => one.name === name);
      return found === undefined ? whole : `${before}<@${found.id}>`;
    })
    .replaceAll(/(^|[\s(])#([\w-]+)/g, (whole, before: string, name: string) => {
      const found = workspace.channels[name];
      return found === undefined ? whole : `${before}<#${found.id}|${found.name}>`;
    });
}
