/**
 * A profiling campaign on a lab host, headless: `npm run demo -- --script campaign` through the terminal, with `--page` by
 * somebody at the page in a browser.
 */

import {userInfo} from 'node:os';
import type {Lab} from './lab/lab.ts';
import {bystander} from './lab/species.ts';
import {launchBrowser} from './page/browser.ts';
import {startLocalSlack} from './slack/local-slack.ts';
import {type SlackDemoOptions, stageWith} from './slack-demo.ts';
import {HOST, raiseLab, say, verdict} from './stage.ts';
import {type Answer, makeBot} from './story/bot.ts';
import {CAMPAIGN_KEPT, playCampaign} from './story/campaign.ts';
import {playCampaignOnPage} from './story/campaign-page.ts';
import {makeSlackBot, slackEnv, slackPolicy} from './story/slack-bot.ts';

/** The bot runs beside the terminal, as it would: it samples the campaign, and tells it in the channel. */
export async function playCampaignScript(options: SlackDemoOptions): Promise<number> {
  const lab = await raiseLab(options.seed, options.kind);
  const slack = await startLocalSlack();
  const bot = makeBot({[HOST]: lab}, slackPolicy(slack), {env: slackEnv(slack), owner: userInfo().username});
  const beside = makeSlackBot(bot, slack);
  const stop = async (): Promise<void> => {
    await beside.stop();
    await slack.close();
    await lab.stop();
    bot.remove();
  };
  process.once('SIGINT', () => void stop().then(() => process.exit(130)));
  try {
    await beside.start();
    return verdict(await playCampaign({lab, bot, host: HOST, slack, say, show}), CAMPAIGN_KEPT);
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
