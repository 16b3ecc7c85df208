/** The table of rules and numbers that the policy file sets; nothing optional is left in it. */
import type {SamePerson} from './person.ts';

export type Approver =
  | {readonly kind: 'os-user'; readonly name: string}
  | {readonly kind: 'slack-user'; readonly id: string}
  | {readonly kind: 'slack-group'; readonly id: string};

/** Literals, never expressions: found in the command line or comm of a process, case-insensitively. */
export interface Workload {
  readonly name: string;
  readonly literals: readonly string[];
}

/** What must never be signalled, told by executable or by unit; never by what a process calls itself. */
export interface ProtectedEntry {
  readonly name: string;
  /** Absolute executable paths; `*` stands for one path component's rest. */
  readonly executables: readonly string[];
  /** Uids that this entry covers; null = any. */
  readonly uids: readonly number[] | null;
  /** systemd unit or container names as they stand in a cgroup path. */
  readonly units: readonly string[];
}

export interface Policy {
  readonly approvers: readonly Approver[];
  /** Who is one person under several ids: their own holds are not in their way, and they are no second person for a go. */
  readonly samePerson: SamePerson;
  /** A requester who is an approver may give the go for proven ghosts and for processes of their own mapped uid. */
  readonly selfGo: boolean;
  readonly breakGlass: boolean;
  /** Whoever asked for a run hears of its end in their own conversation with the bot, unless they have just seen it. */
  readonly tellRequester: boolean;
  /** Whether a closed run's pictures go into its thread in Slack. */
  readonly pictures: boolean;
  readonly graceMs: number;
  /** Used instead of `graceMs` when a target is a profiler or writes a report. */
  readonly profilerGraceMs: number;
  /** To which the grace runs on while a target still writes a trace, a checkpoint or a model. */
  readonly writingGraceMs: number;
  /** From SIGTERM of the leaders to SIGTERM of the members. */
  readonly memberDelayMs: number;
  readonly approvalMs: number;
  readonly verifyMs: number;
  /** Memory that has not changed for so long is "stalled". */
  readonly stalledMs: number;
  readonly lookAgainMs: readonly number[];
  /** How often a schedule that waits for a process or for idle GPUs looks. */
  readonly watchEveryMs: number;
  /** A sampled campaign whose GPUs stood idle for so long is asked about; "keep" puts the question off for the other. */
  readonly campaignIdleMs: number;
  readonly campaignKeepMs: number;
  /** How late after planning a signalling command may still act on the host. */
  readonly lateAfterMs: number;
  readonly baselineMiB: number;
  readonly toleranceMiB: number;
  readonly limits: {
    readonly openRuns: number;
    readonly targets: number;
    readonly runsPerPerson: number;
    readonly runsPerPersonMs: number;
  };
  /** By kind of owner: whether it may be stopped, as the first rung, where every process that it would end is a target. */
  readonly stopOwner: {
    readonly unit: boolean;
    readonly docker: boolean;
    readonly podman: boolean;
    readonly slurm: boolean;
  };
  readonly workloads: readonly Workload[];
  /** The built-in list plus the policy file's additions. */
  readonly protectedList: readonly ProtectedEntry[];
}
