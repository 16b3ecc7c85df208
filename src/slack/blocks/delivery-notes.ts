/** What is said of the delivery itself, beneath a message: that it is late, or may stand there twice. */
import {span} from '../../report/amounts.ts';
import {fitted} from './fit.ts';
import {context, type Message} from './message.ts';

/** Later than this after what it tells of, ms, a message says so. */
export const LATE_MS = 20_000;

/** `held`: Slack was there and did not take it. */
export function lateNote(lateMs: number, held: boolean): string {
  return `Told ${span(lateMs)} late: ${held ? 'Slack did not take it earlier' : 'it could not be sent earlier'}.`;
}

export const MAYBE_TWICE = 'Slack did not confirm an earlier try, so this may stand here twice.';

/** The message with these sentences beneath it. */
export function noted(message: Message, notes: readonly string[]): Message {
  if (notes.length === 0) return message;
  const said = notes.join(' ');
  return fitted({text: `${message.text}\n${said}`, blocks: [...message.blocks, context(said)]});
}
