/** Private sentences about one run, each with the way to its card: busy, decided, outdated, late, withdrawn. */
import type {Failure} from '../../domain/failure.ts';
import type {HostName} from '../../domain/host.ts';
import {personId} from '../../domain/person.ts';
import type {Run} from '../../domain/run.ts';
import {requestOf} from '../../domain/run-state.ts';
import {busySentence} from '../../report/busy-sentence.ts';
import {code, mrkdwn} from '../escape.ts';
import {failureText} from './failure-text.ts';
import {type Message, messageOf, section} from './message.ts';
import {shortId, withMentions, withTimes} from './people.ts';
import {slackWords} from './slack-words.ts';

/** `link`: as `cardLink` gives it. */
export function aboutRun(failure: Failure, link: string | null): Message {
  return linked(failureText(failure), link);
}

/** `host`: the one that was asked for. */
export function busyMessage(run: Run, host: HostName, mine: boolean, link: string | null): Message {
  const text = mrkdwn(slackWords(busySentence(run, host, mine)), 1_200);
  return linked(`${mine ? '⏳' : '⛔'} ${withTimes(withMentions(text, [personId(requestOf(run).requester)]))}`, link);
}

/** Its button or form came from no run of this store. */
export function unknownRun(command: string): Message {
  return messageOf([
    section(
      `No run belongs to this message any more, so nothing was done. \`${code(command, 30)} runs\` lists those that are known; ask for a fresh look with \`${code(command, 30)} diagnose HOST\`.`,
    ),
  ]);
}

export function cardComes(run: Run): Message {
  return messageOf([
    section(
      `Slack did not take the card of run ${shortId(run.id)} yet; it comes as soon as Slack does. Nothing is signalled.`,
    ),
  ]);
}

/** For whoever asked elsewhere. */
export function cardOpened(run: Run, channel: string, link: string | null): Message {
  return linked(
    `A card for ${mrkdwn(run.host, 60)} is opened in <#${channel}>, run ${shortId(run.id)}. Nothing is signalled before a go on it.`,
    link,
  );
}

/** Nobody could ever press its buttons, and the host would be busy until the plan expires. */
export function cardImpossible(run: Run, error: string): Message {
  return messageOf([
    section(
      `The card of run ${shortId(run.id)} could not be posted (${mrkdwn(error, 60)}), so the plan was withdrawn and nothing was sent. Invite the bot to its channel with /invite, then ask again.`,
    ),
  ]);
}

export function stopsSoon(run: Run, link: string | null): Message {
  return linked(
    `Run ${shortId(run.id)} stops before its next signal; what was sent is sent. Its thread tells how it ends.`,
    link,
  );
}

export function looksNoMore(run: Run, link: string | null): Message {
  return linked(`Nothing more is looked at for run ${shortId(run.id)}.`, link);
}

function linked(text: string, link: string | null): Message {
  return messageOf([section(link === null ? text : `${text}\n${link}`)]);
}
