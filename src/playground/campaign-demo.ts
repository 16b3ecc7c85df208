/** A profiling campaign on a lab host through the terminal, headless: `npm run demo -- --script campaign`. */
import {HOST, raiseLab, say, verdict} from './stage.ts';
import {type Answer, LAB_POLICY, makeBot} from './story/bot.ts';
import {CAMPAIGN_KEPT, playCampaign} from './story/campaign.ts';
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

function show(command: string, answer: Answer): void {
  const lines = `${answer.err}${answer.out}`.trimEnd().split('\n');
  say('', `$ ${command}`, ...lines, `[exit ${answer.code}]`);
}
