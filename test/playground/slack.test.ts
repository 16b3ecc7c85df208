/** The local Slack, held against the real Bolt over a real socket. */
import type {App, BlockAction, ViewSubmitAction} from '@slack/bolt';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {type LocalSlack, type LocalSlackOptions, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {card, modal, startTinyBot, type TinyBot} from './slack-bot.ts';

let slack: LocalSlack;
let bot: TinyBot | null = null;
let rejections: unknown[] = [];
const noteRejection = (reason: unknown): void => void rejections.push(reason);

async function start(listeners: (app: App) => void, options: LocalSlackOptions = {}): Promise<void> {
  slack = await startLocalSlack({ackMs: 300, ...options});
  bot = await startTinyBot(slack, listeners);
}

beforeEach(() => {
  rejections = [];
  process.on('unhandledRejection', noteRejection);
});

afterEach(async () => {
  await bot?.stop();
  bot = null;
  await slack.close();
  process.off('unhandledRejection', noteRejection);
  expect(rejections).toEqual([]);
});

/** Posts a card on /gpu, and lets a test say what a click does. */
function withCard(onClick: (body: BlockAction, app: App) => Promise<void>): (app: App) => void {
  return (app) => {
    app.command('/gpu', async ({ack, command, client}) => {
      await ack();
      await client.chat.postMessage({channel: command.channel_id, ...card(command.text)});
    });
    app.action({type: 'block_actions'}, async ({ack, body}) => {
      await ack();
      await onClick(body as BlockAction, app);
    });
  };
}

describe('commands', () => {
  it('brings a typed command to the bot with every field, and shows the card that it posts', async () => {
    const seen: Record<string, unknown>[] = [];
    await start((app) => {
      app.command('/gpu', async ({ack, command, client}) => {
        await ack();
        seen.push(command);
        await client.chat.postMessage({channel: command.channel_id, ...card('lab-1: 3 to kill')});
      });
    });
    const {requester} = slack.users;
    const done = await slack.type(requester, '/gpu reclaim lab-1 for @carla in #random');
    expect(done).toMatchObject({outcome: 'acked'});
    const posted = await slack.nextPost();
    expect(posted).toMatchObject({
      text: 'lab-1: 3 to kill',
      user: slack.bot.userId,
      bot_id: slack.bot.botId,
      app_id: slack.bot.appId,
      channel: slack.channel.id,
    });
    expect(seen[0]).toMatchObject({
      command: '/gpu',
      text: `reclaim lab-1 for <@${slack.users.approver.id}> in <#${slack.channels['random']?.id}|random>`,
      user_id: requester.id,
      team_id: slack.team.id,
      channel_id: slack.channel.id,
      is_enterprise_install: 'false',
    });
    expect(await slack.messages()).toHaveLength(1);
    expect(slack.envelopes[0]?.ackMs).toBeLessThan(300);
    expect(slack.calls.map((call) => call.method)).toEqual(['auth.test', 'apps.connections.open', 'chat.postMessage']);
  });

  it('shows what an ack carries to the one who typed, and nobody else', async () => {
    await start((app) => {
      app.command('/gpu', async ({ack}) => ack({text: 'help for you'}));
    });
    await slack.type(slack.users.requester, '/gpu help');
    expect(await slack.nextEphemeral()).toMatchObject({text: 'help for you', to: slack.users.requester.id, by: 'bot'});
    expect(slack.ephemerals(slack.users.stranger)).toEqual([]);
    expect(await slack.messages()).toEqual([]);
  });

  it('says operation_timeout where the bot never acks, and dispatch_failed where no bot is connected', async () => {
    await start((app) => {
      app.command('/gpu', async () => {});
    });
    const {requester} = slack.users;
    expect(await slack.type(requester, '/gpu status')).toMatchObject({outcome: 'operation_timeout'});
    expect((await slack.nextEphemeral()).text).toBe('/gpu failed with the error "operation_timeout"');
    await bot?.stop();
    bot = null;
    expect(await slack.type(requester, '/gpu status')).toMatchObject({outcome: 'dispatch_failed'});
    expect((await slack.nextEphemeral()).text).toBe('/gpu failed with the error "dispatch_failed"');
  });

  it('refuses an unknown command and a command in a thread, without asking the bot', async () => {
    await start(() => {});
    const {requester} = slack.users;
    await slack.type(requester, '/kill all');
    expect((await slack.nextEphemeral()).text).toBe('/kill is not a valid command.');
    await slack.type(requester, '/gpu status', {threadTs: '1.000001'});
    expect((await slack.nextEphemeral()).text).toContain('not supported in threads');
    expect(slack.envelopes).toEqual([]);
  });

  it('tells the bot when it is mentioned in a thread, under the name of the one who wrote', async () => {
    await start((app) => {
      app.event('app_mention', async ({event, client}) => {
        await client.chat.postMessage({channel: event.channel, thread_ts: event.thread_ts ?? event.ts, text: 'yes?'});
      });
      app.command('/gpu', async ({ack, command, client}) => {
        await ack();
        await client.chat.postMessage({channel: command.channel_id, ...card('root')});
      });
    });
    const {approver} = slack.users;
    await slack.type(approver, '/gpu status');
    const root = await slack.nextPost();
    await slack.type(approver, '@gpu-reclaim what now?', {threadTs: root.ts});
    await slack.nextReply((message) => message.text === 'yes?');
    const said = await slack.thread(root.ts);
    expect(said.map(({user, text}) => [user, text])).toEqual([
      [slack.bot.userId, 'root'],
      [approver.id, `<@${slack.bot.userId}> what now?`],
      [slack.bot.userId, 'yes?'],
    ]);
  });
});

describe('clicks', () => {
  it('brings the click with its value, and shows the update and the thread', async () => {
    const seen: BlockAction[] = [];
    await start(
      withCard(async (body, app) => {
        seen.push(body);
        const {channel, message} = body;
        if (channel === undefined || message === undefined) throw new Error('no message in the click');
        await app.client.chat.update({channel: channel.id, ts: message.ts, text: 'going', blocks: []});
        await app.client.chat.postMessage({channel: channel.id, thread_ts: message.ts, text: 'killed 3'});
      }),
    );
    await slack.type(slack.users.requester, '/gpu lab-1');
    const posted = await slack.nextPost();
    expect(await slack.confirmOf(posted.ts, 'kill')).toEqual({
      title: 'Kill 3 processes?',
      text: 'On *lab-1*, 12 GiB.',
      confirm: 'Kill',
      deny: 'Back',
    });
    expect(await slack.click(slack.users.approver, posted.ts, 'kill')).toMatchObject({outcome: 'acked'});
    const updated = await slack.nextUpdate();
    expect(updated).toMatchObject({ts: posted.ts, text: 'going'});
    expect((await slack.nextReply()).text).toBe('killed 3');
    expect(seen[0]).toMatchObject({
      user: {id: slack.users.approver.id},
      team: {id: slack.team.id},
      channel: {id: slack.channel.id},
      container: {message_ts: posted.ts, is_ephemeral: false},
      actions: [{action_id: 'kill', value: 'run-1', type: 'button'}],
    });
    // A late click on the card as it stood before.
    await slack.click(slack.users.stranger, posted.ts, 'kill', {card: posted, teamId: 'T0FOREIGN'});
    expect(seen[1]).toMatchObject({
      user: {id: slack.users.stranger.id, team_id: 'T0FOREIGN'},
      message: {text: 'lab-1'},
    });
    await expect(slack.click(slack.users.stranger, posted.ts, 'kill')).rejects.toThrow('there are none');
  });

  it('keeps a click that the dialog denied, and brings three at once', async () => {
    const stamps: string[] = [];
    await start(
      withCard(async (body) => {
        stamps.push(body.actions[0]?.action_ts ?? '');
      }),
    );
    await slack.type(slack.users.requester, '/gpu lab-1');
    const {ts} = await slack.nextPost();
    expect(await slack.click(slack.users.approver, ts, 'kill', {dialog: 'deny'})).toMatchObject({outcome: 'not-sent'});
    await Promise.all([
      slack.click(slack.users.approver, ts, 'kill'),
      slack.click(slack.users.requester, ts, 'kill'),
      slack.click(slack.users.approver, ts, 'kill'),
    ]);
    expect(new Set(stamps).size).toBe(3);
  });

  it('answers 100 double clicks within the ack time', async () => {
    await start(withCard(async () => {}));
    await slack.type(slack.users.requester, '/gpu lab-1');
    const {ts} = await slack.nextPost();
    const clicks = Array.from({length: 100}, () => [
      slack.click(slack.users.approver, ts, 'kill'),
      slack.click(slack.users.requester, ts, 'kill'),
    ]).flat();
    const done = await Promise.all(clicks);
    expect(done.filter(({outcome}) => outcome === 'acked')).toHaveLength(200);
    expect(slack.envelopes.filter(({type, ackMs}) => type === 'interactive' && ackMs !== null)).toHaveLength(200);
  });

  it('says so when nobody answers a click', async () => {
    await start((app) => {
      app.command('/gpu', async ({ack, command, client}) => {
        await ack();
        await client.chat.postMessage({channel: command.channel_id, ...card('x')});
      });
    });
    await slack.type(slack.users.requester, '/gpu x');
    const {ts} = await slack.nextPost();
    expect(await slack.click(slack.users.approver, ts, 'kill')).toMatchObject({outcome: 'operation_timeout'});
    expect(await slack.nextEphemeral()).toMatchObject({to: slack.users.approver.id, by: 'slack'});
  });
});

describe('modals', () => {
  const opening =
    (onSubmit: (body: ViewSubmitAction, app: App) => unknown) =>
    (app: App): void => {
      withCard(async (body) => {
        await app.client.views.open({trigger_id: body.trigger_id, view: modal()});
      })(app);
      app.view('choice', async ({ack, body}) => {
        const answer = onSubmit(body as ViewSubmitAction, app);
        await (answer === undefined ? ack() : ack(answer as never));
      });
    };

  async function openModal(): Promise<void> {
    const {approver} = slack.users;
    await slack.type(approver, '/gpu lab-1');
    const {ts} = await slack.nextPost();
    await slack.click(approver, ts, 'choose');
    await slack.nextView(approver);
  }

  it('opens, keeps an empty required field back, hands over what was filled in, and closes', async () => {
    const submitted: ViewSubmitAction[] = [];
    await start(opening((body) => void submitted.push(body)));
    await openModal();
    const {approver, requester} = slack.users;
    expect(slack.viewOf(approver)?.private_metadata).toBe('run-1');
    expect(slack.viewOf(requester)).toBeNull();
    expect(await slack.submitView(approver, {})).toMatchObject({
      outcome: 'not-sent',
      errors: {why: expect.any(String)},
    });
    expect(await slack.submitView(approver, {reason: 'nobody awake', pids: ['200']})).toMatchObject({outcome: 'acked'});
    expect(submitted[0]?.view.state.values).toMatchObject({
      why: {reason: {type: 'plain_text_input', value: 'nobody awake'}},
      who: {pids: {selected_options: [{value: '200'}]}},
    });
    expect(slack.viewOf(approver)).toBeNull();
    await expect(slack.submitView(approver, {})).rejects.toThrow('No modal is open');
  });

  it('refuses an answer that the form does not offer', async () => {
    await start(opening(() => undefined));
    await openModal();
    const {approver} = slack.users;
    await expect(slack.submitView(approver, {pids: ['999']})).rejects.toThrow('No option "999"; there are 100, 200');
    await expect(slack.submitView(approver, {size: 'x'})).rejects.toThrow('No such field in the modal: size');
  });

  it('follows all four response actions', async () => {
    const answers: unknown[] = [
      {response_action: 'errors', errors: {why: 'too short'}},
      {response_action: 'update', view: {...modal(), title: {type: 'plain_text', text: 'Changed'}}},
      {response_action: 'push', view: {...modal(), title: {type: 'plain_text', text: 'Above'}}},
      undefined,
      {response_action: 'clear'},
    ];
    await start(opening(() => answers.shift()));
    await openModal();
    const {approver} = slack.users;
    slack.skip();
    const submit = () => slack.submitView(approver, {reason: 'x'});
    await submit();
    expect((await slack.nextView(approver)).errors).toEqual({why: 'too short'});
    await submit();
    expect(slack.viewOf(approver)?.title.text).toBe('Changed');
    await submit();
    expect(slack.viewOf(approver)?.title.text).toBe('Above');
    await submit();
    expect(slack.viewOf(approver)?.title.text).toBe('Changed');
    await submit();
    expect(slack.viewOf(approver)).toBeNull();
  });

  it('lets a trigger open one view, and a made-up one none', async () => {
    const errors: unknown[] = [];
    const open = async (app: App, trigger: string): Promise<void> => {
      await app.client.views
        .open({trigger_id: trigger, view: modal()})
        .catch((error: {data?: {error?: string}}) => errors.push(error.data?.error));
    };
    await start(
      withCard(async (body, app) => {
        await open(app, body.trigger_id);
        await open(app, body.trigger_id);
        await open(app, 'made.up');
      }),
    );
    const {approver} = slack.users;
    await slack.type(approver, '/gpu lab-1');
    await slack.click(approver, (await slack.nextPost()).ts, 'choose');
    await slack.nextView(approver);
    await expect.poll(() => errors).toEqual(['exchanged_trigger_id', 'invalid_trigger_id']);
  });
});

describe('response_url', () => {
  it('is good for five answers: hidden, in the channel, replaced, deleted, and no sixth', async () => {
    const statuses: unknown[] = [];
    await start((app) => {
      app.command('/gpu', async ({ack, respond}) => {
        await ack();
        await respond('only for you');
        await respond({text: 'better', replace_original: true});
        await respond({text: 'for all', response_type: 'in_channel'});
        await respond({delete_original: true});
        await respond('fifth');
        await respond('sixth').catch((error: {statusCode?: number}) => statuses.push(error.statusCode));
        await respond('seventh').catch((error: {statusCode?: number}) => statuses.push(error.statusCode));
      });
    });
    const {requester} = slack.users;
    await slack.type(requester, '/gpu status');
    await slack.nextEphemeral(({text}) => text === 'fifth');
    await expect.poll(() => statuses).toEqual([404, 404]);
    expect(slack.ephemerals(requester).map(({text}) => text)).toEqual(['better', 'fifth']);
    expect(await slack.messages()).toEqual([]);
  });

  it('of a click replaces the card that was clicked', async () => {
    await start((app) => {
      withCard(async () => {})(app);
      app.action('kill', async ({respond}) => {
        await respond({text: 'done', replace_original: true});
      });
    });
    await slack.type(slack.users.requester, '/gpu lab-1');
    const {ts} = await slack.nextPost();
    await slack.click(slack.users.approver, ts, 'kill');
    expect(await slack.nextUpdate()).toMatchObject({ts, text: 'done'});
  });
});

describe('what Slack refuses', () => {
  const section = (text: string) => ({type: 'section', text: {type: 'mrkdwn', text}});
  it.each([
    [
      'a section of 3001 characters',
      {blocks: [section('x'.repeat(3001))], text: 'x'},
      'invalid_blocks',
      '/blocks/0/text/text',
    ],
    ['a type that there is not', {blocks: [{type: 'nope'}], text: 'x'}, 'invalid_blocks', '/blocks/0/type'],
    ['51 blocks', {blocks: Array.from({length: 51}, () => section('x')), text: 'x'}, 'invalid_blocks', '/blocks'],
    [
      'an empty cell',
      {blocks: [{type: 'table', rows: [[{type: 'raw_text', text: ''}]]}], text: 'x'},
      'invalid_blocks',
      '/rows/0/0/text',
    ],
    ['an input in a message', {blocks: modal().blocks, text: 'x'}, 'invalid_blocks', '/blocks/0/type'],
    [
      'blocks of 14,000 characters together',
      {blocks: Array.from({length: 5}, () => section('x'.repeat(2800))), text: 'x'},
      'msg_blocks_too_long',
      null,
    ],
    ['nothing at all', {text: ''}, 'no_text', null],
  ])('%s', async (_what, message, error, pointer) => {
    await start(() => {});
    const call = bot?.app.client.apiCall('chat.postMessage', {channel: slack.channel.id, ...message});
    const refused: {data?: {error: string; response_metadata?: {messages?: string[]}}} =
      (await call?.then(
        () => ({}),
        (reason: object) => reason,
      )) ?? {};
    expect(refused.data?.error).toBe(error);
    if (pointer !== null) expect(refused.data?.response_metadata?.messages?.join()).toContain(`[json-pointer:`);
    if (pointer !== null) expect(refused.data?.response_metadata?.messages?.join()).toContain(pointer);
    expect(await slack.messages()).toEqual([]);
  });

  it('a wrong token, a missing scope, a method that there is not, and a text over 40,000 characters is cut', async () => {
    await start(() => {});
    const ask = async (method: string, token: string, args: object = {}) => {
      const response = await fetch(`${slack.apiUrl}${method}`, {
        method: 'POST',
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
        body: JSON.stringify(args),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    expect(await ask('auth.test', 'xoxb-wrong')).toEqual({ok: false, error: 'invalid_auth'});
    expect(await ask('auth.test', '')).toEqual({ok: false, error: 'not_authed'});
    expect(await ask('apps.connections.open', 'xapp-wrong')).toEqual({ok: false, error: 'invalid_auth'});
    expect(await ask('apps.connections.open', slack.botToken)).toEqual({ok: false, error: 'not_allowed_token_type'});
    expect(await ask('chat.unknown', slack.botToken)).toEqual({ok: false, error: 'unknown_method'});
    expect(await ask('conversations.history', slack.botToken, {channel: slack.channel.id})).toMatchObject({
      error: 'missing_scope',
      needed: 'channels:history',
    });
    const long = await ask('chat.postMessage', slack.botToken, {channel: slack.channel.id, text: 'x'.repeat(40_001)});
    expect(long).toMatchObject({ok: true, warning: 'message_truncated'});
  });

  it('keeps the blocks of a card when an update brings a text only', async () => {
    await start(withCard(async () => {}));
    await slack.type(slack.users.requester, '/gpu lab-1');
    const posted = await slack.nextPost();
    await bot?.app.client.chat.update({channel: posted.channel, ts: posted.ts, text: 'new text'});
    expect(await slack.nextUpdate()).toMatchObject({text: 'new text', blocks: posted.blocks});
  });
});

describe('what a test waits for', () => {
  it('is handed out once, also when it came before, and says what came instead', async () => {
    await start(withCard(async () => {}));
    await slack.type(slack.users.requester, '/gpu one');
    await slack.type(slack.users.requester, '/gpu two');
    expect((await slack.nextPost(({text}) => text === 'two')).text).toBe('two');
    expect((await slack.nextPost()).text).toBe('one');
    await expect(slack.nextPost(() => true, {withinMs: 50})).rejects.toThrow(
      'No post came. What came: post (taken) one',
    );
    await slack.type(slack.users.requester, '/gpu three');
    await expect.poll(async () => (await slack.messages()).length).toBe(3);
    slack.skip();
    await expect(slack.nextPost(() => true, {withinMs: 50})).rejects.toThrow('No post came');
  });
});

describe('user groups', () => {
  it('are answered for, which emulate does not', async () => {
    await start(() => {}, {groups: {'gpu-oncall': ['approver']}});
    const group = slack.groups[0]?.id ?? '';
    const answer = await bot?.app.client.usergroups.users.list({usergroup: group});
    expect(answer?.users).toEqual([slack.users.approver.id]);
  });
});
