/** One reminder to the approvers of a plan that has waited for half of its time. Never a second, and none while all is paused. */
import type {Run} from '../domain/run.ts';
import {planOf} from '../domain/run-state.ts';
import type {Clock, Log, RunStore} from '../engine/ports.ts';
import {isDrill} from '../report/practice.ts';
import {isAnswered, mayBeDone, troubleOf} from './api-errors.ts';
import {reminderMessage} from './blocks/ended-message.ts';
import type {Poster} from './poster.ts';

/** A plan that waits no longer than this needs none. */
const SHORT_MS = 2 * 60_000;

export function makeReminders(deps: {
  readonly store: Pick<RunStore, 'openRuns' | 'paused' | 'cardOf' | 'claim' | 'unclaim'>;
  readonly poster: Poster;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Mention-ready; those of the terminal are not called. */
  readonly approvers: readonly string[];
}): () => Promise<void> {
  const {store, poster, clock, log} = deps;
  const called = deps.approvers.filter((one) => one.startsWith('<'));

  const remind = async (run: Run, expiresAtMs: number): Promise<void> => {
    const card = await store.cardOf(run.id);
    const key = `reminded:${run.id}`;
    // Claimed before it is sent: of a crash in between comes one too few, never one too many.
    if (card === null || !(await store.claim(key, clock.now()))) return;
    try {
      await poster.reply(card, reminderMessage(called, expiresAtMs), false);
    } catch (error) {
      const trouble = troubleOf(error);
      if (!mayBeDone(error) && !isAnswered(error)) await store.unclaim(key);
      log.warn({runId: run.id, trouble}, 'approvers could not be reminded');
    }
  };

  return async () => {
    if (called.length === 0) return;
    const due = (await store.openRuns()).flatMap((run) => {
      const expiresAtMs = dueFor(run, clock.now());
      return expiresAtMs === null ? [] : [{run, expiresAtMs}];
    });
    if (due.length === 0 || (await store.paused()) !== null) return;
    for (const {run, expiresAtMs} of due) await remind(run, expiresAtMs);
  };
}

/** When its plan expires, if it has waited for half of its time; null: not yet, or not any more. */
function dueFor(run: Run, nowMs: number): number | null {
  const shown = planOf(run);
  if (run.phase !== 'awaiting-go' || shown === null || isDrill(run)) return null;
  const lifeMs = shown.expiresAtMs - shown.atMs;
  const waits = lifeMs > SHORT_MS && nowMs >= shown.atMs + lifeMs / 2 && nowMs < shown.expiresAtMs;
  return waits ? shown.expiresAtMs : null;
}
