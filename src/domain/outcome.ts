import type {GpuAccount} from './diagnosis.ts';
import type {Failure} from './failure.ts';
import type {Evidence, FindingKind} from './finding.ts';
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
  /** What both figures are; left out where they are the GPU's own. */
  readonly usedFrom?: GpuAccount['usedFrom'];
  /** Who has targets' memory now: a shared importer whose bill grew by theirs, or one that keeps their files. Not freed. */
  readonly movedTo?: readonly MovedTo[];
}

/** Memory of targets that outlived them in another process. */
export interface MovedTo {
  readonly pid: number;
  readonly name: string;
  readonly MiB: number;
  readonly fromPids: readonly number[];
  /**
   * `billed`: the driver bills it now · `kept`: a dead PID is still billed, and it keeps that one's files · `restarted`: it
   * is the same work, started again by the same supervisor before the closing look.
   */
  readonly how: 'billed' | 'kept' | 'restarted';
  /** Who started it again, with the command that would stop that; only for `restarted`. */
  readonly by?: {readonly name: string; readonly stopCommand: string | null};
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
    /** Got its kill -9, and a thread of it was seen in state D, or inside NVIDIA's driver: `evidence` says which. */
    | 'stuck-in-kernel'
    /** Got its kill -9 and is still there; what keeps it was not seen. It may still be ending. */
    | 'outlived-kill'
    | 'ignored-sigterm'
    | 'run-stopped'
    | 'unreaped'
    | 'no-answer'
    | 'cannot-see';
  /** What proves it, where something does. */
  readonly evidence?: readonly Evidence[];
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
