/** Who decided on a run, what, and when. */
import type {Run} from '../../domain/run.ts';
import {approvalOf} from '../../domain/run-state.ts';
import {CHOICE_WORD, decisionOf} from '../../report/run-state-line.ts';
import {mrkdwn} from '../escape.ts';
import {mention, mentionOfId, timed} from './people.ts';

type Decision = NonNullable<ReturnType<typeof decisionOf>>;

/** mrkdwn, a line each: the go, and who stopped it after that. None while nobody decided. */
export function decisionLines(run: Run): readonly string[] {
  const go = approvalOf(run);
  const newest = decisionOf(run);
  if (newest === null) return [];
  const both = go !== null && newest.kind !== 'approved' && newest.atMs >= go.atMs ? [go, newest] : [newest];
  return both.map(line);
}

function line(decision: Decision): string {
  const why = 'reason' in decision && decision.reason !== null ? `: ${mrkdwn(decision.reason, 200)}` : '';
  switch (decision.kind) {
    case 'approved':
      return `${decision.breakGlass ? '🚨 Break-glass go' : 'Go'} by ${mention(decision.by)} at ${timed(decision.atMs)}, ${CHOICE_WORD[decision.choice]}${why}`;
    case 'denied':
      return `Left by ${mention(decision.by)} at ${timed(decision.atMs)}${why}`;
    case 'expired':
      return `Nobody gave the go before ${timed(decision.atMs)}`;
    case 'cancelled':
      return `Stopped by ${mentionOfId(decision.by)} at ${timed(decision.atMs)}${why}`;
  }
}
