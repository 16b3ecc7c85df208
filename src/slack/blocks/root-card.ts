/** The one root message of a run, through its whole life. */
import type {Run} from '../../domain/run.ts';
import {type Message, messageOf, section} from './message.ts';

export interface CardContext {
  readonly nowMs: number;
  /** The command as it was typed: slash commands are invisible to others. */
  readonly command: string;
  /** Ready to stand in a message: `<@U1>`, `<!subteam^S1>`. */
  readonly approvers: readonly string[];
  /** What is being done now, and when the next edit comes at the latest. */
  readonly progress: {readonly line: string; readonly nextUpdateByMs: number} | null;
}

export function rootCard(run: Run, _context: CardContext): Message {
  return messageOf([section(run.host)]);
}
