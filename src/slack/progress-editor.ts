/**
 * Edits that only show progress: the newest frame of each card wins, all cards share one pace with what must arrive, each
 * card's own gaps grow. Nothing waits here for anything that must arrive.
 */
import type {RunId} from '../domain/run.ts';
import type {Clock, Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import {type Pace, PROGRESS_GAP_MS} from './pace.ts';

const CARD_GAPS_MS = [1_500, 2_000, 4_000, 8_000, 10_000] as const;
/** With no word from Slack about when, pause for this long after a refused edit. */
const AFTER_TROUBLE_MS = 5_000;

export interface ProgressEditor {
  /** Replaces the frame that waits for this card, if one does. Made when it is sent, so that it says what is true then. */
  offer(id: RunId, edit: () => Promise<void>): void;
  /** Forgets the waiting frame; resolves when an edit that is on its way has ended. Returns null if none is. */
  drop(id: RunId): Promise<void> | null;
  /** A change of state: the gaps of this card start small again. */
  fresh(id: RunId): void;
  stop(): void;
}

interface Lane {
  pending: (() => Promise<void>) | null;
  flying: Promise<void> | null;
  sent: number;
  nextAtTicks: number;
}

export function makeProgressEditor({
  clock,
  log,
  pace,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly pace: Pace;
}): ProgressEditor {
  const lanes = new Map<RunId, Lane>();
  const over = new AbortController();
  let pausedUntilTicks = Number.NEGATIVE_INFINITY;
  let pumping = false;
  let nudge = new AbortController();

  const lane = (id: RunId): Lane => {
    const found = lanes.get(id) ?? {pending: null, flying: null, sent: 0, nextAtTicks: Number.NEGATIVE_INFINITY};
    lanes.set(id, found);
    return found;
  };
  const send = (id: RunId, one: Lane, edit: () => Promise<void>): void => {
    one.pending = null;
    const gap = CARD_GAPS_MS[Math.min(one.sent, CARD_GAPS_MS.length - 1)] ?? PROGRESS_GAP_MS;
    one.sent += 1;
    one.nextAtTicks = clock.ticks() + gap;
    pace.progressGoes();
    one.flying = edit()
      .catch((error: unknown) => {
        const trouble = troubleOf(error);
        if (trouble.kind === 'throttled') pace.holdEdits(trouble.retryAfterMs);
        else if (trouble.kind === 'later') pausedUntilTicks = clock.ticks() + AFTER_TROUBLE_MS;
        log.warn({runId: id, trouble}, 'a progress edit was dropped');
      })
      .finally(() => {
        one.flying = null;
      });
  };
  const pump = async (): Promise<void> => {
    if (pumping) return;
    pumping = true;
    try {
      while (!over.signal.aborted) {
        const due = [...lanes]
          .filter(([, one]) => one.pending !== null && one.flying === null)
          .toSorted(([, a], [, b]) => a.nextAtTicks - b.nextAtTicks)[0];
        if (due === undefined) {
          const flying = [...lanes.values()].flatMap((one) =>
            one.pending !== null && one.flying !== null ? [one.flying] : [],
          );
          if (flying.length === 0) return;
          await Promise.race(flying);
          continue;
        }
        const [id, one] = due;
        const now = clock.ticks();
        const waitMs = Math.max(pausedUntilTicks - now, one.nextAtTicks - now, pace.progressInMs());
        if (waitMs > 0) await clock.wait(waitMs, AbortSignal.any([over.signal, nudge.signal]));
        // While it waited, the frame may have been replaced by a newer one or dropped.
        else if (one.pending !== null) send(id, one, one.pending);
      }
    } finally {
      pumping = false;
    }
  };

  return {
    offer: (id, edit) => {
      lane(id).pending = edit;
      // A card whose turn is sooner must not wait for one whose turn is later.
      nudge.abort();
      nudge = new AbortController();
      void pump();
    },
    drop: (id) => {
      const one = lanes.get(id);
      lanes.delete(id);
      if (one !== undefined) one.pending = null;
      return one?.flying ?? null;
    },
    fresh: (id) => {
      const one = lane(id);
      one.sent = 0;
      one.nextAtTicks = Number.NEGATIVE_INFINITY;
    },
    stop: () => over.abort(),
  };
}
