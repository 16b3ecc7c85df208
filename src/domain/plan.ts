/** What would be done, as a plain value: shown, stored, approved by digest, checked again, executed. Types only. */
import type {Belonging, Container, HeldBy, Ownership} from './diagnosis.ts';
import type {Evidence, FindingKind} from './finding.ts';
import type {HostName} from './host.ts';
import type {OwnedLook} from './owned.ts';
import type {Owner} from './owner.ts';
import type {MachineIdentity, ProcessIdentity} from './process.ts';
import type {RunId} from './run.ts';
import type {NoStop, Stop} from './stop-owner.ts';
import type {Writing} from './writing.ts';

/** `leader`: gets SIGTERM first · `member`: 5 s later · `server`: an ancestor without a GPU, first of all. */
export type TargetRole = 'server' | 'leader' | 'member';

/** The workload that a target is part of; targets with the same root are shown as one. */
export interface Family {
  /** vLLM, SGLang, …; null for one that nobody has a name for. */
  readonly framework: string | null;
  /** The topmost process of it that is known: a target, or a parent that an earlier look saw and that is dead by now. */
  readonly rootPid: number;
}

export interface Target {
  readonly identity: ProcessIdentity;
  readonly role: TargetRole;
  /** comm or title, as the process calls itself: hostile. */
  readonly name: string;
  readonly findings: readonly FindingKind[];
  readonly evidence: readonly Evidence[];
  readonly belonging: Belonging;
  readonly ownership: Ownership;
  readonly container: Container | null;
  /** Nearest first. */
  readonly owners: readonly Owner[];
  readonly heldBy: HeldBy;
  readonly family: Family;
  /** False for those that ignore, block or cannot take SIGTERM: they get no SIGTERM and nobody waits for them. */
  readonly takesTerm: boolean;
  readonly gpuUuids: readonly string[];
  readonly chargedMiB: number | null;
  /** How long it has been up at planning, ms. */
  readonly ageMs: number;
  /** A proven ghost, or a process of the requester's own mapped uid: what the requester may go for alone. */
  readonly selfGo: boolean;
}

/** Somebody who stays, and why. */
export interface Kept {
  readonly identity: ProcessIdentity | null;
  readonly pid: number;
  readonly name: string;
  readonly findings: readonly FindingKind[];
  readonly evidence: readonly Evidence[];
  readonly ownership: Ownership;
  readonly container: Container | null;
  /** Nearest first. */
  readonly owners: readonly Owner[];
  readonly gpuUuids: readonly string[];
  readonly chargedMiB: number | null;
  readonly ageMs: number;
  readonly why:
    | 'protected'
    | 'monitor'
    | 'in-use'
    | 'outside-gpus'
    | 'contained'
    | 'no-identity'
    | 'name-only'
    | 'unreaped'
    /** Would be ticked, and was unticked by hand. */
    | 'unticked'
    /** Named by PID, and holds no GPU. */
    | 'no-holder'
    | 'own-session'
    | 'detached'
    /** May keep what nobody else does, by what waits in its sockets or what it was handed: no proof. */
    | 'possible-keeper'
    /** The bill moved to it when another died: it may be healthy and shared. */
    | 'importer'
    /** Uses only GPUs that report a fault. */
    | 'gpu-fault'
    /** Has a kill -9 that it cannot take. */
    | 'stuck';
  /** True: can be chosen by hand. False: locked. */
  readonly choosable: boolean;
}

export interface ExpectedGpu {
  readonly gpuUuid: string;
  readonly index: number | null;
  readonly requested: boolean;
  readonly beforeMiB: number | null;
  readonly totalMiB: number | null;
  /** What stays in use if every target ends, by the bills of the others; null = cannot be said. */
  readonly likelyAfterMiB: number | null;
  /** At most this many MiB stay in use then, the driver's own share included; null = cannot be said. */
  readonly afterAtMostMiB: number | null;
}

export interface Plan {
  readonly runId: RunId;
  /** Grows with each new version of one run's plan. */
  readonly version: number;
  readonly host: HostName;
  readonly machine: MachineIdentity;
  readonly madeAtMs: number;
  /** In the order they are signalled: ancestors before descendants. */
  readonly targets: readonly Target[];
  readonly kept: readonly Kept[];
  readonly gpus: readonly ExpectedGpu[];
  /** Owners that are stopped before anything is signalled; empty unless the policy allows it. */
  readonly stops: readonly Stop[];
  /** Owners that the policy names and that are not stopped, each with the reason. */
  readonly noStops: readonly NoStop[];
  /** What those owners own, of kept processes too, since they may be chosen; null where nobody had to ask. */
  readonly owned: OwnedLook | null;
  /** What they write, seen when the plan was made; kept processes included, since they may be chosen. */
  readonly writing: Writing;
  readonly graceMs: number;
  /** To which the grace runs on while a file of theirs still grows. */
  readonly longestGraceMs: number;
  readonly memberDelayMs: number;
  readonly verifyMs: number;
  readonly stalledMs: number;
}
