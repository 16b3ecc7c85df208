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
    | 'crowd'
    | 'sharer'
    | 'importer'
    | 'receiver'
    | 'in-flight'
    | 'ring'
    | 'other-name'
    | 'stuck'
    | 'writer'
    | 'leftover'
    | 'daemon';
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
  /** Server: starts a worker again that has ended, under a new PID. */
  readonly respawns?: boolean;
  readonly workers?: readonly LabSpec[];
  /** Inheritor: each takes its memory and forks the next; the last child keeps everything. */
  readonly parents?: readonly {readonly title?: string; readonly holds: readonly Allocation[]}[];
  /** Inheritor, importer, receiver, in flight: whoever made the memory lives until `lab.orphan(…)`. */
  readonly parentsLive?: boolean;
  /** Sharer and its taker meet under this name; one pair at a time. */
  readonly share?: string;
  /** Sharer: its memory as CUDA IPC or as an exported handle, beside its context (`holds`); or its device files. */
  readonly gives?: {readonly kind: 'memory' | 'handle' | 'files'; readonly holds: readonly Allocation[]};
  /** Writer: what it appends to, below the lab's `run/traces`. `closes`: it ends the file properly on SIGTERM. */
  readonly writes?: {readonly file: string; readonly KiBPerS: number; readonly closes: boolean};
  /** Leftover: files below /dev/shm that stay behind it. Needs the lab feature `shm`. */
  readonly leaves?: readonly {readonly name: string; readonly MiB: number}[];
  /** Inheritor: the surviving child's command line, if not the last parent's. */
  readonly title?: readonly string[];
  /** Unreaped: the dead child's own short name. */
  readonly zombieComm?: string;
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

/** The persistence daemon: a root-owned binary of that path, every device open and none mapped, no memory taken. */
export function persistenceDaemon(gpus: number, change: Change = {}): LabSpec {
  return {
    species: 'daemon',
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

/** MiB that a CUDA context alone was seen to cost on an H200 (driver 580.159.04). */
export const CONTEXT_MIB = 518;

/**
 * Two for one server: a process that makes memory and one that imports it (CUDA IPC), with a context of its own. The
 * first ends by itself once it has given, unless `parentsLive`; then the importer is billed for all of it.
 */
export function imported(holds: readonly Allocation[], change: Change = {}): readonly [LabSpec, LabSpec] {
  const contexts = holds.map(({gpu}) => ({gpu, MiB: CONTEXT_MIB}));
  const taker = {
    species: 'importer',
    label: 'importer',
    argv: ['python3', 'run.py'],
    holds: contexts,
    ...change,
  } as const;
  return pair({kind: 'memory', holds}, contexts, taker);
}

/** Two for one server: an exporter of memory, and the process without CUDA that keeps its handle, a file of nvidiactl. */
export function exported(holds: readonly Allocation[], change: Change = {}): readonly [LabSpec, LabSpec] {
  const contexts = holds.map(({gpu}) => ({gpu, MiB: CONTEXT_MIB}));
  const taker = {species: 'receiver', label: 'exported', argv: ['python3', 'run.py'], holds: [], ...change} as const;
  return pair({kind: 'handle', holds}, contexts, taker);
}

/** Two for one server: the owner of the memory, dead, and the process in whose socket its device files wait. */
export function inFlight(holds: readonly Allocation[], change: Change = {}): readonly [LabSpec, LabSpec] {
  const taker = {species: 'in-flight', label: 'in-flight', argv: ['python3', 'run.py'], holds: [], ...change} as const;
  return pair({kind: 'files', holds: []}, holds, taker);
}

function pair(
  gives: NonNullable<LabSpec['gives']>,
  holds: readonly Allocation[],
  taker: LabSpec,
): readonly [LabSpec, LabSpec] {
  const share = taker.share ?? taker.species;
  const label = `${taker.label} maker`;
  return [
    {species: 'sharer', label, argv: ['python3', 'run.py'], holds, gives, share},
    {...taker, share},
  ];
}

/** Its io_uring keeps the device files; needs the lab feature `rings`. */
export function ringHolder(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return {species: 'ring', label: 'ring', argv: ['python3', 'run.py'], holds, ...change};
}

/** By a node whose name is not NVIDIA's: only its number tells; needs the lab feature `device-numbers`. */
export function otherName(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return {species: 'other-name', label: 'other-name', argv: ['python3', 'run.py'], holds, ...change};
}

/** State D, and SIGKILL stays pending until the lab ends; needs the lab feature `freezer`. */
export function stuck(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {species: 'stuck', label: 'stuck', ...change});
}

/** Not part of the workload: starts its workers again whenever they end, as supervisord does. */
export function supervisor(workers: readonly LabSpec[], change: Change = {}): LabSpec {
  const argv = ['/usr/bin/python3', '/usr/bin/supervisord', '-n'];
  return server(workers, {label: 'supervisor', argv, comm: 'supervisord', respawns: true, ...change});
}

/** An ordinary process under the persistence daemon's name. */
export function impostor(holds: readonly Allocation[], change: Change = {}): LabSpec {
  const name = 'nvidia-persistenced';
  return {species: 'plain', label: 'impostor', argv: [name], comm: name, holds, ...change};
}

/** Writes a trace from inside the server, as torch.profiler does. */
export function writer(holds: readonly Allocation[], change: Change = {}): LabSpec {
  const writes = {file: 'trace.json.gz', KiBPerS: 2_048, closes: true};
  return workload(holds, {species: 'writer', label: 'writer', writes, ...change});
}

/** CUDA MPS: the control daemon with its server, and clients with bills of their own, as they have since Volta (not measured). */
export function mps(
  serverHolds: readonly Allocation[],
  clients: readonly LabSpec[],
  change: Change = {},
): readonly [LabSpec, ...LabSpec[]] {
  const [control, serving] = ['/usr/bin/nvidia-cuda-mps-control', '/usr/bin/nvidia-cuda-mps-server'];
  const one: LabSpec = {
    species: 'plain',
    label: 'mps-server',
    argv: [serving],
    executable: serving,
    holds: serverHolds,
  };
  const daemon = server([{...one, ...change}], {label: 'mps-control', argv: [control, '-d'], executable: control});
  return [daemon, ...clients];
}

/** Leaves a file below /dev/shm when it ends, as NCCL does after kill -9. */
export function leftover(holds: readonly Allocation[], change: Change = {}): LabSpec {
  return workload(holds, {species: 'leftover', label: 'leftover', leaves: [{name: 'nccl-lab001', MiB: 9}], ...change});
}
