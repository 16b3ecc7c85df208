/** Bolt's payloads to our own words. What is asked is written down, then acknowledged; the work goes on behind it. */
import type {App, BlockAction, SlashCommand} from '@slack/bolt';
import {onClick} from './clicks.ts';
import {runCommand} from './commands.ts';
import type {Asker, Desk} from './desk.ts';
import {channelOf, onSubmit} from './forms.ts';
import {once} from './gate.ts';
import {ackAfter, take} from './intake.ts';
import {respondTo} from './respond.ts';

/** One listener a kind, each for everything of it: nothing that Slack sends is left without an ack. */
export function listen(app: App, desk: Desk): void {
  app.command(/.*/, async ({ack, command}) => {
    const asker = askerOfCommand(command);
    const key = `command:${command.trigger_id}`;
    const taken = take(desk, asker, {key, asking: 'command', responseUrl: command.response_url});
    await ackAfter(desk, taken, ack);
    desk.work.start('command', () => once(desk, asker, taken, () => runCommand(desk, asker, command.text)));
  });

  app.action<BlockAction>(/.*/, async ({ack, action, body}) => {
    // A tick inside of an open form is read at its submit.
    if (body.container['type'] === 'view') return ack();
    const responseUrl = body.response_url === '' ? null : (body.response_url ?? null);
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: body.channel?.id ?? String(body.container['channel_id'] ?? ''),
      triggerId: body.trigger_id,
      respond: responseUrl === null ? null : respondTo(responseUrl),
    };
    const ts = String(body.container['message_ts'] ?? '');
    const value = 'value' in action ? action.value : undefined;
    const messageTs = ts === '' || body.container['is_ephemeral'] === true ? null : ts;
    const key = `click:${asker.channel}:${ts}:${action.action_id}:${asker.user}:${action.action_ts}`;
    const taken = take(desk, asker, {key, asking: 'click', responseUrl});
    await ackAfter(desk, taken, ack);
    desk.work.start('click', () =>
      once(desk, asker, taken, () => onClick(desk, asker, {actionId: action.action_id, value, messageTs})),
    );
  });

  app.view(/.*/, async ({ack, body, view}) => {
    const submission = {callbackId: view.callback_id, metadata: view.private_metadata, state: view.state};
    const asker: Asker = {
      user: body.user.id,
      team: body.user.team_id ?? body.team?.id ?? '',
      channel: channelOf(submission) ?? '',
      triggerId: 'trigger_id' in body ? String(body.trigger_id) : '',
      respond: null,
    };
    const key = `form:${view.id}:${view.hash}:${asker.user}`;
    const taken = take(desk, asker, {key, asking: 'form', responseUrl: null});
    await ackAfter(desk, taken, ack);
    desk.work.start('form', () => once(desk, asker, taken, () => onSubmit(desk, asker, submission)));
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
    const taken = take(desk, asker, {key: `event:${body.event_id}`, asking: 'mention', responseUrl: null});
    desk.work.start('mention', () => once(desk, asker, taken, () => runCommand(desk, asker, text)));
  });
}

function askerOfCommand(command: SlashCommand): Asker {
  return {
    user: command.user_id,
    team: command.team_id,
    channel: command.channel_id,
    triggerId: command.trigger_id,
    respond: respondTo(command.response_url),
  };
}
