/** Bolt's payloads to our own words. The ack is the first thing that each listener does; the work goes on behind it. */
import type {App, BlockAction, SlashCommand} from '@slack/bolt';
import {onClick} from './clicks.ts';
import {runCommand} from './commands.ts';
import type {Asker, Desk, PrivateMessage} from './desk.ts';
import {channelOf, onSubmit} from './forms.ts';
import {once} from './gate.ts';

type Respond = (message: PrivateMessage) => Promise<unknown>;

/** One listener a kind, each for everything of it: nothing that Slack sends is left without an ack. */
export function listen(app: App, desk: Desk): void {
  app.command(/.*/, async ({ack, command, respond}) => {
    await ack();
    const asker = askerOfCommand(command, respond as Respond);
    desk.work.start('command', () =>
      once(desk, asker, `command:${command.trigger_id}`, () => runCommand(desk, asker, command.text)),
    );
  });

  app.action<BlockAction>(/.*/, async ({ack, action, body, respond}) => {
    await ack();
    // A tick inside of an open form is read at its submit.
    if (body.container['type'] === 'view') return;
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: body.channel?.id ?? String(body.container['channel_id'] ?? ''),
      triggerId: body.trigger_id,
      respond: body.response_url === '' || body.response_url === undefined ? null : (respond as unknown as Respond),
    };
    const ts = String(body.container['message_ts'] ?? '');
    const value = 'value' in action ? action.value : undefined;
    const messageTs = ts === '' || body.container['is_ephemeral'] === true ? null : ts;
    const key = `click:${asker.channel}:${ts}:${action.action_id}:${asker.user}:${action.action_ts}`;
    desk.work.start('click', () =>
      once(desk, asker, key, () => onClick(desk, asker, {actionId: action.action_id, value, messageTs})),
    );
  });

  app.view(/.*/, async ({ack, body, view}) => {
    await ack();
    const submission = {callbackId: view.callback_id, metadata: view.private_metadata, state: view.state};
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: channelOf(submission) ?? '',
      triggerId: 'trigger_id' in body ? String(body.trigger_id) : '',
      respond: null,
    };
    desk.work.start('form', () =>
      once(desk, asker, `form:${view.id}:${view.hash}:${asker.user}`, () => onSubmit(desk, asker, submission)),
    );
  });

  // Slash commands can't be typed inside of a thread; a mention can.
  app.event('app_mention', async ({event, body}) => {
    const asker: Asker = {
      user: event.user ?? '',
      team: event.user_team ?? event.team ?? body.team_id,
      channel: event.channel,
      triggerId: '',
      respond: null,
    };
    if (asker.user === '') return;
    const text = event.text.replaceAll(/<@[A-Z0-9]+(\|[^>]*)?>/g, ' ').trim();
    desk.work.start('mention', () => once(desk, asker, `event:${body.event_id}`, () => runCommand(desk, asker, text)));
  });
}

function askerOfCommand(command: SlashCommand, respond: Respond): Asker {
  return {
    user: command.user_id,
    team: command.team_id,
    channel: command.channel_id,
    triggerId: command.trigger_id,
    respond,
  };
}
