/** The page before the real bot and a real lab host: killed in the middle from the fault panel, started again, filled again. */
import {expect, it} from 'vitest';
import {playOnPage} from '../../src/playground/slack-demo.ts';
import {HOST} from '../../src/playground/stage.ts';
import {asWords, received} from '../../src/playground/story/verdict.ts';
import {be, HAS_CHROMIUM, NEEDS, startPageRig, type} from './page-rig.ts';

it.skipIf(!HAS_CHROMIUM)(
  `killed in the middle from the page, the bot sends nothing more by itself, and asks (${NEEDS})`,
  {timeout: 120_000},
  async () => {
    const code = await playOnPage({seed: 3, kind: undefined, port: 0}, async ({slack, lab, bot}) => {
      const rig = await startPageRig();
      try {
        const page = await rig.open(slack.url);
        page.setDefaultTimeout(40_000);
        await type(page, `/gpu reclaim ${HOST} match=vllm`);
        const go = page.locator('#log button.danger');
        await go.waitFor();
        await page.getByRole('tab', {name: 'Faults'}).click();
        await page.getByRole('button', {name: 'Kill the bot in the middle'}).click();
        await page.locator('#faults').getByText('Waiting for the next one.').waitFor();
        await be(page, 'approver');
        await go.click();
        await page.locator('#confirm-yes').click();

        const banner = page.getByRole('alert').filter({hasText: 'is not running'});
        await banner.waitFor();
        const before = asWords(await received(lab));
        expect(before.length).toBeGreaterThan(0);
        await banner.getByRole('button', {name: 'Start the bot'}).click();
        await page.locator('#log').getByText('interrupted').first().waitFor();
        const after = asWords(await received(lab));
        expect(after.filter((word) => word.startsWith('KILL') && !before.includes(word))).toEqual([]);
        // The next start may have asked anew by now, with a run of its own.
        const {runs} = (await bot.json('runs')) as {
          readonly runs: readonly {readonly outcome?: {readonly word: string}}[];
        };
        expect(runs.map((run) => run.outcome?.word)).toContain('interrupted');

        await page.getByRole('button', {name: 'Fill the GPUs again'}).click();
        await page.locator('#faults').getByText('They are full still: reclaim first.').waitFor();
        await page.getByRole('tab', {name: 'Hosts'}).click();
        await page.locator('[data-pid].ended').first().waitFor();
        expect(rig.faults).toEqual([]);
      } finally {
        await rig.close();
      }
      return 0;
    });
    expect(code).toBe(0);
  },
);
