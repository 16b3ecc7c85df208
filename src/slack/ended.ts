/**
 * Tells whoever asked how their run ended, once, with the way to its card. Owed with the end itself: it is tried until Slack
 * takes it, and begun by one program only.
 */
import type {Run, RunId} from '../domain/run.ts';
import type {Clock, Log, RunStore} from '../engine/ports.ts';
import {isAnswered, troubleOf} from './api-errors.ts';
import {endedMessage, endGoesTo} from './blocks/ended-message.ts';
import type {Poster} from './poster.ts';

export interface EndedDeps {
  readonly store: Pick<RunStore, 'claim' | 'unclaim'>;
  readonly poster: Poster;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** False: the policy keeps the bot out of people's own conversations. */
  readonly wanted: boolean;
  readonly linkOf: (run: Run) => Promise<string | null>;
}

/** Whoever has told the end of this run privately, for whatever reason, has told it for good. */
export function endToldKey(id: RunId): string {
  return `ended:${id}`;
}

/** Throws what Slack or the store threw: then it is still owed. */
export async function tellRequester(deps: EndedDeps, run: Run): Promise<void> {
  const {store, poster, clock, log} = deps;
  const to = deps.wanted ? endGoesTo(run) : null;
  const key = endToldKey(run.id);
  if (to === null || !(await store.claim(key, clock.now()))) return;
  try {
    await poster.post(to, endedMessage(run, await deps.linkOf(run)));
  } catch (error) {
    const trouble = troubleOf(error);
    if (!isAnswered(error)) {
      await store.unclaim(key);
      throw error;
    }
    log.warn({runId: run.id, to, trouble}, 'the end of a run could not be told to who asked for it');
  }
}
