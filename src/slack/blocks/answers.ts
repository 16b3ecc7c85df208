/** One private sentence: the answer to every command and click that has no card of its own. */
import type {Failure} from '../../domain/failure.ts';
import {failureSentence} from '../../report/failure-sentence.ts';
import {mrkdwn} from '../escape.ts';
import {type Message, messageOf, section} from './message.ts';
import {mentionOfId} from './people.ts';
import {slackWords} from './slack-words.ts';

/** Any text, a line of it a line here; nothing in it is taken for markup. */
export function sentence(text: string): Message {
  const lines = text.split('\n').slice(0, 20);
  return messageOf([section(lines.map((line) => mrkdwn(line, 1_200)).join('\n'))]);
}

/** A failure as Slack says it: people as mentions, commands as they are typed here. */
export function failureMessage(failure: Failure): Message {
  const lines = slackWords(failureSentence(failure)).split('\n').slice(0, 20);
  let text = lines.map((line) => mrkdwn(line, 1_200)).join('\n');
  for (const id of peopleIn(failure)) text = text.replaceAll(id, mentionOf(id));
  return messageOf([section(text)]);
}

/** Ids that this failure itself names: no other text may become a mention. */
function peopleIn(failure: Failure): readonly string[] {
  const named = [
    ...('person' in failure ? [failure.person] : []),
    ...('by' in failure ? [failure.by] : []),
    ...('approvers' in failure ? failure.approvers : []),
  ];
  return named.filter((id) => /^(slack:[UW]|@[UWS])[A-Z0-9]{2,30}$/.test(id));
}

function mentionOf(id: string): string {
  if (id.startsWith('slack:')) return mentionOfId(id);
  return id.startsWith('@S') ? `<!subteam^${id.slice(1)}>` : `<@${id.slice(1)}>`;
}
