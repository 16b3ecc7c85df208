import type {FindingKind} from './diagnosis.ts';
import type {Failure} from './failure.ts';
import type {Observation} from './order.ts';

/** The one word a run ends with (design: run outcome). */
export type OutcomeWord =
  | 'reclaimed'
  | 'partly'
  | 'nothing-freed'
  | 'nothing-to-do'
  | 'stood-down'
  | 'dry-run'
  | 'denied'
  | 'expired'
  | 'cancelled'
  | 'interrupted'
  | 'failed'
  | 'unknown';

export interface GpuChange {
  readonly gpuUuid: string;
  readonly index: number | null;
  /** null where it could not be read. */
  readonly beforeMiB: number | null;
  readonly afterMiB: number | null;
  /** What the holders that were not targets explain, at most. */
  readonly expectedMiB: number | null;
  readonly requested: boolean;
  readonly heldBy: readonly {readonly pid: number; readonly name: string; readonly chargedMiB: number | null}[];
  readonly unexplainedMiB: number | null;
}

export interface Survivor {
  readonly pid: number;
  readonly name: string;
  readonly observation: Observation | 'unknown';
  readonly findings: readonly FindingKind[];
  /** Why it is still there, as a fact to be worded. */
  readonly why:
    | 'not-signalled'
    | 'not-permitted'
    | 'denied-by-host'
    | 'late'
    | 'stuck-in-kernel'
    | 'ignored-sigterm'
    | 'run-stopped'
    | 'unreaped'
    | 'no-answer'
    | 'cannot-see';
}

export interface Outcome {
  readonly word: OutcomeWord;
  readonly gpus: readonly GpuChange[];
  readonly survivors: readonly Survivor[];
  /** Why it ended so, where a failure or a refusal ended it. */
  readonly because: Failure | null;
  /** ms from the last signal sent to memory verified, by the host's clock; null if no signal or not verified. */
  readonly freedAfterMs: number | null;
}
