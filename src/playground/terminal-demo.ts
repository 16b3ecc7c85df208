/** The story and the attacks through the terminal: `npm run demo -- --terminal`. */
import type {Lab} from './lab/lab.ts';
import type {LabKind} from './lab/start.ts';
import {HOST, isSkipped, raiseLab, STORY_KEPT, say, verdict} from './stage.ts';
import {type Answer, type Bot, LAB_POLICY, makeBot} from './story/bot.ts';
import type {Break} from './story/breaks.ts';
import {castFor} from './story/cast.ts';
import {terminalDoor} from './story/door.ts';
import {judgeStory, unaccounted} from './story/play.ts';

export interface DemoOptions {
  readonly seed: number;
  readonly kind: LabKind | undefined;
}

/** Runs `play` on a lab of its own and leaves nothing behind, also on Ctrl-C. */
async function onStage(
  options: DemoOptions,
  policy: Readonly<Record<string, unknown>>,
  play: (lab: Lab, bot: Bot) => Promise<number>,
): Promise<number> {
  const lab = await raiseLab(options.seed, options.kind);
  const bot = makeBot({[HOST]: lab}, {...LAB_POLICY, ...policy});
  const stop = async (): Promise<void> => {
    await lab.stop();
    bot.remove();
  };
  process.once('SIGINT', () => void stop().then(() => process.exit(130)));
  try {
    return await play(lab, bot);
  } finally {
    await stop();
  }
}

export function playTerminalScript(options: DemoOptions): Promise<number> {
  return onStage(options, {}, async (lab, bot) => {
    const cast = await castFor(lab, options.seed);
    const before = await lab.ledger();
    show('gpu-reclaim status', await bot.run('status'));
    const door = terminalDoor(bot, HOST, show);
    await door.go(await door.plan()).done;
    return verdict((await judgeStory(lab, bot, cast, before)).broken, STORY_KEPT);
  });
}

export function playTerminalBreak(options: DemoOptions, name: string, attack: Break): Promise<number> {
  return onStage(options, attack.policy ?? {}, async (lab, bot) => {
    if (isSkipped(name, attack.needs, lab)) return 0;
    const cast = await castFor(lab, options.seed);
    say(`Attack: ${attack.what}.`);
    const broken = await attack.play({
      lab,
      bot,
      cast,
      host: HOST,
      door: terminalDoor(bot, HOST, show),
      show: (answer) => show('gpu-reclaim', answer),
      say,
    });
    const harm = (await unaccounted(lab, bot, cast)).filter((line) => line.startsWith('an innocent'));
    return verdict([...broken, ...harm], 'no forbidden signal');
  });
}

/** The same with your own hands: the program asks you for the go. */
export function playTogether(options: DemoOptions): Promise<number> {
  return onStage(options, {}, async (lab, bot) => {
    const cast = await castFor(lab, options.seed);
    const before = await lab.ledger();
    say(
      '',
      'A vLLM-like server with two workers (one ignores SIGTERM), and a ghost: a child of dead workers that keeps GPU 0-3.',
    );
    say('Beside them innocents: a detached trainer, bo’s job, the persistence daemon.', '');
    say('$ gpu-reclaim status');
    await bot.inherit('status');
    if (process.stdin.isTTY !== true) {
      say('', 'No terminal to type in, so the script gives the go.');
      const door = terminalDoor(bot, HOST, show);
      await door.go(await door.plan()).done;
    } else {
      say('', `$ gpu-reclaim reclaim ${HOST} match=vllm`);
      await bot.inherit('reclaim', HOST, 'match=vllm');
    }
    say('', '$ gpu-reclaim runs');
    await bot.inherit('runs');
    return verdict((await judgeStory(lab, bot, cast, before)).broken, STORY_KEPT);
  });
}

function show(command: string, answer: Answer): void {
  say(
    '',
    `$ ${command}`,
    ...answer.err
      .trimEnd()
      .split('\n')
      .filter((line) => line !== ''),
    answer.out.trimEnd(),
    `[exit ${answer.code}]`,
  );
}
