/** The README's pictures: the story played on the page in a real browser. `npm run screenshots` writes docs/*.png. */
import {mkdirSync} from 'node:fs';
import {chromium, type Page} from 'playwright-core';
import {playOnPage} from './slack-demo.ts';
import {HOST, say} from './stage.ts';
import {smiOn} from './story/campaign-host.ts';

const WIDE = {width: 1280, height: 860};
const PHONE = {width: 390, height: 844};

process.exitCode = await playOnPage({seed: 1, kind: undefined, port: 0}, async ({slack, lab}) => {
  mkdirSync('docs', {recursive: true});
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
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
    const page = await browser.newPage({viewport: WIDE});
    await page.goto(slack.url);
    await typed(page, `/gpu reclaim ${HOST} match=vllm`);
    await page.locator('#log .message button', {hasText: /^(Terminate \d+, then kill|Kill) -9/}).waitFor();
    await page
      .locator('#log .message button', {hasText: /^(Terminate \d+, then kill|Kill) -9/})
      .scrollIntoViewIfNeeded();
    await page.screenshot({path: 'docs/page-plan.png'});
    const card = (await slack.messages()).at(-1);
    if (card === undefined) throw new Error('no card came');
    await slack.click(slack.users.approver, card.ts, 'go_terminate_then_kill');
    await slack.nextReply((message) => message.text.includes('GPUs free now'), {withinMs: 60_000});
    await page
      .getByText(/\d+ repl(y|ies)/)
      .first()
      .click();
    await page.getByText('GPUs free now').last().waitFor();
    await page.screenshot({path: 'docs/page-report.png'});
    await page.setViewportSize(PHONE);
    await page.screenshot({path: 'docs/page-phone.png'});

    await page.setViewportSize(WIDE);
    await typed(page, `/gpu profile start ${HOST} "nsys sweep" gpus=0-3`);
    const start = await slack.nextPost((message) => message.text.includes('nsys sweep'), {withinMs: 30_000});
    for (const change of ['-pl 300', '-c EXCLUSIVE_PROCESS'])
      await smiOn(lab, `nvidia-smi -i ${lab.gpus[0]?.uuid ?? ''} ${change}`);
    await typed(page, `/gpu profile stop ${HOST}`);
    await slack.nextReply((message) => message.thread_ts === start.ts && message.text.includes('-pl 700'), {
      withinMs: 30_000,
    });
    await page
      .locator('#log .message', {hasText: 'nsys sweep'})
      .getByText(/repl(y|ies)/)
      .click();
    await page.getByText('-pl 700').last().waitFor();
    await page.screenshot({path: 'docs/page-campaign.png'});
    say('docs/page-plan.png, docs/page-report.png, docs/page-phone.png, docs/page-campaign.png');
    return 0;
  } finally {
    await browser.close();
  }
});

async function typed(page: Page, command: string): Promise<void> {
  await page.getByLabel('Message or command').fill(command);
  await page.keyboard.press('Enter');
}
