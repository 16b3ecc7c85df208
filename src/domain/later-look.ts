/** The looks at a host after its run is closed: which are owed, and what each of them noted. */
import type {Failure} from './failure.ts';
import {wasCalled} from './order.ts';
import type {Return, Start} from './return.ts';
import type {Run} from './run.ts';
import {attemptsOf, stopsOf} from './run-state.ts';

/** What is added to a closed run. None of it changes the outcome. */
export type Note =
  | (NotedLook &
      (
        | {
            readonly what: 'compared';
            readonly returns: readonly Return[];
            readonly starts: readonly Start[];
            /** Requested GPUs that this look could not judge; null for one without an index. */
            readonly unseenGpus: readonly (number | null)[];
            /** False where processes may have been hidden from the look. */
            readonly fullSight: boolean;
          }
        /** Another boot or another machine: nothing there can be held against the closing look. */
        | {readonly what: 'other-machine'}
        /** The look failed: nothing is known of that moment. */
        | {readonly what: 'no-look'; readonly failure: Failure}
      ))
  /** Somebody has seen enough: no later look is made. `by`: personId. */
  | {readonly what: 'stopped'; readonly by: string};

interface NotedLook {
  /** ms after the close at which it was due; it stands for every earlier one that was missed. */
  readonly afterMs: number;
  readonly last: boolean;
  /** It came due while nobody was there to make it. */
  readonly late: boolean;
}

export interface OwedLook {
  readonly afterMs: number;
  /** Epoch ms. */
  readonly dueAtMs: number;
  readonly last: boolean;
}

/** Looks that are still to be made, soonest first: those of its close that are later than the last one made. */
export function owedLooks(run: Run): readonly OwedLook[] {
  const closed = run.events.find((event) => event.kind === 'closed');
  if (closed?.kind !== 'closed') return [];
  const all = closed.lookAgainMs ?? [];
  let doneMs = Number.NEGATIVE_INFINITY;
  for (const event of run.events) {
    if (event.kind !== 'noted') continue;
    if (event.note.what === 'stopped') return [];
    doneMs = Math.max(doneMs, event.note.afterMs);
  }
  return all
    .filter((afterMs) => afterMs > doneMs)
    .map((afterMs) => ({afterMs, dueAtMs: closed.atMs + afterMs, last: afterMs === all.at(-1)}));
}

/** Epoch ms of the next look that the run is owed; null if none is. */
export function nextLookAtMs(run: Run): number | null {
  return owedLooks(run)[0]?.dueAtMs ?? null;
}

/** Only where something was signalled, or may have been, can something come back. */
export function hasSignalled(run: Run): boolean {
  return (
    attemptsOf(run).some((attempt) => attempt.result === 'sent' || attempt.result === null) ||
    stopsOf(run).some((stop) => wasCalled(stop.result))
  );
}

/** What the looks at this run noted so far. */
export function notedSoFar(run: Run): {readonly returns: readonly Return[]; readonly starts: readonly Start[]} {
  const notes = run.events.flatMap((event) =>
    event.kind === 'noted' && event.note.what === 'compared' ? event.note : [],
  );
  return {returns: notes.flatMap((note) => note.returns), starts: notes.flatMap((note) => note.starts)};
}

/** Something came back that no look had noted before: the one kind of note that people are called for. */
export function isNews(note: Note): boolean {
  return note.what === 'compared' && note.returns.some((one) => !one.known);
}
