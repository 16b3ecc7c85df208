/** App Home and the conversation of one person with the bot, held against the real Bolt over a real socket. */
import type {App, BlockAction, EnvelopedEvent, types} from '@slack/bolt';
import {afterEach, describe, expect, it} from 'vitest';
import {type LocalSlack, type LocalSlackOptions, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {modal, startTinyBot, type TinyBot} from './slack-bot.ts';

let slack: LocalSlack;
let bot: TinyBot;

async function start(listeners: (app: App) => void, options: LocalSlackOptions = {}): Promise<void> {
  slack = await startLocalSlack({ackMs: 300, ...options});
  bot = await startTinyBot(slack, listeners);
}

afterEach(async () => {
  await bot.stop();
  await slack.close();
});

function home(text: string): types.HomeView {
  return {
    type: 'home',
    blocks: [
      {type: 'section', text: {type: 'mrkdwn', text}},
      {
        type: 'actions',
        elements: [{type: 'button', action_id: 'look', value: 'all', text: {type: 'plain_text', text: 'Look now'}}],
      },
    ],
  };
}

/** Publishes on each opening, counting. */
function publishing(seen: EnvelopedEvent<types.AppHomeOpenedEvent>[], clicks: BlockAction[] = []): (app: App) => void {
  return (app) => {
    app.event('app_home_opened', async ({event, body, client}) => {
      seen.push(body as EnvelopedEvent<types.AppHomeOpenedEvent>);
      await client.views.publish({user_id: event.user, view: home(`opened ${seen.length}`)});
    });
    app.action({type: 'block_actions'}, async ({ack, body, client}) => {
      await ack();
      clicks.push(body as BlockAction);
      await client.views.open({trigger_id: (body as BlockAction).trigger_id, view: modal()});
    });
  };
}

describe('App Home', () => {
  it('tells the bot who looks, hands back what was published, and shows each one their own', async () => {
    const seen: EnvelopedEvent<types.AppHomeOpenedEvent>[] = [];
    await start(publishing(seen));
    const {requester, stranger} = slack.users;
    expect(slack.homeOf(requester)).toBeNull();
    expect(await slack.openHome(requester)).toMatchObject({outcome: 'acked'});
    const first = await slack.nextHome(requester);
    expect(first).toMatchObject({type: 'home', app_id: slack.bot.appId});
    await slack.openHome(requester);
    const second = await slack.nextHome(requester, (view) => JSON.stringify(view).includes('opened 2'));
    expect(second.id).toBe(first.id);
    expect(second.hash).not.toBe(first.hash);
    expect(slack.homeOf(requester)?.hash).toBe(second.hash);
    expect(slack.homeOf(stranger)).toBeNull();
    expect(seen.map(({event}) => ({user: event.user, tab: event.tab, channel: event.channel}))).toEqual([
      {user: requester.id, tab: 'home', channel: slack.dm(requester).id},
      {user: requester.id, tab: 'home', channel: slack.dm(requester).id},
    ]);
    expect(seen[0]?.event.view).toBeUndefined();
    expect(seen[1]?.event.view).toMatchObject({id: first.id});
  });

  it('brings a click on it as Slack does, with a trigger that opens a modal', async () => {
    const clicks: BlockAction[] = [];
    await start(publishing([], clicks));
    const {requester} = slack.users;
    await slack.openHome(requester);
    const {id} = await slack.nextHome(requester);
    expect(await slack.click(requester, id, 'look')).toMatchObject({outcome: 'acked'});
    expect((await slack.nextView(requester)).view).toMatchObject({type: 'modal', callback_id: 'choice'});
    expect(clicks[0]).toMatchObject({
      container: {type: 'view', view_id: id},
      view: {id, type: 'home'},
      user: {id: requester.id, username: requester.name},
      actions: [{action_id: 'look', value: 'all'}],
    });
    expect(clicks[0]?.channel).toBeUndefined();
    expect(clicks[0]?.message).toBeUndefined();
  });

  it('refuses what Slack refuses', async () => {
    await start(() => {});
    const {requester} = slack.users;
    const publish = async (view: unknown): Promise<string> =>
      bot.app.client.views
        .publish({user_id: requester.id, view: view as types.HomeView})
        .then(() => 'ok')
        .catch((error: {readonly data?: {readonly error?: string}}) => String(error.data?.error));
    const [block] = home('x').blocks;
    expect(await publish({type: 'home', blocks: Array.from({length: 100}, () => block)})).toBe('ok');
    expect(await publish({type: 'home', blocks: Array.from({length: 101}, () => block)})).toBe('invalid_arguments');
    expect(await publish(modal())).toBe('invalid_arguments');
    const heavy = {type: 'section', text: {type: 'mrkdwn', text: 'x'.repeat(2_900)}};
    expect(await publish({type: 'home', blocks: Array.from({length: 100}, () => heavy)})).toBe('view_too_large');
  });

  it('is not there where the manifest has no such tab, or no such event', async () => {
    const seen: EnvelopedEvent<types.AppHomeOpenedEvent>[] = [];
    await start(publishing(seen), {tabs: {home: 'off', messages: 'off'}});
    const {requester} = slack.users;
    expect(await slack.openHome(requester)).toMatchObject({outcome: 'not-sent'});
    const {client} = bot.app;
    await expect(client.views.publish({user_id: requester.id, view: home('x')})).rejects.toThrow('not_enabled');
    await expect(client.chat.postMessage({channel: requester.id, text: 'x'})).rejects.toThrow('messages_tab_disabled');
    await bot.stop();
    await slack.close();
    await start(publishing(seen), {events: ['app_mention']});
    expect(await slack.openHome(requester)).toMatchObject({outcome: 'not-sent'});
    expect(seen).toEqual([]);
  });
});

describe('a conversation with the bot', () => {
  it('holds what is posted to the id of a person, and nobody else sees it', async () => {
    await start(() => {});
    const {requester, stranger} = slack.users;
    const posted = await bot.app.client.chat.postMessage({channel: requester.id, text: 'it is over'});
    expect(posted.channel).toBe(slack.dm(requester).id);
    const told = await slack.nextDm(requester);
    expect(told).toMatchObject({text: 'it is over', bot_id: slack.bot.botId, channel: slack.dm(requester).id});
    await bot.app.client.chat.update({channel: slack.dm(requester).id, ts: told.ts, text: 'it is really over'});
    expect((await slack.messages(slack.dm(requester))).map(({text}) => text)).toEqual(['it is really over']);
    expect(await slack.messages(slack.dm(stranger))).toEqual([]);
    expect(await slack.messages()).toEqual([]);
  });

  it('brings what a person writes there as a message event, and takes commands', async () => {
    const heard: types.GenericMessageEvent[] = [];
    const commands: string[] = [];
    await start((app) => {
      app.event('message', async ({event, client}) => {
        heard.push(event as types.GenericMessageEvent);
        await client.chat.postMessage({channel: event.channel, text: 'yes?'});
      });
      app.command('/gpu', async ({ack, command}) => {
        await ack({text: 'here too'});
        commands.push(`${command.channel_id} ${command.channel_name}`);
      });
    });
    const {requester} = slack.users;
    const dm = slack.dm(requester);
    await slack.type(requester, 'status', {channel: dm});
    await slack.nextDm(requester, ({text}) => text === 'yes?');
    expect(heard.map(({user, text, channel_type: type}) => ({user, text, type}))).toEqual([
      {user: requester.id, text: 'status', type: 'im'},
    ]);
    await slack.type(requester, '/gpu help', {channel: dm});
    expect((await slack.nextEphemeral()).channel).toBe(dm.id);
    expect(commands).toEqual([`${dm.id} directmessage`]);
  });

  it('takes nothing on a read-only tab', async () => {
    await start(() => {}, {tabs: {home: 'on', messages: 'read-only'}});
    const {requester} = slack.users;
    expect(await slack.type(requester, 'hello', {channel: slack.dm(requester)})).toMatchObject({outcome: 'not-sent'});
    await bot.app.client.chat.postMessage({channel: requester.id, text: 'still told'});
    expect((await slack.nextDm(requester)).text).toBe('still told');
  });
});
