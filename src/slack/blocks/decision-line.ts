/** Who decided on a run, what, and when: one line. */
import type {Run} from '../../domain/run.ts';
import {CHOICE_WORD, decisionOf} from '../../report/run-state-line.ts';
import {mrkdwn} from '../escape.ts';
import {mention, mentionOfId, timed} from './people.ts';

/** mrkdwn; null while nobody decided. */
export function decisionLine(run: Run): string | null {
  const decision = decisionOf(run);
  if (decision === null) return null;
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
