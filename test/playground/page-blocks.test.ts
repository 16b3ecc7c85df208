/** Every block, field and file that a bot may send, as the page draws it; and whether it can be read and used by everybody. */
import type {BlockAction} from '@slack/bolt';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type LocalSlack, startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {everyBlock, everyField, opener, PNG} from './page-blocks.ts';
import {be, HAS_CHROMIUM, NEEDS, type PageRig, shoot, startPageRig, type} from './page-rig.ts';
import {nameless, tooFaint} from './page-sight.ts';
import {startTinyBot, type TinyBot} from './slack-bot.ts';

let rig: PageRig;
let slack: LocalSlack;
let bot: TinyBot;
const heard: Record<string, unknown>[] = [];
const submitted: unknown[] = [];

describe.skipIf(!HAS_CHROMIUM)(`what the page draws (${NEEDS})`, () => {
  beforeAll(async () => {
    rig = await startPageRig();
    const scopes = ['commands', 'chat:write', 'files:write', 'files:read'];
    slack = await startLocalSlack({hints: ['/gpu help'], scopes});
    bot = await startTinyBot(
      slack,
      (app) => {
        app.command('/gpu', async ({ack, command, client}) => {
          await ack();
          if (command.text === 'form') await client.views.open({trigger_id: command.trigger_id, view: everyField()});
          else await client.chat.postMessage({channel: command.channel_id, text: 'All', blocks: everyBlock()});
        });
        app.action('open', async ({ack, body, client}) => {
          await ack();
          const {trigger_id, message} = body as BlockAction;
          await client.views.open({trigger_id, view: everyField()});
          await client.chat.update({channel: slack.channel.id, ts: message?.ts ?? '', ...opener('edited meanwhile')});
        });
        app.action(/^(?!open$)/, async ({ack, body}) => {
          await ack();
          heard.push({...(body as BlockAction).actions[0]});
        });
        app.view('fields', async ({ack, view}) => {
          submitted.push(view.state.values);
          await ack();
        });
      },
      5_000,
    );
  });
  afterAll(async () => {
    await rig.close();
    await bot.stop();
    await slack.close();
  });

  it('draws every block, and hands on what is chosen in it', async () => {
    const page = await rig.open(slack.url, {height: 1400});
    await type(page, '/gpu all');
    const card = page.locator('#log .message').last();
    await card.getByRole('heading', {name: 'A header'}).waitFor();
    await card.getByRole('cell', {name: '96,844'}).waitFor();
    await card.getByText('Picture (https://elsewhere.example/curve.png): free after 0.4 s').waitFor();
    await card.getByText('kill -9 244199').waitFor();
    await card.getByText('under way').waitFor();
    expect(await card.getByText('does not draw').count()).toBe(0);

    await card.getByRole('button', {name: 'Go: 3 processes'}).click();
    await card.getByLabel('Grace').selectOption('30 s');
    await card.getByLabel('Who').selectOption({label: '@carla'});
    await card.getByLabel('Day').fill('2026-12-24');
    await card.getByRole('button', {name: 'More'}).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => heard.length).toBe(5);
    expect(heard).toMatchObject([
      {action_id: 'go'},
      {action_id: 'grace', selected_option: {value: '30 s'}},
      {action_id: 'who', selected_user: slack.users.approver.id},
      {action_id: 'day', selected_date: '2026-12-24'},
      {action_id: 'more', selected_option: {value: 'mute'}},
    ]);
    await shoot(page, 'blocks');
    expect(rig.faults).toEqual([]);
  });

  it('keeps the focus inside a form, names what is wrong at its field, and gives the focus back', async () => {
    const page = await rig.open(slack.url);
    await type(page, '/gpu form');
    const form = page.getByRole('dialog', {name: 'Every field'});
    await form.waitFor();
    const inside = () => page.evaluate<boolean>('document.getElementById("modal").contains(document.activeElement)');
    for (let presses = 0; presses < 24; presses += 1) {
      await page.keyboard.press('Tab');
      // Between the last and the first the browser's own frame may have it for a moment, never the page behind.
      const where = await page.evaluate<string>('document.activeElement.tagName');
      expect((await inside()) || where === 'BODY').toBe(true);
    }
    await form.getByRole('button', {name: 'Take it'}).click();
    await form.getByText('Please complete this required field.').waitFor();
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('text/a');
    const field = form.getByLabel('Required, of one line');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate<string>(`document.getElementById('text/a-error').textContent`)).toContain('required');
    expect(await nameless(page)).toMatchObject({nameless: []});

    await field.fill('tonight');
    await form.getByLabel('Look among 12').fill('gpu-11');
    await form.getByLabel('gpu-11').check();
    await form.getByLabel('kill').check();
    await form.getByLabel('Who').selectOption({label: '@dave'});
    await form.getByLabel('Where').selectOption({label: '#random'});
    await form.getByLabel('Time').fill('18:30');
    await form.getByLabel('How many').fill('3');
    await shoot(page, 'fields');
    await form.getByRole('button', {name: 'Take it'}).click();
    await form.waitFor({state: 'hidden'});
    expect(submitted).toMatchObject([
      {
        text: {a: {value: 'tonight'}},
        hosts: {a: {selected_options: [{value: 'gpu-11'}]}},
        what: {a: {selected_option: {value: 'kill'}}},
        grace: {a: {selected_option: null}},
        who: {a: {selected_user: slack.users.stranger.id}},
        where: {a: {selected_conversation: slack.channels['random']?.id}},
        day: {a: {selected_date: '2026-12-01'}},
        time: {a: {selected_time: '18:30'}},
        count: {a: {value: '3'}},
      },
    ]);
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('text');
  });

  it('gives the focus back to the same button, also where its card was edited meanwhile', async () => {
    await bot.app.client.chat.postMessage({channel: slack.channel.id, ...opener('first')});
    const page = await rig.open(slack.url);
    await page.locator('#log .message').last().getByRole('button', {name: 'Open it'}).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', {name: 'Every field'}).waitFor();
    await page.locator('#log').getByText('edited meanwhile').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', {name: 'Every field'}).waitFor({state: 'hidden'});
    const focused = page.locator('#log .message').filter({hasText: 'edited meanwhile'}).locator('button:focus');
    expect(await focused.textContent()).toBe('Open it');
  });

  it('shows a picture and the first lines of a text that were uploaded into a thread', async () => {
    const {client} = bot.app;
    const channel = slack.channel.id;
    const root = await client.chat.postMessage({channel, text: 'With files'});
    const into = {channel_id: channel, thread_ts: root.ts ?? ''};
    await client.files.uploadV2({
      ...into,
      file: PNG,
      filename: 'curve.png',
      title: 'Time to free',
      alt_text: 'Free after 0.4 s',
    });
    const lines = Array.from({length: 40}, (_, index) => `line ${index}`).join('\n');
    await client.files.uploadV2({...into, content: `${lines}\n<script>window.hacked=1</script>`, filename: 'full.txt'});
    const page = await rig.open(slack.url);
    const card = page.locator('#log .message').filter({hasText: 'With files'});
    await card.getByRole('button', {name: '2 replies'}).click();
    const thread = page.getByRole('complementary', {name: 'Thread'});
    const picture = thread.getByRole('img');
    await picture.waitFor();
    await expect.poll(() => page.evaluate<number>('document.querySelector("#thread img").naturalWidth')).toBe(1);
    await thread.getByText('line 11').waitFor();
    expect(await thread.getByText('line 12').count()).toBe(0);
    await thread.getByRole('button', {name: 'Show all 41 lines'}).click();
    await thread.getByText('<script>window.hacked=1</script>').waitFor();
    expect(await page.evaluate<boolean>('"hacked" in window')).toBe(false);
    const href = (await thread.getByRole('link', {name: 'full.txt'}).getAttribute('href')) ?? '';
    const answer = await fetch(href);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('content-type')).toContain('text/plain');
    await shoot(page, 'files');
    expect(rig.faults).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'can be read in %s colours: every text on the page has WCAG AA contrast',
    async (colorScheme) => {
      const page = await rig.open(slack.url, {width: 1500, height: 900});
      await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
      const root = await bot.app.client.chat.postMessage({channel: slack.channel.id, text: 'Seen <@U0APPROVER>'});
      await bot.app.client.chat.postMessage({channel: slack.channel.id, thread_ts: root.ts ?? '', text: 'one'});
      await type(page, '/nonsense');
      await page.locator('.hidden-one').first().waitFor();
      await page.locator('#log').getByRole('button', {name: /repl/}).first().click();
      expect(await tooFaint(page)).toEqual([]);
      await page.getByRole('tab', {name: 'Faults'}).click();
      await page.getByRole('button', {name: 'Lose the next answer'}).click();
      await page.locator('#faults').getByText('Waiting for the next one.').waitFor();
      expect(await tooFaint(page)).toEqual([]);
      await page.getByRole('button', {name: 'Take all of it back'}).click();
      await type(page, '/gpu form');
      const form = page.getByRole('dialog', {name: 'Every field'});
      await form.getByRole('button', {name: 'Take it'}).click();
      await form.getByText('Please complete this required field.').waitFor();
      expect(await tooFaint(page)).toEqual([]);
      await shoot(page, `contrast-${colorScheme}`);
      await page.keyboard.press('Escape');
      await form.waitFor({state: 'hidden'});
      await be(page, 'requester');
    },
  );

  it('gives a name to everything that can be used, for who hears the page', async () => {
    const page = await rig.open(slack.url, {width: 1500, height: 900});
    await page.getByRole('tab', {name: 'Faults'}).click();
    const {count, nameless: without} = await nameless(page);
    expect(without).toEqual([]);
    expect(count).toBeGreaterThan(25);
    for (const role of ['navigation', 'main', 'complementary', 'log'] as const)
      expect(await page.getByRole(role).count(), role).toBeGreaterThan(0);
    await type(page, '/gpu all');
    await expect.poll(() => page.locator('#voice').textContent()).toBe('gpu-reclaim: All');
  });
});
