/** What a stop of an owner would end, as one look read it. Types only. */
import type {ProcessFacts} from './snapshot.ts';
import type {NoStopWhy, StopKind} from './stop-owner.ts';

/** One owner that was asked about. */
export interface OwnedBy {
  readonly kind: StopKind;
  readonly id: string;
  /** Which run of it stands there now; null where its tool did not say. */
  readonly run: string | null;
  /** What its tool says against a stop; null where nothing. */
  readonly against: NoStopWhy | null;
  readonly endsInKill: boolean;
  /** PIDs in its folder and below; 0 stands for a process outside of our PID namespace. null: not all could be read. */
  readonly pids: readonly number[] | null;
}

export interface OwnedLook {
  readonly owners: readonly OwnedBy[];
  /** Of all those, and their ancestors. */
  readonly processes: readonly ProcessFacts[];
  /** Our own shell and its ancestors. */
  readonly ownPids: readonly number[];
}
