/** What the signalling script said: one event a line, then, where it got so far, the sections of a closing probe. */
import {fail, ok, type Result} from '../failure.ts';
import type {Observation, OrderResult, SignalEvent, SignalReport, StopResult} from '../order.ts';
import type {Signal} from '../signal.ts';
import type {Snapshot} from '../snapshot.ts';
import type {Transcript} from '../transcript.ts';
import {parseProbe} from './probe-output.ts';

const ORDER_RESULTS: ReadonlySet<string> = new Set<OrderResult>([
  'sent',
  'gone',
  'replaced',
  'not-holding',
  'unreadable',
  'other-machine',
  'late',
  'denied-by-host',
  'not-permitted',
  'failed',
]);
const STOP_RESULTS: ReadonlySet<string> = new Set<StopResult>([
  'stopped',
  'changed',
  'other-machine',
  'late',
  'denied-by-host',
  'refused-by-owner',
  'not-permitted',
  'failed',
  'timed-out',
]);
const OBSERVATIONS: ReadonlySet<string> = new Set<Observation>(['alive', 'zombie', 'stuck', 'gone', 'replaced']);
const SETTLED: ReadonlySet<string> = new Set(['expected', 'stalled', 'timed-out', 'unreadable']);

/**
 * One whole line of a signalling exec, without its newline, as an event; null for every other line (markers, the
 * probe's sections, noise, anything malformed). `nonce` is the one of this exec: a line without it is not ours.
 */
export function parseSignalLine(nonce: string, line: string): SignalEvent | null {
  const start = `@@${nonce} e `;
  if (nonce === '' || !line.startsWith(start)) return null;
  const [kind, ...words] = line.slice(start.length).trimEnd().split(' ');
  switch (kind) {
    case 'order':
      return order(words);
    case 'stop':
      return stop(words);
    case 'seen':
      return seen(words);
    case 'heartbeat':
      return words.length === 1 ? timed(words[0], (uptimeMs) => ({kind: 'heartbeat', uptimeMs})) : null;
    case 'memory':
      return memory(words);
    case 'settled':
      return settled(words);
    default:
      return null;
  }
}

/**
 * The whole answer of a signalling exec. `takenAtMs` is the bot's clock, epoch ms, for the closing snapshot. Fails with
 * `probe-unreadable` only if not even the script's BEGIN is there; an answer that was cut later is `complete: false`.
 */
export function parseSignal(transcript: Transcript, takenAtMs: number): Result<SignalReport> {
  const {nonce} = transcript;
  const text = new TextDecoder().decode(transcript.stdout);
  // A line that lacks its newline was cut: half a number would be another number.
  const lines = text.split('\n').slice(0, -1);
  const begin = lines.indexOf(`@@${nonce} BEGIN signal 1`);
  if (nonce === '' || begin < 0) {
    return fail({
      reason: 'probe-unreadable',
      host: transcript.host,
      section: 'signal',
      detail: text.includes(`@@${nonce} BEGIN `) ? 'unknown version' : 'no BEGIN marker',
    });
  }
  const end = lines.findIndex((line) => line.startsWith(`@@${nonce} END `));
  const own = lines.slice(begin, end < 0 ? undefined : end);
  const events = own.map((line) => parseSignalLine(nonce, line)).filter((event) => event !== null);
  const probed = own.some((line) => line.startsWith(`@@${nonce} begin `));
  const closing = probed ? closingSnapshot(transcript, takenAtMs) : null;
  const complete = end >= 0 && lines[end] === `@@${nonce} END 0` && (!probed || closing !== null);
  return ok({events, closing, complete});
}

function closingSnapshot(transcript: Transcript, takenAtMs: number): Snapshot | null {
  const parsed = parseProbe(transcript, takenAtMs);
  return parsed.ok ? parsed.value : null;
}

function order(words: readonly string[]): SignalEvent | null {
  const [pidText, signal, result, uptime, handle, detail] = words;
  const pid = digits(pidText);
  if (words.length !== 6 || pid === null || !isSignal(signal) || !isOrderResult(result)) return null;
  if ((handle !== 'pidfd' && handle !== 'pid') || detail === undefined) return null;
  return timed(uptime, (uptimeMs) => {
    return {kind: 'order', pid, signal, result, detail: detail === '-' ? '' : detail, uptimeMs, handle};
  });
}

function stop(words: readonly string[]): SignalEvent | null {
  const [result, uptime, detail] = words;
  if (words.length !== 3 || !isStopResult(result) || detail === undefined) return null;
  return timed(uptime, (uptimeMs) => ({kind: 'stop', result, detail: detail === '-' ? '' : detail, uptimeMs}));
}

function seen(words: readonly string[]): SignalEvent | null {
  const [pidText, observation, uptime] = words;
  const pid = digits(pidText);
  if (words.length !== 3 || pid === null || !isObservation(observation)) return null;
  return timed(uptime, (uptimeMs) => ({kind: 'seen', pid, observation, uptimeMs}));
}

function memory(words: readonly string[]): SignalEvent | null {
  const [uptime, ...pairs] = words;
  const used: [string, number][] = [];
  for (const pair of pairs) {
    const match = /^([A-Za-z0-9-]+)=(\d{1,9})$/.exec(pair);
    if (match?.[1] === undefined) return null;
    used.push([match[1], Number(match[2])]);
  }
  return timed(uptime, (uptimeMs) => ({kind: 'memory', uptimeMs, usedMiB: Object.fromEntries(used)}));
}

function settled(words: readonly string[]): SignalEvent | null {
  const [how, uptime] = words;
  if (words.length !== 2 || !isSettled(how)) return null;
  return timed(uptime, (uptimeMs) => ({kind: 'settled', how, uptimeMs}));
}

function timed(uptime: string | undefined, event: (uptimeMs: number) => SignalEvent): SignalEvent | null {
  const uptimeMs = digits(uptime);
  return uptimeMs === null ? null : event(uptimeMs);
}

function digits(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function isSignal(word: string | undefined): word is Signal {
  return word === 'SIGTERM' || word === 'SIGKILL';
}

function isOrderResult(word: string | undefined): word is OrderResult {
  return word !== undefined && ORDER_RESULTS.has(word);
}

function isStopResult(word: string | undefined): word is StopResult {
  return word !== undefined && STOP_RESULTS.has(word);
}

function isObservation(word: string | undefined): word is Observation {
  return word !== undefined && OBSERVATIONS.has(word);
}

function isSettled(word: string | undefined): word is 'expected' | 'stalled' | 'timed-out' | 'unreadable' {
  return word !== undefined && SETTLED.has(word);
}
