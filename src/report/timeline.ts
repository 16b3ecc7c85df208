/** A run's events as lines for reading afterwards, UTC; samples and single sightings are left to the table. */
import {personId} from '../domain/person.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import {clockTime, plural, span} from './amounts.ts';
import {failureSentence} from './failure-sentence.ts';
import {stopResultLine} from './owner-stop-words.ts';
import {planTitle} from './plan-card.ts';
import {noteEntry} from './return-lines.ts';
import {CHOICE_WORD} from './run-state-line.ts';
import {rungLines} from './rung-lines.ts';
import {safeLine} from './safe-text.ts';
import {OUTCOME_WORD} from './wording.ts';
import {stillWritingLines} from './writing-words.ts';

/** "02:03:04  plan 9f2c1ab0: gpu-07: kill -9 1 process? ~378 GiB", oldest first; `time` writes an instant. */
export function timeline(run: Run, time: (atMs: number) => string = clockTime): readonly string[] {
  return run.events.flatMap((event) => said(run, event).map((line) => `${time(event.atMs)}  ${line}`));
}

function said(run: Run, event: RunEvent): readonly string[] {
  switch (event.kind) {
    case 'requested':
      return [`asked by ${safeLine(personId(event.request.requester), 60)}${because(event.request.reason)}`];
    case 'surveyed':
      return [
        `looked: ${plural(event.snapshot.gpus.length, 'GPU', 'GPUs')}, ${plural(event.snapshot.holdings.length, 'holder', 'holders')}`,
      ];
    case 'planned':
      return [
        `plan ${event.digest.slice(0, 8)}${event.by === undefined ? '' : `, chosen by ${safeLine(personId(event.by), 60)}`}: ${planTitle(event.plan)}`,
      ];
    case 'approved':
      return [
        `${event.breakGlass ? 'break-glass go' : 'go'} by ${safeLine(personId(event.by), 60)}: ${CHOICE_WORD[event.choice]}${because(event.reason)}`,
      ];
    case 'denied':
      return [`left by ${safeLine(personId(event.by), 60)}${because(event.reason)}`];
    case 'expired':
      return ['nobody gave the go in time'];
    case 'cancelled':
      return [`stopped by ${safeLine(event.by, 60)}${because(event.reason)}`];
    case 'rechecked':
      return [
        event.drift.length === 0
          ? 'looked again: as planned'
          : `looked again: ${plural(event.drift.length, 'difference', 'differences')} to the plan`,
      ];
    case 'signal-result':
      return rungLines(run, event);
    case 'stop-result':
      return [stopResultLine(event)];
    case 'settled':
      return [SETTLED[event.how]];
    case 'still-writing':
      return stillWritingLines(event);
    case 'link-lost':
    case 'failed':
      return [safeLine(failureSentence(event.failure), 300)];
    case 'looked-again':
      return [event.failure === null ? 'looked again' : safeLine(failureSentence(event.failure), 300)];
    case 'closed':
      return [
        `closed: ${OUTCOME_WORD[event.outcome.word]}${event.outcome.freedAfterMs === null ? '' : `, free after ${span(event.outcome.freedAfterMs)}`}`,
      ];
    case 'noted':
      return noteEntry(run, event);
    case 'signal-intended':
    case 'stop-intended':
    case 'seen':
    case 'memory':
      return [];
  }
}

const SETTLED = {
  expected: 'memory is what the others explain',
  stalled: 'memory stopped falling',
  'timed-out': 'memory still falling when the time was over',
  unreadable: 'memory could not be read',
} as const;

function because(reason: string | null): string {
  return reason === null ? '' : `, reason: ${safeLine(reason, 100)}`;
}
