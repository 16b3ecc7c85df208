/** Beside Slack: the switches that make trouble, the bot's process, marks for what is new, one person per tab, home and messages. */
import type {App} from '@slack/bolt';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';
import type {BotProcess} from '../../src/playground/page/switches.ts';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {be, HAS_CHROMIUM, NEEDS, type PageRig, shoot, startPageRig, type} from './page-rig.ts';
import {card, startTinyBot, type TinyBot} from './slack-bot.ts';

let rig: PageRig;
let slack: LocalSlack;
let bot: TinyBot | null = null;
let asked: string[] = [];
let last = '';

/** Posts a card for every command, fills the home, answers in the person's own conversation. */
function acting(app: App): void {
  app.command('/gpu', async ({ack, command, client}) => {
    await ack();
    asked.push(command.text);
    const posted = await client.chat.postMessage({channel: command.channel_id, ...card(`Card ${asked.length}`)});
    last = posted.ts ?? '';
  });
  app.event('app_home_opened', async ({event, client}) => {
    const {permalink} = await client.chat.getPermalink({channel: slack.channel.id, message_ts: last});
    const text = {type: 'mrkdwn' as const, text: `Home of <@${event.user}>, <${permalink}|the card>`};
    const start = {type: 'button' as const, action_id: 'start', text: {type: 'plain_text' as const, text: 'Start one'}};
    const blocks = [
      {type: 'section' as const, text},
      {type: 'actions' as const, elements: [start]},
    ];
    await client.views.publish({user_id: event.user, view: {type: 'home', blocks}});
  });
  app.action('start', async ({ack, body, client}) => {
    await ack();
    await client.chat.postMessage({channel: body.user.id, text: 'It has begun.'});
  });
  app.message(async ({message, say}) => {
    if ('text' in message) await say(`You said: ${message.text}`);
  });
}

/** A tiny bot as the demo's own process of it. */
function process_(): BotProcess {
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const end = async (): Promise<void> => {
    const ending = bot;
    bot = null;
    await ending?.stop();
    changed();
  };
  let armed = (): void => undefined;
  return {
    state: () => (bot === null ? 'ended' : 'running'),
    start: async () => {
      bot = await startTinyBot(slack, acting, 5_000);
      changed();
    },
    stop: end,
    kill: async () => {
      await end();
      armed();
    },
    killAtNextSignal: () =>
      new Promise((resolve) => {
        armed = () => resolve('killed');
      }),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

describe.skipIf(!HAS_CHROMIUM)(`behind the scenes of the page (${NEEDS})`, () => {
  beforeAll(async () => {
    rig = await startPageRig();
  });
  afterAll(async () => {
    await rig.close();
  });
  const begin = async (pingTimeoutMs = 5_000): Promise<void> => {
    asked = [];
    last = '';
    slack = await startLocalSlack({hints: ['/gpu help'], bot: process_()});
    bot = await startTinyBot(slack, acting, pingTimeoutMs);
  };
  afterEach(async () => {
    await bot?.stop();
    bot = null;
    await slack.close();
  });

  it('kills the bot and says so, fails as Slack fails, and starts it again', async () => {
    await begin();
    const page = await rig.open(slack.url);
    await page.getByRole('tab', {name: 'Faults'}).click();
    await page.getByRole('button', {name: 'Kill the bot now'}).click();
    const banner = page.getByRole('alert').filter({hasText: 'gpu-reclaim is not running.'});
    await banner.waitFor();
    await page.getByText('bot not running').waitFor();
    await type(page, '/gpu status');
    await page.locator('#log').getByText('/gpu failed with the error "dispatch_failed"').waitFor();
    await shoot(page, 'bot-down');
    await banner.getByRole('button', {name: 'Start the bot'}).click();
    await banner.waitFor({state: 'hidden'});
    await type(page, '/gpu status');
    await page.locator('#log').getByText('Card 1').waitFor();
    expect(asked).toEqual(['status']);
    expect(rig.faults).toEqual([]);
  });

  it('each switch does what it says: duplicate, redeliver, too many requests, a lost answer, a dropped socket', async () => {
    await begin(1_500);
    const page = await rig.open(slack.url);
    await page.getByRole('tab', {name: 'Faults'}).click();
    const press = (name: string) => page.locator('#faults').getByRole('button', {name}).click();
    const said = (id: string) => page.locator(`[data-switch="${id}"] .state`);

    await press('Redeliver the last one');
    await said('redeliver').filter({hasText: 'Nothing was delivered yet.'}).waitFor();
    await press('Deliver the next one twice');
    await said('duplicate').filter({hasText: 'Waiting for the next one.'}).waitFor();
    await type(page, '/gpu one');
    await expect.poll(() => asked).toEqual(['one', 'one']);
    await said('duplicate').filter({hasText: 'Done.'}).waitFor();
    await press('Redeliver the last one');
    await said('redeliver').filter({hasText: 'Delivered again, and acknowledged.'}).waitFor();
    await expect.poll(() => asked).toEqual(['one', 'one', 'one']);

    await press('Too many requests');
    await said('rate-limit').filter({hasText: 'For the next 5.'}).waitFor();
    await type(page, '/gpu two');
    await expect.poll(() => slack.calls.filter(({error}) => error === 'ratelimited').length).toBeGreaterThan(0);
    await said('rate-limit').filter({hasText: 'For the next 4.'}).waitFor();
    await press('Take all of it back');
    await said('rate-limit').filter({hasText: 'Done.'}).waitFor();

    await press('Lose the next answer');
    await expect.poll(() => asked.length).toBe(4);
    await expect
      .poll(() => slack.calls.filter(({status, ok}) => status === null && ok).length, {timeout: 8_000})
      .toBe(1);

    await press('Drop the socket');
    await page.getByRole('alert').filter({hasText: 'gpu-reclaim is not connected.'}).waitFor();
    await slack.whenConnected();
    await page.locator('#down').waitFor({state: 'hidden'});
  });

  it('marks what is new for each person, and only where it was not seen', async () => {
    await begin();
    const page = await rig.open(slack.url);
    const {chat} = bot?.app.client ?? {};
    const [gpuOps = '', random = ''] = Object.values(slack.channels).map(({id}) => id);
    const root = await chat?.postMessage({channel: random, text: 'elsewhere'});
    const place = (name: string) => page.getByRole('navigation', {name: 'Places'}).getByRole('button', {name});
    await place('random').getByText('1').waitFor();
    expect(await page.title()).toContain('(1) #gpu-ops');
    await place('random').click();
    await page.locator('#log').getByText('elsewhere').waitFor();
    await expect.poll(() => page.title()).toBe('#random · gpu-reclaim playground');

    await type(page, '/nonsense');
    await page.locator('#log').getByText('/nonsense is not a valid command.').waitFor();

    await chat?.postMessage({channel: random, thread_ts: root?.ts ?? '', text: 'evidence'});
    const door = page.locator('#log').getByRole('button', {name: '1 reply'});
    await door.getByText('1 new').waitFor();
    await door.click();
    await page.locator('#thread').getByText('evidence').waitFor();
    expect(await door.getByText('new').count()).toBe(0);
    await page.getByRole('button', {name: 'Close the thread'}).click();

    await chat?.postMessage({channel: gpuOps, text: 'for all'});
    await place('gpu-ops').getByText('1').waitFor();
    await be(page, 'approver');
    await place('gpu-ops').getByText('1').waitFor();
    await place('gpu-ops').click();
    await be(page, 'requester');
    await page.reload();
    await page.locator('#log .message').first().waitFor();
    expect(await page.locator('#people input:checked').getAttribute('value')).toBe(slack.users.requester.id);
  });

  it("shows the app's home to each their own, acts in it, and keeps the conversation beside it", async () => {
    await begin();
    const page = await rig.open(slack.url);
    await type(page, '/gpu one');
    await page.locator('#log').getByText('Card 1').waitFor();
    // The page may be told before the bot is.
    await expect.poll(() => last).not.toBe('');
    const app = page.getByRole('navigation', {name: 'Places'}).getByRole('button', {name: 'gpu-reclaim'});
    await app.click();
    await page.locator('#home').getByText('@anna').waitFor();
    await page.getByRole('link', {name: 'the card'}).click();
    await page.locator('#log .message:focus').getByText('Card 1').waitFor();
    await app.click();
    await be(page, 'approver');
    await page.locator('#home').getByText('@carla').waitFor();
    await page.getByRole('button', {name: 'Start one'}).click();
    const messages = page.getByRole('tab', {name: 'Messages'});
    await messages.getByText('1 new').waitFor();
    await shoot(page, 'home');
    await messages.click();
    await page.locator('#log').getByText('It has begun.').waitFor();
    await type(page, 'status, please');
    await page.locator('#log').getByText('You said: status, please').waitFor();
    await be(page, 'requester');
    await page.locator('#home').getByText('@anna').waitFor();
    await page.getByRole('tab', {name: 'Messages'}).click();
    await page.getByText('No messages between you and gpu-reclaim yet.').waitFor();
    expect(rig.faults).toEqual([]);
  });
});
