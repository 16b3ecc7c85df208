import type {HoldInTheWay} from './failure.ts';
import type {HostName} from './host.ts';
import type {Person} from './person.ts';

/** What somebody asked to have back: one host, a selection on it, and how. */
export interface ReclaimRequest {
  readonly host: HostName;
  /** GPU indexes as typed; resolved to UUIDs at the survey. null = every GPU. */
  readonly gpus: readonly number[] | null;
  /** A literal of at least 3 characters. */
  readonly match: string | null;
  readonly user: string | null;
  readonly pids: readonly number[];
  readonly includeOthers: boolean;
  /** null = the policy's. */
  readonly graceMs: number | null;
  readonly dryRun: boolean;
  readonly reason: string | null;
  /** Goes on where others hold the GPUs; left out: it does not. */
  readonly override?: HoldOverride;
  /** On a host for drills; left out: it is a real one. */
  readonly practice?: true;
  readonly requester: Person;
}

export interface HoldOverride {
  /** Read by everybody. */
  readonly why: string;
  /** Those that were in the way when it was asked for; empty before that was looked up. */
  readonly holds: readonly HoldInTheWay[];
}
