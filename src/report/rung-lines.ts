/** One rung of the ladder, told once: when the last answer of its signals is in. */
import type {Run, RunEvent} from '../domain/run.ts';
import {plural, ranges} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {RESULT_WORD} from './wording.ts';

type SignalResult = Extract<RunEvent, {kind: 'signal-result'}>;

/** The rung's results, one line per kind of result; empty unless `event` is the rung's last answer. */
export function rungLines(run: Run, event: SignalResult): readonly string[] {
  const at = run.events.findLastIndex(
    (one) =>
      one.kind === 'signal-result' &&
      one.rung === event.rung &&
      one.pid === event.pid &&
      one.signal === event.signal &&
      one.atMs === event.atMs,
  );
  const from = run.events.findLastIndex(
    (one, index) =>
      index < at && one.kind === 'signal-intended' && one.rung === event.rung && one.signal === event.signal,
  );
  const intent = run.events[from];
  if (intent?.kind !== 'signal-intended') return [];
  const results = run.events
    .slice(from + 1, at + 1)
    .flatMap((one) =>
      one.kind === 'signal-result' && one.rung === event.rung && one.signal === event.signal ? [one] : [],
    );
  const answered = new Set(results.map((one) => one.pid));
  if (!intent.identities.every((identity) => answered.has(identity.pid))) return [];
  return byResult(results);
}

function byResult(results: readonly SignalResult[]): readonly string[] {
  const kinds = [...new Set(results.map((one) => `${one.result} ${one.detail}`))];
  return kinds.flatMap((kind) => {
    const same = results.filter((one) => `${one.result} ${one.detail}` === kind);
    const [first] = same;
    if (first === undefined) return [];
    const signal = first.signal === 'SIGKILL' ? 'kill -9' : 'SIGTERM';
    const detail = first.detail === '' ? '' : ` (${safeLine(first.detail, 60)})`;
    return [
      `${signal} to ${plural(same.length, 'process', 'processes')}: ${RESULT_WORD[first.result]}${detail}; PID ${ranges(same.map((one) => one.pid))}`,
    ];
  });
}
