/** Private sentences that are about no run: who is heard where, and what is known no more. */
import {code, mrkdwn} from '../escape.ts';
import {type Message, messageOf, section} from './message.ts';

/** Members of one group that are named; the rest is counted. */
const MOST_MEMBERS = 8;

export function otherWorkspace(): Message {
  return say('This bot answers people of its own workspace only. Ask somebody there; nothing was done.');
}

/** `alone`: in somebody's own conversation with the bot. `channels`: ids of those where it is heard. */
export function notHere(alone: boolean, channels: readonly string[], command: string): Message {
  const where = channels.map((channel) => `<#${channel}>`).join(', ');
  const here = alone ? 'Not here, where nobody else sees it' : 'Not in this channel';
  return say(`${here}: use ${where}. \`${code(command, 30)} help\` answers everywhere.`);
}

/** Who may give a go by a group, as Slack says it now. */
export function groupMembers(groups: readonly {readonly group: string; readonly users: readonly string[]}[]): Message {
  return say(
    groups
      .map(({group, users}) => {
        const shown = users.slice(0, MOST_MEMBERS).map((user) => `<@${user}>`);
        const more = users.length - shown.length;
        const names = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
        return `In <!subteam^${group}> now: ${users.length === 0 ? 'nobody' : names}.`;
      })
      .join('\n'),
  );
}

export function groupsUnread(unread: readonly {readonly group: string; readonly error: string}[]): Message {
  const groups = unread.map(({group, error}) => `<!subteam^${group}> (${mrkdwn(error, 60)})`).join(', ');
  return say(
    `Slack did not say who is in ${groups}, so nobody counts as a member now. Try again in a moment; if it stays, an admin checks the bot's scope \`usergroups:read\`.`,
  );
}

export function wentWrong(): Message {
  return say('Something went wrong on our side, and it is in the log. Nothing more is done for this; try again.');
}

export function formTooLate(): Message {
  return say('Slack did not open the form in time, and nothing was decided. Press the button again.');
}

export function unknownForm(): Message {
  return say('This form is not known to the bot any more; nothing was done.');
}

export function unknownButton(): Message {
  return say('This button is not known to the bot any more; nothing was done.');
}

function say(text: string): Message {
  return messageOf([section(text)]);
}
