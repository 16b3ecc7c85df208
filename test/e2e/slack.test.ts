/** The whole product through Slack: production bot, local Slack, real SSH and processes, and a person at the page. */
import {existsSync} from 'node:fs';
import {type Browser, chromium, type Page} from 'playwright-core';
import {describe, expect, it} from 'vitest';
import {playOnPage, type Stagehands} from '../../src/playground/slack-demo.ts';
import {HOST} from '../../src/playground/stage.ts';
import {slackDoor} from '../../src/playground/story/door.ts';
import {judgeStory, lastRun} from '../../src/playground/story/play.ts';
import {SLACK_BREAKS} from '../../src/playground/story/slack-breaks.ts';
import {asWords, received} from '../../src/playground/story/verdict.ts';

const CHROMIUM = '/usr/bin/chromium';
const OPTIONS = {seed: 4, kind: undefined, port: 0};

/** Plays on a stage of its own; whatever `play` throws is thrown here, with the stage already gone. */
async function onStage(play: (hands: Stagehands) => Promise<void>): Promise<void> {
  await playOnPage(OPTIONS, async (hands) => {
    await play(hands);
    return 0;
  });
}

async function withBrowser(slack: Stagehands['slack'], act: (page: Page) => Promise<void>): Promise<void> {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  try {
    const page = await browser.newPage({viewport: {width: 1280, height: 900}});
    await page.goto(slack.url);
    await act(page);
  } finally {
    await browser.close();
  }
}

describe('the product in Slack', () => {
  it.skipIf(!existsSync(CHROMIUM))(
    'type, stranger refused, choose, click, report, on the page (needs chromium: apt-get install chromium)',
    {timeout: 120_000},
    () =>
      onStage(async ({slack, lab, bot, cast}) => {
        const before = await lab.ledger();
        await withBrowser(slack, async (page) => {
          const be = (name: string) => page.locator('#people').getByText(name).click();
          await page.getByLabel('Message or command').fill(`/gpu reclaim ${HOST} match=vllm`);
          await page.keyboard.press('Enter');
          const card = page.locator('#log .message').filter({hasText: 'Waiting for a go'});
          await card.locator('button', {hasText: 'Choose…'}).waitFor();

          await be(slack.users.stranger.name);
          await card.locator('button', {hasText: /^(Terminate \d+, then kill|Kill) -9/}).click();
          await page.locator('#confirm-yes').click();
          await page.locator('#log').getByText('is no approver').waitFor();
          expect(await received(lab)).toEqual([]);

          await be(slack.users.approver.name);
          await card.locator('button', {hasText: 'Choose…'}).click();
          const modal = page.getByRole('dialog').filter({hasText: 'Choose'});
          // A look of its own, over SSH: the card's is some seconds old.
          await modal.getByText('nothing has changed').waitFor();
          await modal.getByLabel(new RegExp(`PID ${cast.ghost.pid}\\b`)).uncheck();
          await modal.locator('#modal-submit').click();
          await modal.waitFor({state: 'hidden'});
          await page.locator('#log .message').filter({hasText: 'kill -9 3 processes'}).waitFor();

          await page.locator('#log .message button', {hasText: /^(Terminate \d+, then kill|Kill) -9/}).click();
          await page.locator('#confirm-yes').click();
          await page.getByText('GPUs free now').last().waitFor({timeout: 60_000});
        });
        const run = await lastRun(bot);
        expect(run.outcome?.word).toBe('reclaimed');
        expect(run.outcome?.gpus.map((gpu) => gpu.beforeMiB)).toEqual(before);
        expect(run.outcome?.gpus.map((gpu) => gpu.afterMiB)).toEqual(await lab.ledger());
        // The one that was unticked lives, and nothing ever reached it.
        expect(await lab.alive(cast.ghost.pid)).toBe(true);
        expect((await received(lab)).filter((signal) => signal.pid === cast.ghost.pid)).toEqual([]);
        for (const one of cast.innocent) expect(await lab.alive(one.pid)).toBe(true);
      }),
  );

  it('asked by one and gone by another, with the figures of the kernel', {timeout: 90_000}, () =>
    onStage(async ({slack, lab, bot, cast}) => {
      const before = await lab.ledger();
      const door = slackDoor(slack, HOST, () => undefined);
      await door.go(await door.plan()).done;
      const report = await slack.nextReply((message) => message.text.includes('GPUs free now'));
      for (const used of before) expect(report.text).toContain(used.toString().replace(/\B(?=(\d{3})+$)/g, ','));
      const pictures = await slack.nextReply((message) => (message.files ?? []).length > 0);
      expect(pictures).toMatchObject({
        thread_ts: report.thread_ts,
        files: [{title: `${HOST}: memory before and after`}, {title: `${HOST}: time to free`}],
      });
      expect((await judgeStory(lab, bot, cast, before)).broken).toEqual([]);
    }),
  );

  it(
    'killed between the click and the outcome: looks, reports, asks, and sends nothing by itself',
    {timeout: 120_000},
    () =>
      onStage(async ({slack, lab, bot, cast, slackBot}) => {
        const stage = {
          lab,
          bot,
          cast,
          host: HOST,
          door: slackDoor(slack, HOST, () => undefined),
          show: () => undefined,
          say: () => undefined,
          slack,
          slackBot,
        };
        expect(await SLACK_BREAKS['restart']?.play(stage)).toEqual([]);
        const sent = asWords(await received(lab));
        const again = await slack.nextUpdate((message) => message.text.includes('Waiting for a go'), {
          withinMs: 40_000,
        });
        expect(asWords(await received(lab))).toEqual(sent);
        await slack.click(slack.users.approver, again.ts, 'go_terminate_then_kill');
        await slack.nextReply((message) => message.text.includes('GPUs free now') && message.thread_ts === again.ts, {
          withinMs: 60_000,
        });
        expect((await lastRun(bot)).outcome?.word).toBe('reclaimed');
      }),
  );
});
