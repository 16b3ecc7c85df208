/** The end of a run, told to whoever asked for it in their own conversation with the bot; and the one reminder before. Pure. */
import type {OutcomeWord} from '../../domain/outcome.ts';
import {personId} from '../../domain/person.ts';
import type {Run, RunEvent} from '../../domain/run.ts';
import {outcomeOf, requestOf} from '../../domain/run-state.ts';
import {outcomeTitle} from '../../report/before-after.ts';
import {nextStep} from '../../report/next-step.ts';
import {mrkdwn} from '../escape.ts';
import {decisionLines} from './decision-line.ts';
import {context, type Message, messageOf, section} from './message.ts';
import {mentions, shortId, timed} from './people.ts';
import {slackWords} from './slack-words.ts';

/** Whoever did something on the run within this time sees its card. */
const SEES_IT_MS = 2 * 60_000;

/** What one must hear of, also when one has just pressed the button oneself. */
const BAD: readonly OutcomeWord[] = ['partly', 'nothing-freed', 'failed', 'interrupted', 'unknown'];

/** To whom: a member's id; null: a terminal's user, or somebody who sees the end on the card. */
export function endGoesTo(run: Run): string | null {
  const {requester} = requestOf(run);
  const end = run.events.findLast((event) => event.kind === 'closed');
  if (requester.kind !== 'slack-user' || end?.kind !== 'closed') return null;
  if (BAD.includes(end.outcome.word)) return requester.id;
  const me = personId(requester);
  const last = Math.max(...run.events.filter((event) => doerOf(event) === me).map(({atMs}) => atMs));
  return end.atMs - last > SEES_IT_MS ? requester.id : null;
}

/** `link`: to the card. */
export function endedMessage(run: Run, link: string | null): Message {
  const outcome = outcomeOf(run);
  if (outcome === null) throw new Error(`Internal error: run ${run.id} has not ended`);
  const next = nextStep(run, outcome);
  return messageOf([
    section(
      [
        `*${mrkdwn(outcomeTitle(run, outcome), 300)}*`,
        ...decisionLines(run),
        ...(next === null ? [] : [mrkdwn(slackWords(next), 600)]),
      ].join('\n'),
    ),
    context(`You asked for run ${shortId(run.id)}${link === null ? '' : ` · ${link}`}`),
  ]);
}

/** To approvers, once, in the thread. `approvers`: mention-ready. */
export function reminderMessage(approvers: readonly string[], expiresAtMs: number): Message {
  return messageOf([
    section(
      `⏰ ${mentions(approvers)}: this plan still waits for a decision, until ${timed(expiresAtMs)}. Nothing is signalled without one; there is no second reminder.`,
    ),
  ]);
}

/** `personId` of whoever did it; null: the bot itself. */
function doerOf(event: RunEvent): string | null {
  switch (event.kind) {
    case 'requested':
      return personId(event.request.requester);
    case 'approved':
    case 'denied':
      return personId(event.by);
    case 'cancelled':
      return event.by;
    default:
      return null;
  }
}
