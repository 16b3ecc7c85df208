/** What goes wrong between a bot and Slack: the front does it on demand, the real Bolt shows what follows. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {resolve} from 'node:path';
import type {App} from '@slack/bolt';
import {afterEach, expect, it} from 'vitest';
import {WebSocket} from 'ws';
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

async function socketAddress(): Promise<string> {
  const headers = {authorization: `Bearer ${slack.appToken}`};
  const answer = await fetch(`${slack.apiUrl}apps.connections.open`, {method: 'POST', headers});
  return ((await answer.json()) as {url: string}).url;
}

it('the address of a socket is good once', async () => {
  await start();
  const url = await socketAddress();
  const opened = (): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.on('open', () => socket.close());
      socket.on('close', () => resolve('open'));
      socket.on('error', ({message}) => resolve(message));
    });
  expect(await opened()).toBe('open');
  expect(await opened()).toBe('Unexpected server response: 403');
});

it('a client that does not answer pings is cut off, one that does is kept', async () => {
  await start(answering, {pingMs: 60});
  const deaf = new WebSocket(await socketAddress(), {autoPong: false});
  let pings = 0;
  deaf.on('ping', () => {
    pings += 1;
  });
  await once(deaf, 'close');
  expect(pings).toBeGreaterThanOrEqual(2);
  expect(bot.connections()).toBe(1);
});

it('an eleventh socket is sent away', async () => {
  await start();
  const said: string[] = [];
  const sockets = await Promise.all(
    Array.from({length: 10}, async () => {
      const socket = new WebSocket(await socketAddress());
      const first = once(socket, 'message');
      said.push((JSON.parse(String((await first)[0])) as {type: string}).type);
      return socket;
    }),
  );
  expect(said.toSorted()).toEqual(['disconnect', ...Array.from({length: 9}, () => 'hello')]);
  for (const socket of sockets) socket.terminate();
});

it('closed, it leaves nothing that keeps a process alive', async () => {
  await start();
  const program = `
    import {startLocalSlack} from './src/playground/slack/local-slack.ts';
    const slack = await startLocalSlack();
    await slack.type(slack.users.requester, '/gpu x');
    await slack.close();
    process.stdout.write('closed');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: resolve(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let closedAt = 0;
  child.stdout.once('data', () => {
    closedAt = performance.now();
  });
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  expect(performance.now() - closedAt).toBeLessThan(1500);
});
