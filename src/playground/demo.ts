/**
 * The product without Slack and without a GPU: lab hosts with real processes behind a real SSH server, and the production
 * program. `--script` plays it to the end and judges it; `--break NAME` plays one attack; without either, you give the go.
 */
import {parseArgs} from 'node:util';
import {type Lab, startLab} from './lab/lab.ts';
import {type Answer, type Bot, makeBot} from './story/bot.ts';
import {BREAKS} from './story/breaks.ts';
import {castFor} from './story/cast.ts';
import {confirmIn, judgeStory, unaccounted} from './story/play.ts';

const HOST = 'lab-1';

async function main(): Promise<number> {
  const {values} = parseArgs({
    options: {
      script: {type: 'boolean'},
      seed: {type: 'string', default: '1'},
      break: {type: 'string'},
      kind: {type: 'string'},
    },
    allowPositionals: false,
  });
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0)
    return wrong(`--seed ${values.seed} does not read; expected a whole number such as 7`);
  const attack = values.break === undefined ? null : (BREAKS[values.break] ?? undefined);
  if (attack === undefined)
    return wrong(`--break ${values.break} is unknown; there are ${Object.keys(BREAKS).join(', ')}`);
  const kind = values.kind;
  if (kind !== undefined && kind !== 'root' && kind !== 'user' && kind !== 'flat')
    return wrong(`--kind ${kind} is unknown; there are root, user, flat`);

  say(`Starting a lab host with 8 stand-in GPUs (seed ${seed}); everything else on it is real.`);
  const lab = await startLab({name: HOST, gpus: 8, ...(kind === undefined ? {} : {kind})});
  const bot = makeBot({[HOST]: lab});
  const stop = async (): Promise<void> => {
    await lab.stop();
    bot.remove();
  };
  process.once('SIGINT', () => void stop().then(() => process.exit(130)));
  try {
    say(`It is a ${lab.why}.`);
    if (attack !== null) return await playBreak(lab, bot, seed, values.break ?? '');
    return values.script === true ? await playScript(lab, bot, seed) : await playTogether(lab, bot, seed);
  } finally {
    await stop();
  }
}

async function playScript(lab: Lab, bot: Bot, seed: number): Promise<number> {
  const cast = await castFor(lab, seed);
  const before = await lab.ledger();
  show('gpu-reclaim status', await bot.run('status'));
  const plan = await bot.run('reclaim', HOST, 'match=vllm');
  show(`gpu-reclaim reclaim ${HOST} match=vllm`, plan);
  const confirm = confirmIn(plan.out);
  if (confirm === null) return wrong('the plan found nobody to signal');
  show(`gpu-reclaim reclaim ${HOST} --confirm ${confirm}`, await bot.run('reclaim', HOST, '--confirm', confirm));
  const {broken} = await judgeStory(lab, bot, cast, before);
  return verdict(broken, 'reclaimed; innocents alive; printed MiB = kernel; every signal accounted for');
}

async function playBreak(lab: Lab, bot: Bot, seed: number, name: string): Promise<number> {
  const attack = BREAKS[name];
  if (attack === undefined) return 2;
  if (attack.needs !== undefined && !lab.features.has(attack.needs)) {
    say(`Skipped: "${name}" needs a lab with ${attack.needs}, and this one has none; run the demo as root.`);
    return 0;
  }
  const cast = await castFor(lab, seed);
  say(`Attack: ${attack.what}.`);
  const broken = await attack.play({lab, bot, cast, host: HOST, show: (answer) => show('gpu-reclaim', answer), say});
  const harm = (await unaccounted(lab, bot, cast)).filter((line) => line.startsWith('an innocent'));
  return verdict([...broken, ...harm], 'no forbidden signal');
}

/** The same with your own hands: the program asks you for the go. */
async function playTogether(lab: Lab, bot: Bot, seed: number): Promise<number> {
  const cast = await castFor(lab, seed);
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
    const plan = await bot.run('reclaim', HOST, 'match=vllm');
    show(`gpu-reclaim reclaim ${HOST} match=vllm`, plan);
    const confirm = confirmIn(plan.out);
    if (confirm !== null)
      show(`gpu-reclaim reclaim ${HOST} --confirm ${confirm}`, await bot.run('reclaim', HOST, '--confirm', confirm));
  } else {
    say('', `$ gpu-reclaim reclaim ${HOST} match=vllm`);
    await bot.inherit('reclaim', HOST, 'match=vllm');
  }
  say('', '$ gpu-reclaim runs');
  await bot.inherit('runs');
  const {broken} = await judgeStory(lab, bot, cast, before);
  return verdict(broken, 'reclaimed; innocents alive; printed MiB = kernel; every signal accounted for');
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

function verdict(broken: readonly string[], kept: string): number {
  if (broken.length === 0) {
    say('', `Kept: ${kept}.`);
    return 0;
  }
  say('', 'BROKEN:', ...broken.map((line) => `  ${line}`));
  return 1;
}

function wrong(sentence: string): number {
  process.stderr.write(`${sentence}\n`);
  return 2;
}

function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

process.exitCode = await main();
