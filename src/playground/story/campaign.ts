/**
 * A campaign from its start to the moment when nothing of it is left: a workload runs and ends, a profiler stays behind,
 * settings are changed in the stand-in. Every command that the report prints is then run, as it is printed.
 */
import {setTimeout as wait} from 'node:timers/promises';
import type {Lab} from '../lab/lab.ts';
import {bystander} from '../lab/species.ts';
import type {LocalSlack} from '../slack/local-slack.ts';
import type {Answer, Bot} from './bot.ts';
import {CHANGES, commandsIn, measureOn, smiOn} from './campaign-host.ts';
import {confirmIn} from './play.ts';

export const CAMPAIGN_KEPT =
  'the report named every leftover and every command that sets things back; each was run as printed, and nothing differs any more';

export interface CampaignStage {
  readonly lab: Lab;
  readonly bot: Bot;
  readonly host: string;
  /** The bot runs beside: it samples, and tells the campaign in Slack. null: the terminal alone. */
  readonly slack: LocalSlack | null;
  readonly say: (...lines: readonly string[]) => void;
  readonly show: (command: string, answer: Answer) => void;
}

/** The least that a campaign takes. */
const SAMPLE_S = 10;

/** Resolves once the store holds a sample: asked for from the moment on when one is due. */
async function sampled(bot: Bot, id: string, startedAtMs: number): Promise<void> {
  await wait(Math.max(0, startedAtMs + SAMPLE_S * 1_000 - Date.now()));
  for (let tries = 0; tries < 20; tries += 1) {
    const {campaigns} = (await bot.json('profile', 'list')) as {
      campaigns: readonly {readonly id: string; readonly samples: readonly {readonly count: number}[]}[];
    };
    if (campaigns.some((one) => one.id === id && one.samples.some(({count}) => count > 0))) return;
  }
}

/** Without Slack's marks for times. */
function plainly(text: string): readonly string[] {
  return text
    .replaceAll(/<!date\^\d+\^[^|>]*\|([^>]*)>/g, '$1')
    .split('\n')
    .map((line) => `  ${line}`);
}

/** Each broken promise as a sentence. */
export async function playCampaign({lab, bot, host, slack, say, show}: CampaignStage): Promise<readonly string[]> {
  const broken: string[] = [];
  const promise = (kept: boolean, otherwise: string): void => {
    if (!kept) broken.push(otherwise);
  };
  const run = async (...words: readonly string[]): Promise<Answer> => {
    const answer = await bot.run(...words);
    show(`gpu-reclaim ${words.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ')}`, answer);
    return answer;
  };
  const uuid = (gpu: number): string => lab.gpus[gpu]?.uuid ?? '';

  const neighbour = await lab.spawn(bystander([{gpu: 7, MiB: 21_630}]));
  const folder = `${lab.folder}/run/traces`;
  const sampling = slack === null ? [] : [`sample=${SAMPLE_S}s`];
  const started = await run(
    'profile',
    'start',
    host,
    'nsys sweep',
    'gpus=0-6',
    `out=${folder}`,
    ...sampling,
    'until=2h',
  );
  const id = /\b(c[0-9a-f]{5})\b/.exec(started.out)?.[1] ?? '';
  const startedAtMs = Date.now();
  promise(started.code === 0 && id !== '', 'the campaign did not start');
  const fleet = await run('status');
  promise(
    fleet.code === 5 && `${fleet.out}${fleet.err}`.includes('was not looked at'),
    'an unasked look was made in the measurement',
  );

  const card = slack === null ? null : await slack.nextPost((one) => one.text.includes(id));
  const {
    workload: job,
    profiler,
    shared,
  } = await measureOn(lab, say, promise, async () => {
    if (slack === null) return;
    say(`The bot takes its first sample ${SAMPLE_S} s after the start; the workload still runs.`);
    await sampled(bot, id, startedAtMs);
  });

  const report = await run('profile', 'stop', id);
  promise(report.code === 0, `the report ended with ${report.code}`);
  for (const {gpu, back} of CHANGES) {
    const which = back === '-rgc' ? '0,1,2,3,4,5,6' : uuid(gpu);
    promise(report.out.includes(`nvidia-smi -i ${which} ${back}\n`), `no command sets back GPU ${gpu}: ${back}`);
  }
  promise(report.out.includes(`PID ${profiler.pid} `), 'the profiler is not named');
  promise(report.out.includes('profiler'), 'the profiler is not called one');
  promise(report.out.includes('sweep.nsys-rep'), 'the report file is not named');
  promise(!report.out.includes(`PID ${job.pid} `), 'the workload is named, and it has ended');
  promise(!report.out.includes(`PID ${neighbour.pid} `), 'a neighbour outside the campaign is named');
  if (shared !== null) promise(report.out.includes(`/dev/shm/${shared}`), 'the shared memory is not named');

  if (card !== null && slack !== null) {
    promise(
      /highest of \d+ samples?, one every 10 s, [\d.]+ m?s each on the host/.test(report.out),
      'the samples are not told',
    );
    for (const gpu of [0, 1])
      promise(new RegExp(`^ +${gpu} +\\S+ +40,960 `, 'm').test(report.out), `the peak of GPU ${gpu} is not told`);
    const edited = await slack.nextUpdate((one) => one.ts === card.ts && one.text.includes('Ended'));
    say('', 'Its card in Slack, posted and edited by the bot:', ...plainly(edited.text));
  }

  say('', 'Each command that it printed, as it was printed:');
  for (const command of commandsIn(report.out)) {
    const done = await smiOn(lab, command);
    say(`  ${command}: ${done.stdout.split('\n')[0] ?? ''} [exit ${done.code}]`);
    promise(done.code === 0, `${command} ended with ${done.code}`);
  }
  for (const printed of report.out.matchAll(/gpu-reclaim (reclaim \S+ pid=\d+)/g)) {
    const plan = await run(...(printed[1] ?? '').split(' '));
    const confirm = confirmIn(plan.out);
    promise(confirm !== null, `"${printed[0]}" made no plan`);
    if (confirm !== null) await run('reclaim', host, '--confirm', confirm);
  }

  const again = await run('profile', 'report', id);
  promise(/time to free: GPU 2: .*run [0-9a-f]{6}/.test(again.out), 'the time to free is not told');
  promise(again.code === 0, `the second report ended with ${again.code}`);
  const {hosts} = (await bot.json('profile', 'report', id)) as {
    hosts: readonly {readonly differs?: boolean; readonly leftovers?: readonly unknown[]}[];
  };
  promise(hosts.length === 1 && hosts[0]?.differs === false, 'the next report still shows a difference');
  promise(await lab.alive(neighbour.pid), 'the neighbour is dead');
  return broken;
}
