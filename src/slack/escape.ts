/**
 * The way out for text that a host or a person wrote. Three places, three rules: mrkdwn, code inside mrkdwn, and plain
 * text. What our own code adds around it (mentions, dates, bold) is added after.
 */
import {redactText} from '../domain/redact.ts';
import {safeLine} from '../report/safe-text.ts';
import {lengthOf} from './limits.ts';

/** One line of hostile text for mrkdwn: no entity, mention, link, emphasis or code mark of it is taken for one. */
export function mrkdwn(text: string, limit = 400): string {
  return entities(unmark(redacted(text, limit)));
}

/** One line of hostile text for inside a code block or `inline code`: only entities and the closing mark matter there. */
export function code(text: string, limit = 400): string {
  return entities(redacted(text, limit).replaceAll('`', 'ˋ'));
}

/** One line of hostile text for a plain_text object, where entities may be shown as they stand; its twin is mrkdwn. */
export function plain(text: string, limit = 75): string {
  return safeLine(
    redacted(text, limit).replaceAll('<', '‹').replaceAll('>', '›').replaceAll('`', 'ˋ').replaceAll(BROADCAST, '＠$1'),
    limit,
  );
}

/** `text` is mrkdwn already: at most `limit` long, cut outside of entities, `<…>` and fences, with a visible mark. */
export function cutMrkdwn(text: string, limit: number): string {
  if (lengthOf(text) <= limit) return text;
  const mark = ' (truncated)';
  const fence = '\n```';
  let kept = [...text].slice(0, Math.max(0, limit - mark.length - fence.length)).join('');
  kept = kept.replace(/&[a-z]{0,4}$/, '').replace(/<[^<>]*$/, '');
  // A cut may fall inside of a fence's own three marks.
  kept = kept.replace(/`{1,2}$/, '');
  const open = (kept.match(/```/g)?.length ?? 0) % 2 === 1;
  const inline = !open && (kept.replaceAll('```', '').match(/`/g)?.length ?? 0) % 2 === 1;
  return `${kept.trimEnd()}${open ? fence : inline ? '`' : ''}${mark}`;
}

/** Names that call a whole channel when a client is told to link names; also before a `_`, which may become a look-alike. */
const BROADCAST = /@(here|channel|everyone|group)(?![a-z0-9])/gi;

function redacted(text: string, limit: number): string {
  // Half of a surrogate pair is no Unicode text, and Slack would refuse the whole message for it.
  return safeLine(redactText(safeLine(text, limit).replaceAll(/\p{Surrogate}/gu, '\ufffd')), limit);
}

function entities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Marks become look-alikes where Slack would take them for marks; inside of words (`known_hosts`) they stay. */
function unmark(text: string): string {
  return text
    .replaceAll('`', 'ˋ')
    .replaceAll(BROADCAST, '＠$1')
    .replaceAll(/:\/\//g, ':⁄⁄')
    .replaceAll(/(?<![\p{L}\p{N}])\*|\*(?![\p{L}\p{N}])/gu, '∗')
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, 'ˍ')
    .replaceAll(/(?<![\s(]|^)~|~(?![/\d])/gu, '∼');
}
