/** The README's pictures: the story played on the page in a real browser. `npm run screenshots` writes docs/page-*.png. */
import {mkdirSync, writeFileSync} from 'node:fs';
import type {Locator, Page} from 'playwright-core';
import {launchBrowser} from './page/browser.ts';
import {smallPng} from './page/small-png.ts';
import {playOnPage, type Stagehands} from './slack-demo.ts';
import {HOST, say} from './stage.ts';
import {measureOn} from './story/campaign-host.ts';

const WIDE = {width: 1280, height: 800};
const TALL = {width: 1280, height: 920};
const WIDER = {width: 1440, height: 860};
const PHONE = {width: 390, height: 844};
/** A picture for the README is no download. */
const MOST_BYTES = 200_000;
const PATIENCE = {timeout: 60_000};

process.exitCode = await playOnPage({seed: 1, kind: undefined, port: 0}, async (hands) => {
  mkdirSync('docs', {recursive: true});
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({viewport: TALL});
    page.setDefaultTimeout(PATIENCE.timeout);
    await page.goto(hands.slack.url);
    await reclaim(page, hands);
    await campaign(page, hands);
    await home(page);
    return 0;
  } finally {
    await browser.close();
  }
});

async function reclaim(page: Page, {slack}: Stagehands): Promise<void> {
  await typed(page, `/gpu reclaim ${HOST} match=vllm reason="production at 03:00"`);
  const card = page.locator('#log .message').filter({hasText: 'Waiting for a go'});
  const go = card.locator('button.danger');
  await go.waitFor();
  await top(card);
  await shot(page, 'plan');
  await page.setViewportSize(WIDE);
  await become(page, slack.users.approver.name);
  await card.getByRole('button', {name: /choose/i}).click();
  await page.locator('#modal input[type="checkbox"]').first().waitFor();
  await shot(page, 'choose');
  await page.keyboard.press('Escape');
  await page.locator('#modal').waitFor({state: 'hidden'});
  await go.click();
  await page.locator('#confirm-yes').click();
  const over = page.locator('#log .message').filter({hasText: 'GPUs free now'}).first();
  await over.waitFor();
  await slack.nextReply((message) => message.text.includes('GPUs free now'), {withinMs: PATIENCE.timeout});
  await page.setViewportSize(WIDER);
  await over.locator('.replies').click();
  const report = page.locator('#thread-log .message').filter({hasText: 'GPUs free now'}).last();
  await report.waitFor();
  await top(report);
  await shot(page, 'report');
  await page.setViewportSize(PHONE);
  await page.getByRole('button', {name: 'Close the thread'}).click();
  await top(over);
  await shot(page, 'phone');
}

async function campaign(page: Page, {lab, slack, show}: Stagehands): Promise<void> {
  await page.setViewportSize(WIDER);
  await become(page, slack.users.requester.name);
  await typed(page, `/gpu profile start ${HOST} "nsys sweep" gpus=0-5 out=${lab.folder}/run/traces until=2h`);
  const card = page.locator('#log .message').filter({hasText: 'nsys sweep'}).first();
  await card.waitFor();
  const left = await measureOn(
    lab,
    () => undefined,
    () => undefined,
  );
  show([left.profiler, left.workload], 'root');
  await typed(page, `/gpu profile stop ${HOST}`);
  await card.locator('.replies strong').waitFor();
  await card.locator('.replies').click();
  const report = page.locator('#thread-log .message').filter({hasText: '-pl 700'}).last();
  await report.waitFor();
  await top(report);
  await shot(page, 'campaign');
  await page.emulateMedia({colorScheme: 'dark'});
  await shot(page, 'dark');
  await page.emulateMedia({colorScheme: 'light'});
  await page.getByRole('button', {name: 'Close the thread'}).click();
}

async function home(page: Page): Promise<void> {
  await page.setViewportSize(WIDE);
  await page.getByRole('tab', {name: 'Faults'}).click();
  await page.getByRole('button', {name: 'Kill the bot now'}).click();
  await page.locator('#down button').waitFor();
  await typed(page, '/gpu status');
  await page.locator('#log').getByText('dispatch_failed').last().waitFor();
  await shot(page, 'faults');
  await page.locator('#down button').click();
  await page.locator('#down').waitFor({state: 'hidden'});
  await page.getByRole('tab', {name: 'Hosts'}).click();
  await page.locator('#app-list button').click();
  await page.locator('#home .block').first().waitFor();
  await shot(page, 'home');
}

async function typed(page: Page, command: string): Promise<void> {
  await page.getByLabel('Message or command').fill(command);
  await page.keyboard.press('Enter');
}

function become(page: Page, name: string): Promise<void> {
  return page.locator('#people').getByText(name).click();
}

/** The message's beginning at the top of its list. */
async function top(message: Locator): Promise<void> {
  await message.evaluate((node) => {
    (node as unknown as {scrollIntoView(how: {block: 'start'}): void}).scrollIntoView({block: 'start'});
  });
}

async function shot(page: Page, name: string): Promise<void> {
  const path = `docs/page-${name}.png`;
  const small = smallPng(await page.screenshot({animations: 'disabled'}));
  if (small.length > MOST_BYTES) throw new Error(`${path} would have ${small.length} bytes`);
  writeFileSync(path, small);
  say(`${path}, ${Math.round(small.length / 1024)} KiB`);
}
