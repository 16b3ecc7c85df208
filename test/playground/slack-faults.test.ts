/** What goes wrong between a bot and Slack: the front does it on demand, the real Bolt shows what follows. */
import type {App} from '@slack/bolt';
import {afterEach, expect, it} from 'vitest';
import {type LocalSlack, type LocalSlackOptions, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {card, startTinyBot, type TinyBot} from './slack-bot.ts';

let slack: LocalSlack;
let bot: TinyBot;

async function start(listeners: (app: App) => void = answering, options: LocalSlackOptions = {}): Promise<void> {
  slack = await startLocalSlack({ackMs: 300, ...options});
  bot = await startTinyBot(slack, listeners);
}

function answering(app: App): void {
  app.command('/gpu', async ({ack, command, client}) => {
    await ack();
    await client.chat.postMessage({channel: command.channel_id, ...card(command.text)});
  });
}

afterEach(async () => {
  await bot.stop();
  await slack.close();
});

it('429: the client waits for Retry-After and sends again', async () => {
  await start();
  slack.setFault({kind: 'rate-limit', method: 'chat.postMessage', retryAfterS: 1});
  await slack.type(slack.users.requester, '/gpu one');
  await slack.nextPost();
  const posts = slack.calls.filter((call) => call.method === 'chat.postMessage');
  await expect.poll(() => posts.map(({status}) => status)).toEqual([429, 200]);
  expect((posts[1]?.atMs ?? 0) - (posts[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(950);
});

it('500: the client sends again, and one message stands', async () => {
  await start();
  slack.setFault({kind: 'http-error', method: 'chat.postMessage', status: 500});
  await slack.type(slack.users.requester, '/gpu one');
  await slack.nextPost();
  expect(await slack.messages()).toHaveLength(1);
});

it('an answer lost after the message was stored: the message stands twice', async () => {
  await start();
  slack.setFault({kind: 'drop-answer', method: 'chat.postMessage'});
  await slack.type(slack.users.requester, '/gpu one');
  await slack.nextPost();
  await slack.nextPost();
  expect((await slack.messages()).map(({text}) => text)).toEqual(['one', 'one']);
});

it('a refusal: the error reaches the bot, nothing is stored', async () => {
  await start();
  slack.setFault({kind: 'refuse', method: 'chat.postMessage', error: 'channel_not_found'});
  await expect(bot.app.client.chat.postMessage({channel: slack.channel.id, text: 'x'})).rejects.toMatchObject({
    data: {error: 'channel_not_found'},
  });
  expect(await slack.messages()).toEqual([]);
});

it('a slow answer comes late, and comes', async () => {
  await start();
  slack.setFault({kind: 'slow', method: '*', delayMs: 200});
  const before = performance.now();
  await bot.app.client.auth.test();
  expect(performance.now() - before).toBeGreaterThan(190);
});

it('every TCP connection cut: the bot comes back by a new address and answers', async () => {
  await start();
  slack.dropSockets();
  await expect.poll(() => bot.connections()).toBe(2);
  await slack.whenConnected();
  expect(await slack.type(slack.users.requester, '/gpu again')).toMatchObject({outcome: 'acked'});
  expect(slack.calls.filter((call) => call.method === 'apps.connections.open')).toHaveLength(2);
});

it('a refresh: the bot comes back and answers', async () => {
  await start();
  slack.refreshSockets();
  await expect.poll(() => bot.connections()).toBe(2);
  await slack.whenConnected();
  expect(await slack.type(slack.users.requester, '/gpu again')).toMatchObject({outcome: 'acked'});
});

it('an upgrade refused: the bot tries again', async () => {
  await start();
  slack.setFault({kind: 'refuse-upgrade'});
  slack.dropSockets();
  await expect.poll(() => bot.connections(), {timeout: 15_000}).toBe(2);
});

it('an envelope sent twice arrives twice under one id', async () => {
  const triggers: string[] = [];
  await start((app) => {
    app.command('/gpu', async ({ack, command}) => {
      await ack();
      triggers.push(command.trigger_id);
    });
  });
  slack.setFault({kind: 'duplicate-envelope'});
  await slack.type(slack.users.requester, '/gpu once');
  await expect.poll(() => triggers.length).toBe(2);
  expect(new Set(triggers).size).toBe(1);
  expect(slack.envelopes).toHaveLength(1);
});

it('an envelope without an ack comes again under a new id, with the same trigger', async () => {
  const triggers: string[] = [];
  await start((app) => {
    app.command('/gpu', async ({ack, command}) => {
      triggers.push(command.trigger_id);
      if (triggers.length > 1) await ack();
    });
  });
  slack.setFault({kind: 'redeliver-unacked'});
  expect(await slack.type(slack.users.requester, '/gpu once')).toMatchObject({outcome: 'acked'});
  expect(new Set(triggers).size).toBe(1);
  expect(new Set(slack.envelopes.map(({envelopeId}) => envelopeId)).size).toBe(2);
});

it('the address of a socket is good once', async () => {
  await start();
  const answer = (await (
    await fetch(`${slack.apiUrl}apps.connections.open`, {
      method: 'POST',
      headers: {authorization: `Bearer ${slack.appToken}`},
    })
  ).json()) as {url: string};
  const {WebSocket} = await import('undici');
  const opens = (): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(answer.url);
      socket.addEventListener('open', () => {
        socket.close();
        resolve('open');
      });
      socket.addEventListener('error', () => resolve('refused'));
    });
  expect(await opens()).toBe('open');
  expect(await opens()).toBe('refused');
});
