/** The zoo: each species as the processes of one server, what makes them turn, and the three innocents beside it. */
import type {Innocent} from './results.ts';

/** One process as `zoo/holder.py` reads it. */
export interface Part {
  readonly name: string;
  readonly part: string;
  readonly argv: readonly string[];
  readonly comm?: string;
  readonly uid?: number;
  readonly executable?: string;
  readonly gpus?: readonly number[];
  readonly MiB?: number;
  /** Name of the child that it forks. */
  readonly child?: string;
  /** Socket at which two parts meet; made absolute by the zoo. */
  readonly meets?: string;
  readonly workers?: readonly Part[];
}

export interface Species {
  readonly name: string;
  /** Children of the server, in its session. The one that keeps the memory is called `holder`. */
  readonly workers: readonly Part[];
  /** After the first look: who is ended as by a crash, and who is told to turn. */
  readonly die: readonly string[];
  readonly turns: readonly string[];
  /** GPUs that the request is limited to; all of them if not said. */
  readonly range?: readonly number[];
  /** Workers on other GPUs, which such a request must leave alive. */
  readonly spared?: readonly string[];
}

export const SERVER_ARGV = [
  'python3',
  '-m',
  'vllm.entrypoints.openai.api_server',
  '--model',
  'zoo/model',
  '--port',
  '8000',
];
/** What no name matching finds: a worker before it takes its title. */
const SPAWNED = [
  'python3',
  '-c',
  'from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=13, pipe_handle=21)',
  '--multiprocessing-fork',
];
const HELD_MIB = 4096;
const INNOCENT_MIB = 1024;

/** The nine of the facts, and one that goes by another name. */
export function speciesOn(gpus: readonly number[]): readonly Species[] {
  const on = {gpus, MiB: HELD_MIB, argv: SPAWNED};
  const alone = (name: string, part: Partial<Part> & {readonly part: string}, turns: boolean): Species => ({
    name,
    workers: [{...on, name: 'holder', ...part}],
    die: [],
    turns: turns ? ['holder'] : [],
  });
  /** `holder` keeps what `first` made; `first` dies. */
  const pair = (name: string, first: Part, part: string): Species => ({
    name,
    workers: [
      {...first, meets: 'meet'},
      {...on, name: 'holder', part, meets: 'meet'},
    ],
    die: [first.name],
    turns: part === 'importer' ? ['holder'] : [],
  });
  return [
    alone('plain', {part: 'holder', argv: ['VLLM::Worker_TP0'], comm: 'VLLM::Worker_TP0'}, false),
    alone('renamed', {part: 'holder', argv: ['python3', 'run.py'], comm: 'ghostd'}, false),
    alone('deaf', {part: 'deaf'}, false),
    alone('stopped', {part: 'stopped'}, true),
    {
      name: 'inheritor',
      workers: [{...on, name: 'worker', part: 'forker', child: 'holder'}],
      die: ['worker'],
      turns: [],
    },
    alone('zombie leader', {part: 'leaderless'}, true),
    alone('mapping only', {part: 'unmapped'}, true),
    pair('importer', {...on, name: 'exporter', part: 'ipc-exporter'}, 'importer'),
    pair('exported memory', {...on, name: 'exporter', part: 'vmm-exporter'}, 'receiver'),
    pair('in flight', {...on, name: 'sender', part: 'sender'}, 'unreading'),
  ];
}

/** Over several GPUs: a worker on each, and one child that keeps the memory of a dead worker on one, some or all of them. */
export function speciesOver(gpus: readonly number[]): readonly Species[] {
  const some = gpus.slice(0, Math.ceil(gpus.length / 2));
  return [
    ghostOver('ghost on one GPU', gpus.slice(0, 1), []),
    ghostOver('ghost on all GPUs', gpus, []),
    ghostOver('ghost on some GPUs, the others in use', some, gpus.slice(some.length)),
  ];
}

function ghostOver(name: string, ghost: readonly number[], others: readonly number[]): Species {
  const workers = others.map((gpu): Part => {
    const title = `VLLM::Worker_TP${gpu}`;
    return {name: `worker ${gpu}`, part: 'holder', argv: [title], comm: title, gpus: [gpu], MiB: HELD_MIB};
  });
  const dead: Part = {name: 'worker', part: 'forker', child: 'holder', argv: SPAWNED, gpus: ghost, MiB: HELD_MIB};
  return {
    name,
    workers: [dead, ...workers],
    die: ['worker'],
    turns: [],
    ...(others.length === 0 ? {} : {range: ghost, spared: workers.map((worker) => worker.name)}),
  };
}

export const INNOCENTS: readonly Innocent[] = ['another user', 'detached trainer', 'persistence daemon'];

/** `daemonPath`: where a copy of the interpreter stands for the daemon; protected for its path, its owner and its mode. */
export function innocentsOn(gpus: readonly number[], daemonPath: string): readonly Part[] {
  return [
    {
      name: 'another user',
      part: 'holder',
      argv: ['python3', 'train.py', '--config', 'run7.yaml'],
      uid: 1500,
      gpus,
      MiB: INNOCENT_MIB,
    },
    {
      name: 'detached trainer',
      part: 'holder',
      argv: ['python3', 'finetune.py', '--epochs', '3'],
      gpus,
      MiB: INNOCENT_MIB,
    },
    {
      name: 'persistence daemon',
      part: 'daemon',
      argv: [daemonPath],
      comm: 'nvidia-persiste',
      executable: daemonPath,
      gpus,
    },
  ];
}

export function serverOf(species: Species): Part {
  return {name: 'server', part: 'server', argv: SERVER_ARGV, workers: species.workers};
}
