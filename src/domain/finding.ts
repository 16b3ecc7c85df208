/** What a holder, or a GPU, is found to be (design: findings). One word each; the sentences are in `report`. */
export type FindingKind =
  /** Charged, holds the device, matches the request or a workload pattern. */
  | 'workload'
  /** Holds, and matches no pattern. */
  | 'renamed'
  /** Ignores or blocks SIGTERM. */
  | 'deaf'
  /** State T: SIGTERM stays pending. */
  | 'stopped'
  /** Keeps a dead process's device files: the driver bills a dead PID, this one is the holder. */
  | 'inheritor'
  /** Main thread gone, other threads hold the device. */
  | 'zombie-leader'
  /** No open file, a mapping lives. */
  | 'mapping-only'
  /** Holds memory that another process made: the bill is the other's, nobody's, or has moved here. */
  | 'importer'
  /** Device files wait in its socket or io_uring: nobody has them open. */
  | 'in-flight'
  /** Got its kill -9 and does not end: a thread is stuck in the kernel. */
  | 'stuck'
  /** A profiler, or a process that writes a trace, checkpoint or model file right now. */
  | 'writing'
  /** Calls itself like a protected daemon and is none: by executable, uid and cgroup it is anybody's. */
  | 'impostor'
  /** Plain zombie: holds nothing, waits for its parent. */
  | 'unreaped'
  /** In a container, unit, job step: its owner may bring it back. */
  | 'contained'
  | 'protected'
  /** Somebody else's live work. */
  | 'bystander'
  /** nvidia-smi, nvtop and the like: short-lived, never drift. */
  | 'monitor'
  /** A recorded ancestor of a target that holds no GPU itself. */
  | 'server'
  /** Its name matches, but it holds nothing and no target descends from it. */
  | 'name-only';

/** Strongest first: the first of these that a holder carries leads its line. */
export const FINDING_ORDER: readonly FindingKind[] = [
  'protected',
  'monitor',
  'unreaped',
  'stuck',
  'zombie-leader',
  'inheritor',
  'in-flight',
  'importer',
  'mapping-only',
  'stopped',
  'deaf',
  'writing',
  'workload',
  'server',
  'contained',
  'impostor',
  'bystander',
  'renamed',
  'name-only',
];

/** Where a fact was read. */
export type EvidenceSource =
  | 'charges'
  | 'open-files'
  | 'mappings'
  | 'thread-files'
  | 'process'
  | 'cgroup'
  | 'executable'
  | 'parents'
  | 'earlier-look'
  | 'gpu-totals'
  | 'device-numbers'
  | 'socket-queues'
  | 'kernel'
  | 'kernel-log'
  | 'owner'
  | 'writes';

export interface Evidence {
  readonly source: EvidenceSource;
  /** The fact, short, in plain words with its figures: "billed to dead PID 244180 on GPU 0-3". Host text in it is hostile. */
  readonly fact: string;
}
