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

export function shortId(runId: string): string {
  return runId.slice(0, 6);
}
