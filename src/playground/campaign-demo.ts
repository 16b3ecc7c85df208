/**
 * A profiling campaign on a lab host, headless: `npm run demo -- --script campaign` through the terminal, with `--page` by
 * somebody at the page in a browser.
 */

import type {Lab} from './lab/lab.ts';
import {bystander} from './lab/species.ts';
import {launchBrowser} from './page/browser.ts';
import {type SlackDemoOptions, stageWith} from './slack-demo.ts';
import {HOST, raiseLab, say, verdict} from './stage.ts';
import {type Answer, LAB_POLICY, makeBot} from './story/bot.ts';
import {CAMPAIGN_KEPT, playCampaign} from './story/campaign.ts';
import {playCampaignOnPage} from './story/campaign-page.ts';
import type {DemoOptions} from './terminal-demo.ts';

export async function playCampaignScript(options: DemoOptions): Promise<number> {
  const lab = await raiseLab(options.seed, options.kind);
  const bot = makeBot({[HOST]: lab}, LAB_POLICY);
  const stop = async (): Promise<void> => {
    await lab.stop();
    bot.remove();
  };
  process.once('SIGINT', () => void stop().then(() => process.exit(130)));
  try {
    return verdict(await playCampaign({lab, bot, host: HOST, say, show}), CAMPAIGN_KEPT);
  } finally {
    await stop();
  }
}

export async function playCampaignPage(options: SlackDemoOptions): Promise<number> {
  const players = async (lab: Lab) => {
    const neighbour = await lab.spawn(bystander([{gpu: 7, MiB: 21_630}]));
    return {cast: neighbour, shown: [{process: neighbour, user: 'bo'}]};
  };
  return stageWith(players, options, {}, async ({lab, cast, slack, show: onPane}) => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({viewport: {width: 1440, height: 900}});
      await page.goto(slack.url);
      const broken = await playCampaignOnPage({lab, slack, page, host: HOST, neighbour: cast, say, show: onPane});
      return verdict(broken, CAMPAIGN_KEPT);
    } finally {
      await browser.close();
    }
  });
}

function show(command: string, answer: Answer): void {
  const lines = `${answer.err}${answer.out}`.trimEnd().split('\n');
  say('', `$ ${command}`, ...lines, `[exit ${answer.code}]`);
}
