/**
 * A campaign from its start to the moment when nothing of it is left: a workload runs and ends, a profiler stays behind,
 * settings are changed in the stand-in. Every command that the report prints is then run, as it is printed.
 */
import type {Lab} from '../lab/lab.ts';
import {type CommandResult, runInLab} from '../lab/run-in-lab.ts';
import {bystander, leftover, workload, writer} from '../lab/species.ts';
import type {Answer, Bot} from './bot.ts';
import {confirmIn} from './play.ts';

export const CAMPAIGN_KEPT =
  'the report named every leftover and every command that sets things back; each was run as printed, and nothing differs any more';

export interface CampaignStage {
  readonly lab: Lab;
  readonly bot: Bot;
  readonly host: string;
  readonly say: (...lines: readonly string[]) => void;
  readonly show: (command: string, answer: Answer) => void;
}

/** What is changed in the stand-in, on which GPU, and what must be offered for it. */
const CHANGES = [
  {gpu: 0, change: '-pl 300', back: '-pl 700'},
  {gpu: 1, change: '-ac 3201,1200', back: '-rac'},
  {gpu: 2, change: '-c EXCLUSIVE_PROCESS', back: '-c DEFAULT'},
  {gpu: 3, change: '-pm 0', back: '-pm 1'},
  // No field tells of it: it must be offered all the same.
  {gpu: 4, change: '-lgc 900,900', back: '-rgc'},
] as const;

/** A command for the stand-in, as root on the lab host. */
export function smiOn(lab: Lab, command: string): Promise<CommandResult> {
  return runInLab(lab, `PATH=${lab.hostsEntry().extraPath[0]}:$PATH ${command}`);
}

/** Each broken promise as a sentence. */
export async function playCampaign({lab, bot, host, say, show}: CampaignStage): Promise<readonly string[]> {
  const broken: string[] = [];
  const promise = (kept: boolean, otherwise: string): void => {
    if (!kept) broken.push(otherwise);
  };
  const run = async (...words: readonly string[]): Promise<Answer> => {
    const answer = await bot.run(...words);
    show(`gpu-reclaim ${words.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ')}`, answer);
    return answer;
  };
  const smi = (command: string): Promise<CommandResult> => smiOn(lab, command);
  const uuid = (gpu: number): string => lab.gpus[gpu]?.uuid ?? '';

  const neighbour = await lab.spawn(bystander([{gpu: 7, MiB: 21_630}]));
  const folder = `${lab.folder}/run/traces`;
  const started = await run('profile', 'start', host, 'nsys sweep', 'gpus=0-6', `out=${folder}`, 'until=2h');
  const id = /\b(c[0-9a-f]{5})\b/.exec(started.out)?.[1] ?? '';
  promise(started.code === 0 && id !== '', 'the campaign did not start');
  const fleet = await run('status');
  promise(
    fleet.code === 5 && `${fleet.out}${fleet.err}`.includes('was not looked at'),
    'an unasked look was made in the measurement',
  );

  say('', 'A workload runs on GPU 0-1 and ends; its profiler stays behind on GPU 2.');
  const job = await lab.spawn(workload([0, 1].map((gpu) => ({gpu, MiB: 40_960}))));
  const profiler = await lab.spawn(
    writer([{gpu: 2, MiB: 2_048}], {
      label: 'profiler',
      argv: ['nsys', 'profile', '-o', 'sweep', 'python3', 'bench.py'],
      comm: 'nsys',
      writes: {file: 'sweep.nsys-rep', KiBPerS: 64, closes: true},
    }),
  );
  await lab.endOfItself(job.pid);
  const shared = lab.features.has('shm') ? 'torch_4711' : null;
  if (shared !== null) await lab.spawn(leftover([], {leaves: [{name: shared, MiB: 8}]}));
  say('In the stand-in for nvidia-smi, somebody sets:');
  for (const {gpu, change} of CHANGES) {
    const done = await smi(`nvidia-smi -i ${uuid(gpu)} ${change}`);
    say(`  GPU ${gpu}: nvidia-smi ${change}`);
    promise(done.code === 0, `the stand-in did not take ${change}`);
  }

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

  say('', 'Each command that it printed, as it was printed:');
  const lines = report.out.split('\n').map((line) => line.trim());
  for (const command of lines.filter((line) => /^(nvidia-smi|rm|ipcrm) -/.test(line))) {
    const done = await smi(command);
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
  promise(again.code === 0, `the second report ended with ${again.code}`);
  const {hosts} = (await bot.json('profile', 'report', id)) as {
    hosts: readonly {readonly differs?: boolean; readonly leftovers?: readonly unknown[]}[];
  };
  promise(hosts.length === 1 && hosts[0]?.differs === false, 'the next report still shows a difference');
  promise(await lab.alive(neighbour.pid), 'the neighbour is dead');
  return broken;
}
