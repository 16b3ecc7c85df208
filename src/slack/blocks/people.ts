/** People, times and names of runs as Slack shows them. */
import type {Person} from '../../domain/person.ts';
import {dateTime} from '../../report/amounts.ts';
import {mrkdwn} from '../escape.ts';

/** `<@U123>` for a member, the plain name for somebody at a terminal. */
export function mention(person: Person): string {
  return person.kind === 'slack-user' ? mentionOfId(`slack:${person.id}`) : `${mrkdwn(person.name, 40)} (terminal)`;
}

/** The same for a stored `personId`: "slack:U123", "os:anna". */
export function mentionOfId(id: string): string {
  const [, user] = /^slack:([UW][A-Z0-9]{1,30})$/.exec(id) ?? [];
  if (user !== undefined) return `<@${user}>`;
  const [, name] = /^os:(.+)$/s.exec(id) ?? [];
  return name === undefined ? mrkdwn(id, 40) : `${mrkdwn(name, 40)} (terminal)`;
}

/**
 * Turns each of these ids ("slack:U1", "@U1", "@S1", as sentences name them) into a mention wherever it stands in escaped
 * text. Only ids that our own records hold may be given: no other text may become a mention.
 */
export function withMentions(text: string, ids: readonly string[]): string {
  const known = ids.filter((id) => /^(slack:[UW]|@[UWS])[A-Z0-9]{1,30}$/.test(id));
  return known.reduce((all, id) => all.replaceAll(new RegExp(`${id}(?![A-Z0-9])`, 'g'), shortMention(id)), text);
}

function shortMention(id: string): string {
  if (id.startsWith('slack:')) return mentionOfId(id);
  return id.startsWith('@S') ? `<!subteam^${id.slice(1)}>` : `<@${id.slice(1)}>`;
}

/** Approvers as they were handed in; what is no mention of a person or group is shown as plain text. */
export function mentions(approvers: readonly string[]): string {
  if (approvers.length === 0) return 'nobody is listed';
  const safe = approvers.map((one) => (/^<(@[UW]|!subteam\^S)[A-Z0-9]+>$/.test(one) ? one : mrkdwn(one, 40)));
  const shown = safe.slice(0, 8).join(', ');
  return safe.length > 8 ? `${shown} and ${safe.length - 8} more` : shown;
}

/** The reader's own time zone, with UTC where Slack cannot say it. */
export function dated(atMs: number): string {
  return `<!date^${Math.floor(atMs / 1000)}^{date_short} {time_secs}|${dateTime(atMs)}>`;
}

/** Time alone, for moments close to now. */
export function timed(atMs: number): string {
  return `<!date^${Math.floor(atMs / 1000)}^{time_secs}|${dateTime(atMs)}>`;
}

/** Every instant in escaped text as its reader's own time: our sentences say them in UTC, the same for all. */
export function withTimes(text: string, show: (atMs: number) => string = dated): string {
  return text.replaceAll(/(?<!\|)\b(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) UTC\b/g, (utc, ...parts) => {
    const [year, month, day, hour, minute, second] = parts.slice(0, 6).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const atMs = Date.UTC(year, month - 1, day, hour, minute, second);
    return dateTime(atMs) === utc ? show(atMs) : utc;
  });
}

export function shortId(runId: string): string {
  return runId.slice(0, 6);
}
