/** What a command is answered that has no card and no list: stopped, paused, resumed, still looking. */
import type {Run} from '../../domain/run.ts';
import {code} from '../escape.ts';
import {stopsSoon} from './about-run.ts';
import {type Message, messageOf, section} from './message.ts';
import {dated, mentionOfId, shortId} from './people.ts';

export function stillLooking(): Message {
  return say('Still looking; nothing is signalled by that.');
}

/** `link`: as `cardLink` gives it. */
export function cancelledAnswer(run: Run, link: string | null): Message {
  if (run.phase !== 'closed') return stopsSoon(run, link);
  return say(`Run ${shortId(run.id)} is cancelled; nothing was sent.${link === null ? '' : `\n${link}`}`);
}

export function pausedAnswer(command: string): Message {
  return say(
    `Paused: nothing is signalled anywhere until an approver says \`${code(command, 30)} resume\`. Open runs stop before their next signal.`,
  );
}

/** `before`: who had paused it, as `personId`; null: nobody. */
export function resumedAnswer(before: {readonly by: string; readonly atMs: number} | null): Message {
  return say(
    before === null
      ? 'It was not paused.'
      : `Resumed. It was paused by ${mentionOfId(before.by)} at ${dated(before.atMs)}.`,
  );
}

function say(text: string): Message {
  return messageOf([section(text)]);
}
