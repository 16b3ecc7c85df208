/** What is told in private of a run whose channel takes nothing any more. Pure. */
import type {Run} from '../../domain/run.ts';
import {stateLine} from '../../report/run-state-line.ts';
import {mrkdwn} from '../escape.ts';
import {context, type Message, messageOf, section} from './message.ts';
import {shortId} from './people.ts';
import {threadReplies} from './thread.ts';

const WHY: Readonly<Record<string, string>> = {
  is_archived: 'the channel is archived; somebody there can unarchive it',
  not_in_channel: 'the bot is no member of it; `/invite` it there',
  channel_not_found: 'the channel is gone, or private and the bot was removed; `/invite` it there',
  restricted_action: 'a workspace setting keeps the bot from posting there; an admin can change that',
};

/** The run goes on, and how to watch and to stop it without its card. */
export function awayMessage(run: Run, channel: string, error: string): Message {
  return messageOf([
    section(
      [
        `*${mrkdwn(stateLine(run), 200)}*`,
        `Its card in <#${channel}> cannot be changed any more: ${WHY[error] ?? mrkdwn(error, 60)}.`,
        run.phase === 'awaiting-go'
          ? 'Nobody can press its buttons there: nothing is signalled, and it expires by itself.'
          : 'The run goes on as approved, and its report comes here.',
      ].join('\n'),
    ),
    byHand(run),
  ]);
}

/** The end of it, as its thread would have told it. */
export function endedAwayMessages(run: Run, channel: string, error: string): readonly Message[] {
  const closed = run.events.findLast((event) => event.kind === 'closed');
  const report = closed === undefined ? [] : threadReplies(run, closed);
  return [
    messageOf([
      section(
        `*${mrkdwn(stateLine(run), 200)}*\nTold here because <#${channel}> does not take it: ${WHY[error] ?? mrkdwn(error, 60)}.`,
      ),
      byHand(run),
    ]),
    ...report,
  ];
}

function byHand(run: Run) {
  const id = shortId(run.id);
  return context(`By hand: \`gpu-reclaim show ${id}\` · to stop it: \`gpu-reclaim cancel ${id}\``);
}
