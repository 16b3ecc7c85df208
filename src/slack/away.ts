/**
 * A run whose channel takes nothing any more (archived, the bot removed): the run goes on, and whoever asked for it is told
 * privately, once at the time and once more at its end. Should the channel come back, its card and thread catch up.
 */
import type {Person} from '../domain/person.ts';
import type {Run} from '../domain/run.ts';
import {approvalOf, requestOf} from '../domain/run-state.ts';
import type {Clock, Log, RunStore} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import {awayMessage, endedAwayMessages} from './blocks/away-message.ts';
import type {Message} from './blocks/message.ts';
import {endToldKey} from './ended.ts';
import type {Poster} from './poster.ts';

export interface Away {
  /** Tells what is not told yet. Throws what Slack or the store threw: then it is still owed. */
  tell(run: Run, channel: string, error: string): Promise<void>;
}

export function makeAway(deps: {
  readonly store: Pick<RunStore, 'claim' | 'unclaim'>;
  readonly poster: Poster;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Where it is told if nobody of Slack asked for it. */
  readonly channel: string;
  readonly command: string;
}): Away {
  const {store, poster, clock, log} = deps;

  const once = async (key: string, to: string, messages: () => readonly Message[]): Promise<void> => {
    if (!(await store.claim(key, clock.now()))) return;
    try {
      for (const message of messages()) await poster.post(to, message);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble.kind === 'later' || trouble.kind === 'throttled') {
        await store.unclaim(key);
        throw error;
      }
      log.error({to, trouble}, 'a run could not be told anywhere; the terminal has it');
    }
  };

  return {
    tell: async (run, channel, error) => {
      const to = readerOf(run) ?? (channel === deps.channel ? null : deps.channel);
      if (to === null) return;
      if (run.phase !== 'closed') await once(`away:${run.id}`, to, () => [awayMessage(run, channel, error)]);
      else await once(endToldKey(run.id), to, () => endedAwayMessages(run, channel, error));
    },
  };
}

/** Whoever asked; else whoever gave the go. */
function readerOf(run: Run): string | null {
  const idOf = (person: Person | undefined): string | null => (person?.kind === 'slack-user' ? person.id : null);
  return idOf(requestOf(run).requester) ?? idOf(approvalOf(run)?.by);
}
