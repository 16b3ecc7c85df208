/** Holders and GPUs, cross-referenced and named. Types only; `diagnose.ts` does the thinking. */
import type {Evidence, FindingKind} from './finding.ts';
import type {Owner} from './owner.ts';
import type {ProcessIdentity} from './process.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

export type {FindingKind} from './finding.ts';

/**
 * What proves that a process holds a device, to be proven again before it is signalled: paths of open files or mappings ·
 * numbers of devices under other names · descriptors queued in its sockets or io_uring · nothing.
 */
export type HeldBy = 'paths' | 'numbers' | 'queue' | 'nothing';

/** How a process uses one GPU. An open node alone is no proof of use. */
export interface GpuUse {
  readonly gpuUuid: string;
  readonly how: 'charged' | 'mapped' | 'opened';
  /** null where the driver bills nothing to this PID, or no figure. */
  readonly chargedMiB: number | null;
  /** Mapped, with too few files for a context: it holds no memory there, and explains none. */
  readonly noContext?: true;
}

/** What keeps a process: its owner may bring it back. */
export interface Container {
  readonly kind: 'docker' | 'containerd' | 'podman' | 'kubernetes' | 'slurm' | 'unit';
  /** Short id, unit name or job id. */
  readonly name: string;
  readonly stopCommand: string;
}

/** Whose work it is; the first that is known of: container, login uid, session, uid. */
export interface Ownership {
  readonly person: string | null;
  readonly uid: number | null;
  readonly by: 'container' | 'login-uid' | 'uid' | 'unknown';
}

/** Why a process belongs to what was asked for. */
export type Belonging =
  | {readonly by: 'named'; readonly literal: string}
  | {readonly by: 'pid'}
  | {readonly by: 'user'}
  | {readonly by: 'gpus'}
  /** A proven ghost: it keeps what dead PIDs are billed for, or has lost its server. */
  | {readonly by: 'ghost'; readonly deadPids: readonly number[]}
  | {readonly by: 'parents'; readonly ancestorPid: number; readonly ancestorName: string}
  | {readonly by: 'session' | 'process-group'; readonly id: number; readonly sharedWithPid: number}
  | {readonly by: 'cgroup'; readonly path: string; readonly sharedWithPid: number}
  | {
      readonly by: 'earlier-look';
      readonly ancestorPid: number;
      readonly ancestorName: string;
      readonly seenAtMs: number;
    };

export interface HolderDiagnosis {
  readonly process: ProcessFacts;
  readonly identity: ProcessIdentity | null;
  /** At least one; strongest first. */
  readonly findings: readonly FindingKind[];
  readonly evidence: readonly Evidence[];
  readonly gpus: readonly GpuUse[];
  /**
   * GPUs, by UUID, whose unexplained memory this process may be the one to keep: files wait in its sockets, or it was given
   * exported memory. What it keeps there cannot be seen, so this is never proof, and never a ghost.
   */
  readonly mayKeep: readonly string[];
  /**
   * MiB that end with this process: its own charges, or those of the dead PIDs whose files it keeps. Where several keep the
   * same, only the first of them has it here.
   */
  readonly chargedMiB: number | null;
  /** Dead PIDs that the driver bills for what this process keeps. */
  readonly deadCharged: readonly number[];
  readonly container: Container | null;
  /** Who keeps it going, nearest first: containers, units and jobs, and agents, kernels and terminals above it. */
  readonly owners: readonly Owner[];
  readonly ownership: Ownership;
  readonly heldBy: HeldBy;
  /** A known worker role whose server is gone. */
  readonly orphaned: boolean;
  /** The literals of workloads or of the request that its command line or comm holds. */
  readonly matched: readonly string[];
}

/** Host state per GPU (design 2.3). */
export type GpuState = 'clean' | 'occupied' | 'dirty' | 'unknown';

export interface GpuAccount {
  readonly gpuUuid: string;
  readonly index: number | null;
  readonly state: GpuState;
  readonly usedMiB: number | null;
  /**
   * `gpu`: memory.used of the GPU, which leaves out what the driver reserves (total = reserved + used + free, measured with
   * driver 580), so that nothing is taken off for it; where an older driver counts it as used, it is in the baseline ·
   * `processes`: the sum of the processes' bills, where the driver gives no figure for the GPU (unified memory).
   */
  readonly usedFrom: 'gpu' | 'processes';
  readonly totalMiB: number | null;
  readonly explainedMiB: number;
  readonly unexplainedMiB: number | null;
  readonly baselineMiB: number;
  /** Whether the baseline was seen on this GPU or is the policy's assumption. */
  readonly baselineSeen: boolean;
  readonly holderPids: readonly number[];
  /** Who may keep what is unexplained here, protected ones included; it cannot be seen which of them does. */
  /** Memory is left over that no proven holder explains, so whoever may keep it is worth naming. */
  readonly loose: boolean;
  readonly mayKeepPids: readonly number[];
  /** Charged PIDs on this GPU that are dead; `kept`: some process was seen to keep their files. */
  readonly deadCharged: readonly {readonly pid: number; readonly usedMiB: number | null; readonly kept: boolean}[];
  /** Why it is unknown, or which causes of unexplained memory are possible. */
  readonly reasons: readonly GpuReason[];
  /** Where the figures come from if not from the GPU, and what else was read of it: faults logged, modules in use. */
  readonly evidence: readonly Evidence[];
}

export type GpuReason =
  | 'fault'
  | 'smi-failed'
  | 'smi-missing'
  | 'smi-timed-out'
  | 'figure-missing'
  | 'not-all-readable'
  | 'foreign-pid-namespace'
  | 'hidepid'
  | 'scan-incomplete'
  | 'dead-charge-without-holder'
  | 'no-holder-anywhere'
  /** No holder is proven, and some process may be the one. */
  | 'possible-keeper'
  /** Bills on MIG instances that could be parts of this GPU or of another. */
  | 'instance-unplaced'
  /** The kernel's log has Xid lines for it. */
  | 'xid'
  /** A kernel module that may keep GPU memory without any process is in use (GDRCopy, peer memory, GPUDirect Storage). */
  | 'kernel-module';

export interface Diagnosis {
  readonly snapshot: Snapshot;
  /** Every holder, protected and monitors included, by PID. */
  readonly holders: readonly HolderDiagnosis[];
  /** Plain zombies, servers and name-only matches: they hold nothing. */
  readonly others: readonly HolderDiagnosis[];
  readonly gpus: readonly GpuAccount[];
  /** The driver bills PIDs of a namespace that is not ours: charges name nobody we can see. */
  readonly foreignPids: boolean;
}
