/** What Slack would refuse in a text or in the number of things. */
import {isRecord, lengthOf, textIn} from './limits.ts';

export type Report = (where: string, what: string) => void;

/** A text object: present, not empty, of the right type, short enough. */
export function checkText(value: unknown, most: number, where: string, say: Report, type?: 'plain_text'): void {
  if (!isRecord(value) || (value['type'] !== 'plain_text' && value['type'] !== 'mrkdwn')) {
    say(where, 'is no text object');
    return;
  }
  if (type !== undefined && value['type'] !== type) say(where, `must be ${type}`);
  if (value['type'] === 'plain_text' && value['verbatim'] !== undefined) say(where, 'verbatim is for mrkdwn only');
  checkLength(textIn(value), most, where, say);
}

/** At least one character, at most `most`. */
export function checkLength(text: string, most: number, where: string, say: Report): void {
  if (text.length === 0) say(where, 'is empty');
  if (lengthOf(text) > most) say(where, `${lengthOf(text)} characters, at most ${most}`);
}

export function checkCount(count: number, most: number, what: string, where: string, say: Report): void {
  if (count === 0) say(where, `no ${what}`);
  if (count > most) say(where, `${count} ${what}, at most ${most}`);
}
