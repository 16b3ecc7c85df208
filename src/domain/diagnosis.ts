/** Holders and GPUs, cross-referenced and named. Types only; `diagnose.ts` does the thinking. */
import type {Evidence, FindingKind} from './finding.ts';
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
  /** MiB that end with this process: its own charges, or those of the dead PIDs whose files it keeps. */
  readonly chargedMiB: number | null;
  /** Dead PIDs that the driver bills for what this process keeps. */
  readonly deadCharged: readonly number[];
  readonly container: Container | null;
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
  readonly totalMiB: number | null;
  readonly explainedMiB: number;
  readonly unexplainedMiB: number | null;
  readonly baselineMiB: number;
  /** Whether the baseline was seen on this GPU or is the policy's assumption. */
  readonly baselineSeen: boolean;
  readonly holderPids: readonly number[];
  /** Charged PIDs on this GPU that are not in /proc. */
  readonly deadCharged: readonly {readonly pid: number; readonly usedMiB: number | null}[];
  /** Why it is unknown, or which causes of unexplained memory are possible. */
  readonly reasons: readonly GpuReason[];
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
  | 'no-holder-anywhere';

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
