/** Failures as Slack says them: people as mentions, commands as they are typed here. */
import type {Failure} from '../../domain/failure.ts';
import {failureSentence} from '../../report/failure-sentence.ts';
import {mrkdwn} from '../escape.ts';
import {withMentions, withTimes} from './people.ts';
import {slackWords} from './slack-words.ts';

const MOST_LINES = 20;

/** mrkdwn, one line or more, each of at most `limit` characters. */
export function failureText(failure: Failure, limit = 1_200): string {
  const lines = slackWords(failureSentence(asHere(failure))).split('\n');
  const more = lines.length - MOST_LINES;
  const text = [
    ...lines.slice(0, MOST_LINES).map((line) => mrkdwn(line, limit)),
    ...(more > 0 ? [`… ${more} more lines`] : []),
  ].join('\n');
  return withTimes(withMentions(text, peopleIn(failure)));
}

/** Whom somebody in Slack can ask stands first; an approver by a login is one at a terminal. */
function asHere(failure: Failure): Failure {
  if (!('approvers' in failure)) return failure;
  const isHere = (name: string) => name.startsWith('@');
  return {
    ...failure,
    approvers: [
      ...failure.approvers.filter(isHere),
      ...failure.approvers.filter((name) => !isHere(name)).map((name) => `${name} (terminal)`),
    ],
  };
}

/** Ids that this failure itself names: no other text may become a mention. */
function peopleIn(failure: Failure): readonly string[] {
  return [
    ...('person' in failure ? [failure.person] : []),
    ...('by' in failure ? [failure.by] : []),
    ...('approvers' in failure ? failure.approvers : []),
    ...('hold' in failure ? [failure.hold.by] : []),
    ...('holds' in failure ? failure.holds.map(({by}) => by) : []),
  ];
}
