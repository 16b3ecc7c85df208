/** One browser and one page for all tests of a file: a new page costs more than most tests do. */
import {existsSync} from 'node:fs';
import type {Browser, Page} from 'playwright-core';
import {CHROMIUM, launchBrowser} from '../../src/playground/page/browser.ts';

export const HAS_CHROMIUM = existsSync(CHROMIUM);
export const NEEDS = 'needs chromium: apt-get install chromium';

export interface PageRig {
  /** Opens this address, at this width. Whatever the page throws is kept in `faults`. */
  open(url: string, size?: {readonly width?: number; readonly height?: number}): Promise<Page>;
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export async function startPageRig(): Promise<PageRig> {
  const browser: Browser = await launchBrowser();
  const page = await browser.newPage({viewport: {width: 1280, height: 800}});
  page.setDefaultTimeout(10_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return {
    open: async (url, {width = 1280, height = 800} = {}) => {
      faults.length = 0;
      await page.emulateMedia({colorScheme: 'light', reducedMotion: 'no-preference'});
      await page.setViewportSize({width, height});
      await page.goto(url);
      await page.locator('#log .message, #log .empty ol, #home .block').first().waitFor();
      return page;
    },
    faults,
    close: () => browser.close(),
  };
}

export async function type(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message or command').fill(text);
  await page.keyboard.press('Enter');
}

export async function be(page: Page, role: string): Promise<void> {
  await page.locator('#people label', {hasText: role}).click();
}

/** Pictures for the eye, only when a folder for them is named. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['PAGE_PICTURES'];
  if (folder !== undefined) await page.screenshot({path: `${folder}/${name}.png`});
}
