/** One private sentence: the answer to every command and click that has no card of its own. */
import type {Failure} from '../../domain/failure.ts';
import {mrkdwn} from '../escape.ts';
import {failureText} from './failure-text.ts';
import {type Message, messageOf, section} from './message.ts';
import {withTimes} from './people.ts';

/** Any text, a line of it a line here; nothing in it is taken for markup. Instants in it become the reader's own time. */
export function sentence(text: string): Message {
  const lines = text.split('\n').slice(0, 20);
  return messageOf([section(withTimes(lines.map((line) => mrkdwn(line, 1_200)).join('\n')))]);
}

/** A failure as Slack says it: people as mentions, commands as they are typed here. */
export function failureMessage(failure: Failure): Message {
  return messageOf([section(failureText(failure))]);
}
