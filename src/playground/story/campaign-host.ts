/** What happens on the host while a campaign measures: a workload runs and ends, a profiler stays, settings are changed. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import {type CommandResult, runInLab} from '../lab/run-in-lab.ts';
import {leftover, workload, writer} from '../lab/species.ts';

/** What is changed in the stand-in, on which GPU, and what must be offered for it. */
export const CHANGES = [
  {gpu: 0, change: '-pl 300', back: '-pl 700'},
  {gpu: 1, change: '-ac 3201,1200', back: '-rac'},
  {gpu: 2, change: '-c EXCLUSIVE_PROCESS', back: '-c DEFAULT'},
  {gpu: 3, change: '-pm 0', back: '-pm 1'},
  // No field tells of it: it must be offered all the same.
  {gpu: 4, change: '-lgc 900,900', back: '-rgc'},
] as const;

export interface LeftBehind {
  readonly workload: LabProcess;
  readonly profiler: LabProcess;
  /** Name of a file in shared memory; null where the lab has none of its own. */
  readonly shared: string | null;
}

/** A command for the stand-in, as root on the lab host. */
export function smiOn(lab: Lab, command: string): Promise<CommandResult> {
  return runInLab(lab, `PATH=${lab.hostsEntry().extraPath[0]}:$PATH ${command}`);
}

/** `promise` is told where the stand-in did not take a setting. `atWork`: what is awaited while the workload still runs. */
export async function measureOn(
  lab: Lab,
  say: (...lines: readonly string[]) => void,
  promise: (kept: boolean, otherwise: string) => void,
  atWork: () => Promise<void> = async () => undefined,
): Promise<LeftBehind> {
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
  await atWork();
  await lab.endOfItself(job.pid);
  const shared = lab.features.has('shm') ? 'torch_4711' : null;
  if (shared !== null) await lab.spawn(leftover([], {leaves: [{name: shared, MiB: 8}]}));
  say('In the stand-in for nvidia-smi, somebody sets:');
  for (const {gpu, change} of CHANGES) {
    const done = await smiOn(lab, `nvidia-smi -i ${lab.gpus[gpu]?.uuid ?? ''} ${change}`);
    say(`  GPU ${gpu}: nvidia-smi ${change}`);
    promise(done.code === 0, `the stand-in did not take ${change}`);
  }
  return {workload: job, profiler, shared};
}

/** The commands that a report printed to set things back, one a line. */
export function commandsIn(report: string): readonly string[] {
  return report
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(nvidia-smi|rm|ipcrm) -/.test(line));
}
