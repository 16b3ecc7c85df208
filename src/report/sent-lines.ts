/** What was sent, what was not and why, and what may have been: from the run's own events. */
import type {Drift, Run} from '../domain/run.ts';
import type {Signal} from '../domain/signal.ts';
import {plural, ranges, somePids} from './amounts.ts';
import {stopLines} from './owner-stop-words.ts';
import {safeLine} from './safe-text.ts';
import {DRIFT_WORD, RESULT_WORD} from './wording.ts';

/** Of one kind that have a line of their own. */
const MOST_ALIKE = 8;

const SIGNAL_WORD: Readonly<Record<Signal, string>> = {SIGTERM: 'SIGTERM', SIGKILL: 'kill -9'};

export function sentLines(run: Run): readonly string[] {
  return [
    ...driftLines(run),
    ...stopLines(run),
    ...(['SIGTERM', 'SIGKILL'] as const).flatMap((signal) => oneSignal(run, signal)),
  ];
}

/** Differences between the approved plan and the look before the first signal. */
export function driftLines(run: Run): readonly string[] {
  const rechecked = run.events.findLast((event) => event.kind === 'rechecked');
  if (rechecked?.kind !== 'rechecked') return [];
  return driftWords(rechecked.drift).map((line) => `Since the plan: ${line}`);
}

/** "PID 7 ended by itself", one line each; many of one kind as one line that counts them. */
export function driftWords(drift: readonly Drift[]): readonly string[] {
  return [...new Set(drift.map(({what}) => what))].flatMap((what) => {
    const same = drift.filter((one) => one.what === what);
    if (same.length > MOST_ALIKE)
      return [`${plural(same.length, 'process', 'processes')}, each ${DRIFT_WORD[what]}: ${somePids(same)}`];
    return same.map(
      ({pid, detail}) =>
        `${pid === 0 ? '' : `PID ${pid} `}${DRIFT_WORD[what]}${detail === '' ? '' : ` (${safeLine(detail, 60)})`}`,
    );
  });
}

function oneSignal(run: Run, signal: Signal): readonly string[] {
  const word = SIGNAL_WORD[signal];
  const results = run.events.flatMap((event) =>
    event.kind === 'signal-result' && event.signal === signal ? [event] : [],
  );
  const sent = results.filter((one) => one.result === 'sent').map((one) => one.pid);
  const lines =
    sent.length === 0 ? [] : [`Sent: ${word} to ${plural(sent.length, 'process', 'processes')} (PID ${ranges(sent)})`];
  const refused = results.filter(({result}) => result !== 'sent' && result !== 'gone');
  for (const kind of new Set(refused.map(({result, detail}) => `${result} ${detail}`))) {
    const same = refused.filter(({result, detail}) => `${result} ${detail}` === kind);
    const told = same.length > MOST_ALIKE ? same.slice(0, 1) : same;
    for (const one of told) {
      const who =
        told.length < same.length
          ? `${plural(same.length, 'process', 'processes')}, ${somePids(same)}`
          : `PID ${one.pid}`;
      lines.push(
        `Not sent: ${word} to ${who}: ${RESULT_WORD[one.result]}${one.detail === '' ? '' : ` (${safeLine(one.detail, 60)})`}`,
      );
    }
  }
  const doubtful = intended(run, signal).filter((pid) => !results.some((one) => one.pid === pid));
  if (doubtful.length > 0)
    lines.push(
      isOnItsWay(run)
        ? // An intent is written down before it is sent: in a run at work the answer is only not here yet.
          `On its way: ${word} to PID ${ranges(doubtful)}; not answered yet`
        : `May have been sent: ${word} to PID ${ranges(doubtful)}; no answer came back`,
    );
  return lines;
}

/** A rung of a run at work whose link still stands. */
function isOnItsWay(run: Run): boolean {
  const intent = run.events.findLastIndex(({kind}) => kind === 'signal-intended');
  return run.phase === 'executing' && !run.events.slice(intent).some(({kind}) => kind === 'link-lost');
}

function intended(run: Run, signal: Signal): readonly number[] {
  return run.events.flatMap((event) =>
    event.kind === 'signal-intended' && event.signal === signal ? event.identities.map((identity) => identity.pid) : [],
  );
}
