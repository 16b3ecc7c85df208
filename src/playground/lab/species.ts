/** What can be asked of a lab: one function for each kind of holder, named after the finding that it should become. */

export interface Allocation {
  readonly gpu: number;
  /** 0 opens and maps the device without taking memory. */
  readonly MiB: number;
}

export interface LabSpec {
  readonly species:
    | 'plain'
    | 'stopped'
    | 'mapping-only'
    | 'zombie-leader'
    | 'inheritor'
    | 'unreaped'
    | 'server'
    | 'detached'
    | 'crowd';
  /** For the tests' and the demo's own reading; the bot never sees it. */
  readonly label: string;
  readonly argv: readonly string[];
  readonly holds: readonly Allocation[];
  /** Numeric; needs the lab feature `uids`, and is the lab's own uid elsewhere. */
  readonly uid?: number;
  /** Name given by prctl, cut to 15 bytes by the kernel. */
  readonly comm?: string;
  /** SIGTERM blocked (and still witnessed) or ignored (which no witness can see: the kernel drops it). */
  readonly deaf?: 'blocks' | 'ignores';
  /** Absolute path inside the lab of a copied interpreter to run: a stand-in daemon is a binary of its own. */
  readonly executable?: string;
  /** Last part of a control group path, `docker-<64 hex>.scope`; needs the lab feature `containers`. */
  readonly container?: string;
  /** How long it cleans up after a SIGTERM before it dies. */
  readonly termDelayMs?: number;
  /** Server: tell the workers to end by themselves, without a signal, when SIGTERM comes. */
  readonly onTerm?: 'close-workers';
  readonly workers?: readonly LabSpec[];
  /** Inheritor: each takes its memory and forks the next; the last child keeps everything. */
  readonly parents?: readonly {readonly title?: string; readonly holds: readonly Allocation[]}[];
  /** Inheritor: the parents live until `lab.orphan(pid)`. */
  readonly parentsLive?: boolean;
  /** Inheritor: the surviving child's command line, if not the last parent's. */
  readonly title?: readonly string[];
  readonly processes?: number;
  readonly files?: number;
}

type Change = Partial<LabSpec>;

const SERVER_WORDS = ['python3', '-m', 'vllm.entrypoints.openai.api_server', '--model', 'lab/model', '--port', '8000'];

/** Charged, holds the device, and its command line names it. */
export function workload(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return {species: 'plain', label: 'workload', argv: SERVER_WORDS, holds, ...change};
}

/** Holds under a name that no pattern knows; comm and command line differ, as after prctl. */
export function renamed(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return {species: 'plain', label: 'renamed', argv: ['python3', 'run.py'], comm: 'ghostd', holds, ...change};
}

/** A tensor-parallel worker as vLLM titles it. */
export function worker(rank: number, holds: readonly Allocation[], change: Change = {}): LabSpec {
  const title = `VLLM::Worker_TP${rank}`;
  return {species: 'plain', label: title, argv: [title], comm: title, holds, ...change};
}

export function deaf(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {label: 'deaf', deaf: 'blocks', ...change});
}

export function stopped(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {species: 'stopped', label: 'stopped', ...change});
}

export function mappingOnly(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {species: 'mapping-only', label: 'mapping-only', ...change});
}

export function zombieLeader(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {species: 'zombie-leader', label: 'zombie-leader', ...change});
}

/** One child that keeps what its dead parents took; each entry of `parents` is one dead PID that the driver bills. */
export function inheritor(parents: readonly (readonly Allocation[])[], change: Change = {}): LabSpec {
  return {
    species: 'inheritor',
    label: 'inheritor',
    argv: ['python3', '-c', 'from multiprocessing.spawn import spawn_main; spawn_main()', '--multiprocessing-fork'],
    holds: [],
    parents: parents.map((holds, rank) => ({title: `VLLM::Worker_TP${rank}`, holds})),
    title: ['python3', '-c', 'from multiprocessing.resource_tracker import main;main(9)'],
    ...change,
  };
}

/** A plain zombie whose parent lives and does not wait for it. */
export function unreaped(change: Change = {}): LabSpec {
  return {species: 'unreaped', label: 'unreaped', argv: ['python3', 'supervise.py'], holds: [], ...change};
}

/** In a control group like a docker container's. */
export function contained(holds: readonly Allocation[], containerId: string, change: Change = {}): LabSpec {
  return workload(holds, {label: 'contained', container: `docker-${containerId}.scope`, ...change});
}

/** The persistence daemon: a root-owned binary of that path, every device open, no memory taken. */
export function persistenceDaemon(gpus: number, change: Change = {}): LabSpec {
  return {
    species: 'plain',
    label: 'protected',
    argv: ['/usr/bin/nvidia-persistenced'],
    executable: '/usr/bin/nvidia-persistenced',
    comm: 'nvidia-persistenced',
    holds: Array.from({length: gpus}, (_, gpu) => ({gpu, MiB: 0})),
    ...change,
  };
}

/** Somebody else's live work: another uid where the lab has several, another session always. */
export function bystander(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return {species: 'plain', label: 'bystander', argv: ['python3', 'train.py'], uid: 1500, holds, ...change};
}

/** A trainer started with nohup from a shell that is gone: same uid, parent is init. */
export function detachedTrainer(holds: readonly Allocation[], change: Change = {}): LabSpec {
  const argv = ['python3', 'finetune.py', '--epochs', '3'];
  return {species: 'detached', label: 'detached', argv, holds, ...change};
}

/** A server that holds no GPU, parent of its workers, all in one session. */
export function server(workers: readonly LabSpec[], change: Change = {}): LabSpec {
  return {species: 'server', label: 'server', argv: SERVER_WORDS, holds: [], workers, ...change};
}

/** `processes` processes with `files` open files each, no GPU: what a scan has to wade through. */
export function crowd(processes: number, files: number, change: Change = {}): LabSpec {
  return {species: 'crowd', label: 'crowd', argv: ['python3', 'crowd.py'], holds: [], processes, files, ...change};
}
