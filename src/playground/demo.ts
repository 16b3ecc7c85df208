/**
 * The product without a Slack workspace and without a GPU: lab hosts with real processes behind a real SSH server, a local
 * Slack, and the production bot. Bare, it opens a page; `--script` plays the story and judges it; `--break NAME` plays one
 * attack; `--script campaign` a profiling campaign and what it leaves behind, with `--page` by a browser on the page; `--terminal` goes through the terminal instead of Slack; `--zoo` brings the host `lab-zoo` to the page as well.
 */
import {parseArgs} from 'node:util';
import {playCampaignPage, playCampaignScript} from './campaign-demo.ts';
import {playPage, playSlackBreak, playSlackScript} from './slack-demo.ts';
import {BREAKS} from './story/breaks.ts';
import {SLACK_BREAKS} from './story/slack-breaks.ts';
import {playTerminalBreak, playTerminalScript, playTogether} from './terminal-demo.ts';

const KINDS = ['root', 'user', 'flat'] as const;

const OPTIONS = {
  script: {type: 'boolean'},
  terminal: {type: 'boolean'},
  seed: {type: 'string', default: '1'},
  break: {type: 'string'},
  kind: {type: 'string'},
  zoo: {type: 'boolean'},
  page: {type: 'boolean'},
  port: {type: 'string', default: '0'},
  help: {type: 'boolean', short: 'h'},
} as const;

const USAGE = `npm run demo                           the page: a local Slack, a lab host, and the bot between them
npm run demo -- --zoo                  the same with a second host
npm run demo -- --script [campaign]    the story through Slack, judged; or a campaign, with --page in a browser
npm run demo -- --terminal [--script]  the story at the terminal
npm run demo -- --break NAME           one attack; with --terminal at the terminal
and to each --seed N, --port N, --kind ${KINDS.join('|')}`;

async function main(): Promise<number> {
  const read = readWords();
  if (typeof read === 'string') return wrong(`${read}; there are:\n${USAGE}`);
  const {values, positionals} = read;
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0)
    return wrong(`--seed ${values.seed} does not read; expected a whole number such as 7`);
  const port = Number(values.port);
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    return wrong(`--port ${values.port} does not read; expected a port such as 8080`);
  const kind = KINDS.find((one) => one === values.kind);
  if (values.kind !== undefined && kind === undefined)
    return wrong(`--kind ${values.kind} is unknown; there are ${KINDS.join(', ')}`);
  const [script, stray] = positionals;
  if (stray !== undefined || (script !== undefined && (script !== 'campaign' || values.script !== true)))
    return wrong(`"${stray ?? script}" is no script; there is --script alone, and --script campaign`);
  const options = {seed, kind, port, zoo: values.zoo === true};
  if (values.page === true && script !== 'campaign') return wrong('--page goes with --script campaign');
  if (script === 'campaign') return values.page === true ? playCampaignPage(options) : playCampaignScript(options);
  const name = values.break;
  if (name === undefined) {
    if (values.terminal === true) return values.script === true ? playTerminalScript(options) : playTogether(options);
    return values.script === true ? playSlackScript(options) : playPage(options);
  }
  const slackOnly = SLACK_BREAKS[name];
  const attack = BREAKS[name];
  if (slackOnly === undefined && attack === undefined) {
    return wrong(
      `--break ${name} is unknown; there are ${[...new Set([...Object.keys(BREAKS), ...Object.keys(SLACK_BREAKS)])].join(', ')}`,
    );
  }
  if (attack !== undefined && (values.terminal === true || (attack.only === 'terminal' && slackOnly === undefined)))
    return playTerminalBreak(options, name, attack);
  const played = slackOnly ?? attack;
  return played === undefined ? 2 : playSlackBreak(options, name, played);
}

/** What was typed, or what is wrong with it. */
function readWords() {
  try {
    return parseArgs({options: OPTIONS, allowPositionals: true});
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\. .*/s, '');
  }
}

function wrong(sentence: string): number {
  process.stderr.write(`${sentence}\n`);
  return 2;
}

process.exitCode = await main();
