/** Bolt's payloads to our own words. What is asked is written down, then acknowledged; the work goes on behind it. */
import type {App, BlockAction, SlashCommand, types, ViewOutput} from '@slack/bolt';
import {readChoice} from './choice-state.ts';
import {type OpenView, submitChoice, turnChoice} from './choosing.ts';
import {onClick} from './clicks.ts';
import {runCommand} from './commands.ts';
import type {Asker, Desk} from './desk.ts';
import {makeFormAnswers} from './form-answers.ts';
import {channelOf, onSubmit} from './forms.ts';
import {once} from './gate.ts';
import type {Homes} from './home.ts';
import {onHomeClick, onHomeForm} from './home-acts.ts';
import {formAnswer, isHomeForm} from './home-forms.ts';
import {CALLBACK, isTurn} from './ids.ts';
import {type Asking, ackAfter, take} from './intake.ts';
import {onMention, wordsToBot} from './mentioned.ts';
import {respondTo} from './respond.ts';
import type {ViewState} from './view-state.ts';

interface Asked {
  readonly asking: Asking;
  readonly key: string;
  readonly responseUrl: string | null;
  /** null: Bolt has acknowledged it already. */
  readonly ack: (() => Promise<void>) | null;
}

/** One listener a kind, each for everything of it: nothing that Slack sends is left without an ack. */
export function listen(app: App, desk: Desk, homes: Homes): void {
  /** Whatever people do may change what stands on somebody's App Home. */
  const begin = async (asker: Asker, asked: Asked, act: () => Promise<void>): Promise<void> => {
    const taken = take(desk, asker, asked);
    if (asked.ack !== null) await ackAfter(desk, taken, asked.ack);
    desk.work.start(asked.asking, async () => {
      await once(desk, asker, taken, act);
      homes.changed(asker.user);
    });
  };

  app.command(/.*/, async ({ack, command}) => {
    const asker = askerOfCommand(command);
    const key = `command:${command.trigger_id}`;
    await begin(asker, {asking: 'command', key, responseUrl: command.response_url, ack: () => ack()}, () =>
      runCommand(desk, asker, command.text),
    );
  });

  app.action<BlockAction>(/.*/, async ({ack, action, body}) => {
    const {view} = body;
    const onHome = view !== undefined && (view.type === 'home' || isHomeForm(view.callback_id));
    if (body.container['type'] === 'view' && !onHome) {
      await ack();
      // A tick inside of an open form is read at its submit; what turns the form is done at once.
      if (view?.callback_id !== CALLBACK.choose || !isTurn(action.action_id)) return;
      const open = openView(view);
      const turn = {view: open, actionId: action.action_id, value: pressedIn(action)};
      desk.work.start('form', () => turnChoice(desk, askerInForm(body, open.metadata), turn));
      return;
    }
    const responseUrl = body.response_url === '' ? null : (body.response_url ?? null);
    const threadTs = body.container['thread_ts'];
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: onHome ? '' : (body.channel?.id ?? String(body.container['channel_id'] ?? '')),
      threadTs: typeof threadTs === 'string' ? threadTs : null,
      saidTs: null,
      triggerId: body.trigger_id,
      respond: responseUrl === null ? null : respondTo(responseUrl),
    };
    const ts = String(body.container['message_ts'] ?? view?.id ?? '');
    const value = 'value' in action ? action.value : undefined;
    const messageTs = onHome || ts === '' || body.container['is_ephemeral'] === true ? null : ts;
    const key = `click:${asker.channel}:${ts}:${action.action_id}:${asker.user}:${action.action_ts}`;
    const click = {actionId: action.action_id, value, messageTs};
    await begin(asker, {asking: 'click', key, responseUrl, ack: () => ack()}, () =>
      onHome
        ? onHomeClick(desk, homes, asker, {...click, form: view.type === 'home' ? null : view.id})
        : onClick(desk, asker, click),
    );
  });

  const answers = makeFormAnswers(desk);
  app.view(/.*/, async ({ack, body, view}) => {
    if (view.callback_id === CALLBACK.choose) {
      const open = openView(view);
      // A form that was refused beside its ticks keeps its hash: only the trigger tells one press from the next.
      const press = 'trigger_id' in body ? String(body.trigger_id) : JSON.stringify(view.state.values);
      const key = `form:${view.id}:${view.hash}:${body.user.id}:${press}`;
      await answers.give(key, ack as Parameters<typeof answers.give>[1], open, async () => {
        const answer = await submitChoice(desk, askerInForm(body, open.metadata), open);
        homes.changed(body.user.id);
        return answer;
      });
      return;
    }
    const form = {callbackId: view.callback_id, metadata: view.private_metadata, state: view.state};
    const onHome = isHomeForm(form.callbackId);
    const said = onHome ? formAnswer(desk, body.user.id, form) : null;
    const shown = said?.shown ?? null;
    const answered = (): Promise<void> => (shown === null ? ack() : ack(shown));
    if (said?.next === 'nothing') return answered();
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: onHome ? '' : (channelOf(form) ?? ''),
      threadTs: null,
      saidTs: null,
      triggerId: 'trigger_id' in body ? String(body.trigger_id) : '',
      respond: null,
    };
    const key = `form:${view.id}:${view.hash}:${asker.user}`;
    await begin(asker, {asking: 'form', key, responseUrl: null, ack: answered}, () =>
      onHome ? onHomeForm(desk, asker, {...form, viewId: view.id}) : onSubmit(desk, asker, form),
    );
  });

  app.event('app_home_opened', async ({event, body}) => {
    if (event.tab === 'home') homes.opened(event.user, body.team_id);
  });

  // Slash commands can't be typed inside of a thread; a mention can.
  app.event('app_mention', async ({event, body, context}) => {
    if (event.user === undefined || isNoWord(event)) return;
    const asker: Asker = {
      user: event.user,
      team: event.user_team ?? event.team ?? body.team_id,
      channel: event.channel,
      threadTs: event.thread_ts ?? null,
      saidTs: event.ts,
      triggerId: '',
      respond: null,
    };
    const text = wordsToBot(event.text, context.botUserId ?? '');
    const key = `event:${body.event_id}`;
    await begin(asker, {asking: 'mention', key, responseUrl: null, ack: null}, () => onMention(desk, asker, text));
  });

  // A person's own conversation with the bot.
  app.event('message', async ({event, body, context}) => {
    const said = event as types.GenericMessageEvent;
    if (said.channel_type !== 'im' || said.user === undefined || isNoWord(said)) return;
    const asker: Asker = {
      user: said.user,
      team: said.team ?? body.team_id,
      channel: said.channel,
      threadTs: said.thread_ts ?? null,
      saidTs: null,
      triggerId: '',
      respond: null,
    };
    const text = wordsToBot(said.text ?? '', context.botUserId ?? '');
    const key = `event:${body.event_id}`;
    await begin(asker, {asking: 'mention', key, responseUrl: null, ack: null}, () => runCommand(desk, asker, text));
  });
}

/** Not a person's fresh words: another bot's, an edit of what was answered already, or what Slack itself says. */
function isNoWord(event: {
  readonly bot_id?: string | undefined;
  readonly subtype?: string | undefined;
  readonly edited?: unknown;
}): boolean {
  return event.bot_id !== undefined || event.subtype !== undefined || event.edited !== undefined;
}

interface InForm {
  readonly user: {readonly id: string; readonly team_id?: string};
  readonly team?: {readonly id: string} | null;
  readonly trigger_id?: string;
}

function askerInForm(body: InForm, metadata: string): Asker {
  return {
    user: body.user.id,
    team: body.user.team_id ?? body.team?.id ?? '',
    channel: readChoice(metadata)?.channel ?? '',
    threadTs: null,
    saidTs: null,
    triggerId: body.trigger_id ?? '',
    respond: null,
  };
}

function openView({id, hash, private_metadata: metadata, state}: ViewOutput): OpenView {
  return {id, hash, metadata, state: state as ViewState};
}

/** The value of a button, or of the option that was chosen. */
function pressedIn(action: BlockAction['actions'][number]): string {
  if ('selected_option' in action) return action.selected_option?.value ?? '';
  return 'value' in action ? (action.value ?? '') : '';
}

function askerOfCommand(command: SlashCommand): Asker {
  return {
    user: command.user_id,
    team: command.team_id,
    channel: command.channel_id,
    threadTs: null,
    saidTs: null,
    triggerId: command.trigger_id,
    respond: respondTo(command.response_url),
  };
}
