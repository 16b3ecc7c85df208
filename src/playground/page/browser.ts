/** A headless browser for the page: Debian's Chromium, driven from outside, asking no other machine for anything. */
import {type Browser, chromium} from 'playwright-core';

/** Where Debian puts it; `CHROMIUM` names another. */
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
