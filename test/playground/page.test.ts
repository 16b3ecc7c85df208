/** The page in a real browser, before the local Slack and a tiny real Bolt app. */
import type {App, BlockAction} from '@slack/bolt';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';
import type {HostState} from '../../src/playground/page/host-pane.ts';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {HOSTILE, planCard, reportBlocks, shownInModal} from './page-cards.ts';
import {be, HAS_CHROMIUM, NEEDS, type PageRig, shoot, startPageRig, type} from './page-rig.ts';
import {startTinyBot, type TinyBot} from './slack-bot.ts';

let rig: PageRig;
let slack: LocalSlack;
let bot: TinyBot;
let host: HostState;

/** A bot with a plan, a choice, a go and a report: the shape of the real one, none of its thinking. */
function acting(app: App): void {
  const pids = {wanted: ['244199']};
  app.command('/gpu', async ({ack, command, client, respond}) => {
    await ack();
    if (command.text === 'help') {
      await respond(`*reclaim* \`/gpu reclaim lab-1\` ${HOSTILE}`);
      return;
    }
    await client.chat.postMessage({channel: command.channel_id, ...planCard(1, command.user_id)});
  });
  app.action('choose', async ({ack, body, client}) => {
    await ack();
    const {trigger_id, message} = body as BlockAction;
    await client.views.open({trigger_id, view: shownInModal(message?.ts ?? '')});
  });
  app.view('choice', async ({ack, view, body, client}) => {
    const values = view.state.values;
    pids.wanted = values['who']?.['pids']?.selected_options?.map(({value}) => value) ?? [];
    const reason = values['why']?.['reason']?.value ?? '';
    if (reason.length < 4) {
      await ack({response_action: 'errors', errors: {why: 'Say it in at least four letters.'}});
      return;
    }
    await ack();
    const ts = view.private_metadata;
    await client.chat.update({channel: slack.channel.id, ts, ...planCard(pids.wanted.length, body.user.id)});
  });
  app.action('kill', async ({ack, body, client, respond}) => {
    await ack();
    const {user, message} = body as BlockAction;
    if (user.id === slack.users.stranger.id) {
      await respond({text: 'You may not give this a go; ask @gpu-oncall.'});
      return;
    }
    const ts = message?.ts ?? '';
    const text = '✅ lab-1: reclaimed 378 GiB, 7 of 8 free';
    await client.chat.update({
      channel: slack.channel.id,
      ts,
      text,
      blocks: [{type: 'section', text: {type: 'mrkdwn', text: `*${text}*`}}],
    });
    host = {...host, gpus: host.gpus.map((gpu) => ({...gpu, usedMiB: gpu.index === 6 ? gpu.usedMiB : 0}))};
    host = {...host, processes: host.processes.map((one) => ({...one, alive: one.pid !== 244_199}))};
    await client.chat.postMessage({channel: slack.channel.id, thread_ts: ts, text: 'Report', blocks: reportBlocks()});
  });
}

const open = (width: number, height = 800) => rig.open(slack.url, {width, height});

describe.skipIf(!HAS_CHROMIUM)(`the page (${NEEDS})`, () => {
  beforeAll(async () => {
    rig = await startPageRig();
  });
  afterAll(async () => {
    await rig.close();
  });
  afterEach(async () => {
    await bot.stop();
    await slack.close();
  });
  const begin = async (): Promise<void> => {
    host = {
      name: 'lab-1',
      gpus: Array.from({length: 8}, (_, index) => ({
        index,
        usedMiB: index < 4 ? 96_844 : index === 6 ? 21_630 : 0,
        totalMiB: 97_871,
      })),
      processes: [
        {pid: 244_199, name: 'python3', user: 'root', alive: true, gpus: [0, 1, 2, 3]},
        {pid: 250_331, name: `train.py ${HOSTILE}`, user: 'bo', alive: true, gpus: [6]},
      ],
    };
    slack = await startLocalSlack({hostState: async () => host, hints: ['/gpu help', '/gpu reclaim lab-1']});
    bot = await startTinyBot(slack, acting, 5_000);
  };

  it.each([1280, 360])('type, choose, confirm, read the report: %i px wide', async (width) => {
    await begin();
    const page = await open(width);

    await type(page, '/gpu reclaim lab-1 match=vllm');
    const root = page.locator('#log .message').filter({hasText: 'kill -9 1 process'});
    await root.waitFor();

    await be(page, 'approver');
    await root.getByRole('button', {name: 'Choose…'}).click();
    const modal = page.getByRole('dialog', {name: 'Choose processes'});
    await modal.getByLabel('PID 250331').check();
    await modal.getByRole('button', {name: 'Use these'}).click();
    await modal.getByText('Please complete this required field.').waitFor();
    await modal.getByLabel('Reason').fill('no');
    await page.keyboard.press('Enter');
    await modal.getByText('Say it in at least four letters.').waitFor();
    expect(await modal.getByLabel('PID 250331').isChecked()).toBe(true);
    await shoot(page, `modal-${width}`);
    await modal.getByLabel('Reason').fill('production is waiting');
    await page.keyboard.press('Enter');
    await modal.waitFor({state: 'hidden'});

    const two = page.locator('#log .message').filter({hasText: 'kill -9 2 processes'});
    await two.waitFor();
    await two.getByRole('button', {name: 'Terminate, then kill -9'}).click();
    const dialog = page.getByRole('dialog', {name: 'Kill 2 processes?'});
    await shoot(page, `confirm-${width}`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({state: 'hidden'});
    expect(slack.envelopes.filter(({type: kind}) => kind === 'interactive')).toHaveLength(3);
    await shoot(page, `card-${width}`);
    await two.getByRole('button', {name: 'Terminate, then kill -9'}).click();
    await dialog.getByRole('button', {name: 'Kill', exact: true}).click();

    await page.locator('#log .message').filter({hasText: 'reclaimed 378 GiB'}).waitFor();
    await page.getByRole('button', {name: '1 reply'}).click();
    const thread = page.getByRole('complementary', {name: 'Thread'});
    await thread.getByText('Surviving targets: none').waitFor();
    await shoot(page, `thread-${width}`);
    if (width < 920) await page.getByRole('button', {name: 'Hosts and faults'}).click();
    await page.locator('[data-pid="244199"].ended').waitFor();
    expect(await page.locator('[data-gpu="0"] .amount').textContent()).toBe('free');
    await shoot(page, `hosts-${width}`);

    const sideways = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(sideways).toBeLessThanOrEqual(0);
    expect(rig.faults).toEqual([]);
  });

  it('shows a private answer to the one it is for, and hostile text as text', async () => {
    await begin();
    const page = await open(1280);
    await page.getByRole('button', {name: '/gpu reclaim lab-1'}).click();
    await page.keyboard.press('Enter');
    const card = page.locator('#log .message').filter({hasText: 'kill -9 1 process'});
    await card.waitFor();
    await be(page, 'stranger');
    await card.getByRole('button', {name: 'Terminate, then kill -9'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Kill', exact: true}).click();
    const mine = page.locator('.hidden-one').filter({hasText: 'You may not give this a go'});
    await mine.getByText('Only visible to you').waitFor();
    await be(page, 'requester');
    await mine.waitFor({state: 'detached'});

    await type(page, '/gpu help');
    await page.locator('.hidden-one').getByText('<img src=x onerror="window.hacked=1">').waitFor();
    await page.locator('#hosts').getByText(HOSTILE).waitFor();
    expect(await page.evaluate<boolean>('"hacked" in window')).toBe(false);
    expect(await page.locator('img, script[src*="evil"]').count()).toBe(0);
    await shoot(page, 'private-1280');
  });

  it('can be used by keyboard alone, and says that it is a stand-in', async () => {
    await begin();
    const page = await open(1280);
    await page.getByText('A stand-in for Slack').waitFor();
    await page.getByLabel('Message or command').focus();
    await page.keyboard.type('/gpu reclaim lab-1');
    await page.keyboard.press('Enter');
    await page.locator('#log .message').filter({hasText: 'kill -9 1 process'}).waitFor();
    await page.keyboard.press('ArrowUp');
    expect(await page.getByLabel('Message or command').inputValue()).toBe('/gpu reclaim lab-1');
    const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""');
    for (let presses = 0; (await focused()) !== 'Terminate, then kill -9'; presses += 1) {
      expect(presses).toBeLessThan(20);
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Back');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    // The card was drawn anew under the focus, which stays with it.
    await page.locator('#log .message').filter({hasText: 'reclaimed 378 GiB'}).getByText('1 reply').waitFor();
    for (let presses = 0; !(await focused()).startsWith('1 reply'); presses += 1) {
      expect(presses).toBeLessThan(20);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByText('Surviving targets: none').waitFor();
    await page.keyboard.press('Escape');
    expect(await focused()).toContain('1 reply');
  });

  it('comes back with everything after a reload, also while the bot is away', async () => {
    await begin();
    const page = await open(1280);
    await type(page, '/gpu reclaim lab-1');
    await page.locator('#log .message').filter({hasText: 'kill -9 1 process'}).waitFor();
    await bot.stop();
    // It resolves before its socket is closed.
    await expect.poll(() => slack.connected()).toBe(0);
    await type(page, '/gpu status');
    await page.locator('#log').getByText('/gpu failed with the error "dispatch_failed"').waitFor();
    await page.reload();
    await page.locator('#log .message').filter({hasText: 'kill -9 1 process'}).waitFor();
    await page.locator('#log').getByText('/gpu failed with the error "dispatch_failed"').waitFor();
    bot = await startTinyBot(slack, acting, 5_000);
  });

  it('opens at the message that a permalink means, in its thread, and shows a broadcast reply in the channel too', async () => {
    await begin();
    const {chat} = bot.app.client;
    const channel = slack.channel.id;
    const root = await chat.postMessage({channel, text: 'the root'});
    const thread_ts = root.ts ?? '';
    const reply = await chat.postMessage({channel, thread_ts, text: 'the outcome', reply_broadcast: true});
    const {permalink} = await chat.getPermalink({channel, message_ts: reply.ts ?? ''});
    await chat.postMessage({channel, text: `see <${permalink}|there>`});
    const page = await rig.open(permalink ?? '');
    const focused = page.locator(`#thread-log [data-ts="${reply.ts}"]:focus`);
    await focused.getByText('the outcome').waitFor();
    await page.locator('#log').getByText('the outcome').waitFor();
    await page.getByRole('button', {name: 'Close the thread'}).click();
    await page.getByRole('link', {name: 'there'}).click();
    await focused.waitFor();
  });

  it('follows new replies below a tall one, unless the reader has scrolled away', async () => {
    await begin();
    const {chat} = bot.app.client;
    const channel = slack.channel.id;
    const root = await chat.postMessage({channel, text: 'the root'});
    const reply = (text: string) => chat.postMessage({channel, thread_ts: root.ts ?? '', text});
    const page = await open(1280, 600);
    await reply('first');
    await page.getByRole('button', {name: '1 reply'}).click();
    await reply(`tall one\n${'line\n'.repeat(60)}`);
    const thread = page.locator('#thread-log');
    await thread.getByText('tall one').waitFor();
    const inSight = (text: string) =>
      page.evaluate<boolean>(`(() => {
        const log = document.getElementById('thread-log').getBoundingClientRect();
        const one = [...document.querySelectorAll('#thread-log .message')].find((each) => each.textContent.includes('${text}'));
        const box = one.getBoundingClientRect();
        return box.top >= log.top - 1 && box.top < log.bottom;
      })()`);
    expect(await inSight('tall one')).toBe(true);
    await reply('the report');
    await thread.getByText('the report').waitFor();
    expect(await inSight('the report')).toBe(true);
    await thread.hover();
    await page.mouse.wheel(0, -4000);
    await expect.poll(() => inSight('the root')).toBe(true);
    await reply('one more');
    await thread.getByText('one more').waitFor();
    expect(await inSight('the root')).toBe(true);
  });

  it('lets no other site act through it', async () => {
    await begin();
    const body = JSON.stringify({
      user: slack.users.requester.id,
      channel: slack.channel.id,
      text: '/gpu reclaim lab-1',
    });
    const send = (headers: Record<string, string>) => fetch(`${slack.url}type`, {method: 'POST', headers, body});
    expect((await send({'content-type': 'text/plain'})).status).toBe(403);
    const foreign = {'content-type': 'application/json', origin: 'http://evil.example'};
    expect((await send(foreign)).status).toBe(403);
    expect(slack.envelopes).toEqual([]);
    expect((await send({'content-type': 'application/json'})).status).toBe(200);
    const policy = (await fetch(slack.url)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain('unsafe');
  });
});
