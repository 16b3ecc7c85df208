/** When a hold ends: one time, as people type it. */
import {fail} from './failure.ts';
import {readWhen} from './schedule-words.ts';

/** `18:00`, `2h`, `in 2h`, `tomorrow 07:30`, `18:00 Europe/Berlin`: one time, and no repeating one. */
export function readUntil(text: string): ReturnType<typeof readWhen> {
  const words = text.trim().split(/\s+/);
  const read = readWhen(/^(\d+[a-z]+)+$/i.test(words.join('')) && !/[ap]m$/i.test(text) ? ['in', ...words] : words);
  if (!read.ok || read.value.when.kind === 'at' || read.value.when.kind === 'after') return read;
  return fail({
    reason: 'schedule-unreadable',
    phrase: text,
    problem: 'it is not one time',
    wayOut: 'say for example until=18:00, until=2h or until="tomorrow 07:30"',
  });
}
