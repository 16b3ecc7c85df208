/** `runs` and `show`: what was done. */
import type {Outcome} from '../domain/outcome.ts';
import {personId} from '../domain/person.ts';
import type {Run, RunEvent} from '../domain/run.ts';
import {readRun} from '../domain/run-words.ts';
import {clockTime, dateTime, plural, span} from '../report/amounts.ts';
import {beforeAfterTable, outcomeLines, outcomeTitle} from '../report/before-after.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {ownerWord, stopResultLine} from '../report/owner-stop-words.ts';
import {planLines, planTitle} from '../report/plan-card.ts';
import {looksAgainLine, noteEntry} from '../report/return-lines.ts';
import {safeLine} from '../report/safe-text.ts';
import {DRIFT_WORD, OPEN_WORD, OUTCOME_WORD, RESULT_WORD, SEEN_WORD} from '../report/wording.ts';
import {stillWritingLines} from '../report/writing-words.ts';
import {confirmText} from './confirm.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';
import {outcomeOf, runJson} from './json.ts';
import {takeUp} from './recovered.ts';

export async function runs(asked: CliContext): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  const recent = await context.engine.recent(20);
  if (!recent.ok) return refuse(context, recent.failure);
  if (context.json) printJson(context, {ok: true, runs: recent.value.map(runJson)});
  else if (recent.value.length === 0) context.terminal.print('No run yet.');
  else for (const run of recent.value) context.terminal.print(runLine(run));
  return EXIT.done;
}

export async function show(asked: CliContext, words: readonly string[]): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  const given = readRun(words);
  const found = await context.engine.find(given);
  if (given === '' || !found.ok)
    return refuse(context, found.ok ? {reason: 'run-unknown', given: '', nearest: []} : found.failure);
  const run = found.value;
  if (context.json) {
    printJson(context, {ok: true, run: runJson(run)});
    return EXIT.done;
  }
  context.terminal.print(runLine(run), '');
  for (const event of run.events) context.terminal.print(...eventLines(run, event));
  const outcome = outcomeOf(run);
  if (outcome !== null) printOutcome(context, run, outcome);
  const planned = run.phase === 'awaiting-go' ? run.events.findLast((event) => event.kind === 'planned') : undefined;
  if (planned?.kind === 'planned')
    context.terminal.print(
      '',
      `Waits for a go until ${dateTime(planned.expiresAtMs)}: gpu-reclaim reclaim ${run.host} --confirm ${confirmText(planned.plan, planned.digest)}`,
    );
  return EXIT.done;
}

export function printOutcome(context: CliContext, run: Run, outcome: Outcome): void {
  const again = looksAgainLine(run);
  context.terminal.print(
    '',
    outcomeTitle(run, outcome),
    ...beforeAfterTable(outcome),
    ...outcomeLines(run, outcome),
    ...(again === null ? [] : [again]),
    `run ${run.id.slice(0, 6)}`,
  );
}

function runLine(run: Run): string {
  const outcome = outcomeOf(run);
  const request = run.events[0]?.kind === 'requested' ? run.events[0].request : null;
  const by = request === null ? '' : ` by ${safeLine(personId(request.requester))}`;
  return `${run.id.slice(0, 6)}  ${dateTime(run.createdAtMs)}  ${run.host}  ${outcome === null ? OPEN_WORD[run.phase] : OUTCOME_WORD[outcome.word]}${by}`;
}

/** One event as lines; memory samples are left to the table. */
function eventLines(run: Run, event: RunEvent): readonly string[] {
  const at = clockTime(event.atMs);
  const say = (text: string): readonly string[] => [`${at}  ${text}`];
  switch (event.kind) {
    case 'requested':
      return say(
        `asked by ${safeLine(personId(event.request.requester))}${event.request.match === null ? '' : ` match=${safeLine(event.request.match)}`}${event.request.gpus === null ? '' : ` gpus=${event.request.gpus.join(',')}`}${event.request.reason === null ? '' : `, reason: ${safeLine(event.request.reason)}`}`,
      );
    case 'surveyed':
      return say(
        `looked: ${plural(event.snapshot.gpus.length, 'GPU', 'GPUs')}, ${plural(event.snapshot.holdings.length, 'holder', 'holders')}`,
      );
    case 'planned':
      return [
        ...say(
          `plan ${event.digest.slice(0, 8)}${event.by === undefined ? '' : `, chosen by ${safeLine(personId(event.by), 60)}`}: ${planTitle(event.plan)}`,
        ),
        ...planLines(event.plan).map((line) => `          ${line.as === 'detail' ? '   ' : ''}${line.text}`),
      ];
    case 'approved':
      return say(
        `go by ${safeLine(personId(event.by))}: ${event.choice === 'terminate-only' ? 'SIGTERM only' : 'SIGTERM, then kill -9'}${event.breakGlass ? `, BREAK-GLASS: ${safeLine(event.reason ?? '')}` : ''}`,
      );
    case 'denied':
      return say(
        `left by ${safeLine(personId(event.by))}${event.reason === null ? '' : `: ${safeLine(event.reason)}`}`,
      );
    case 'expired':
      return say('nobody gave the go in time');
    case 'cancelled':
      return say(`stopped by ${safeLine(event.by)}${event.reason === null ? '' : `: ${safeLine(event.reason)}`}`);
    case 'rechecked':
      return [
        ...say(
          event.drift.length === 0
            ? 'looked again: nothing changed since the plan'
            : 'looked again, changed since the plan:',
        ),
        ...event.drift.map(
          (drift) =>
            `          PID ${drift.pid} ${DRIFT_WORD[drift.what]}${drift.detail === '' ? '' : ` (${safeLine(drift.detail, 60)})`}`,
        ),
      ];
    case 'signal-intended':
      return say(`about to send ${event.signal} to ${plural(event.identities.length, 'process', 'processes')}`);
    case 'signal-result':
      return say(
        `${event.signal} to PID ${event.pid}: ${RESULT_WORD[event.result]}${event.detail === '' ? '' : ` (${safeLine(event.detail, 60)})`}`,
      );
    case 'stop-intended':
      return say(`about to stop ${ownerWord(event.owner)}, ${plural(event.identities.length, 'process', 'processes')}`);
    case 'stop-result':
      return say(stopResultLine(event));
    case 'seen':
      return say(`PID ${event.pid}: ${SEEN_WORD[event.observation]}`);
    case 'memory':
      return [];
    case 'settled':
      return say(
        event.how === 'expected'
          ? 'memory is what the others explain'
          : event.how === 'stalled'
            ? 'memory stopped falling'
            : event.how === 'timed-out'
              ? 'memory still falling when the time was over'
              : 'memory could not be read',
      );
    case 'still-writing':
      return stillWritingLines(event).flatMap(say);
    case 'link-lost':
      return say(failureSentence(event.failure));
    case 'looked-again':
      return say(event.failure === null ? 'looked again' : failureSentence(event.failure));
    case 'failed':
      return say(failureSentence(event.failure));
    case 'closed':
      return say(
        `closed: ${OUTCOME_WORD[event.outcome.word]}${event.outcome.freedAfterMs === null ? '' : `, free after ${span(event.outcome.freedAfterMs)}`}`,
      );
    case 'noted':
      return noteEntry(run, event).flatMap(say);
  }
}
