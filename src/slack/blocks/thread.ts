/** What the thread of a run says: one message for each new fact, none for events that are no news. */
import type {Run, RunEvent} from '../../domain/run.ts';
import type {Message} from './message.ts';

export interface ThreadContext {
  /** Mention-ready; named once, under the first plan. */
  readonly approvers: readonly string[];
}

export function threadReplies(
  _run: Run,
  _event: RunEvent,
  _context: ThreadContext = {approvers: []},
): readonly Message[] {
  return [];
}

/** Whether this reply also goes to the channel: only a final outcome that failed, is partial, or took long. */
export function broadcasts(_run: Run, _event: RunEvent): boolean {
  return false;
}
