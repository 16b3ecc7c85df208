/** The text of one signalling command: constant script files, then the batch as data words. */
import {readFileSync} from 'node:fs';
import type {ExpectedMemory, Order, SignalBatch, StopOrder} from '../domain/order.ts';
import type {ProcessIdentity} from '../domain/process.ts';
import {RUN_SHAPE} from '../domain/stop-owner.ts';
import {ownerWords} from './owned-script.ts';
import {probeFunctions, probeWords, scriptText} from './probe-script.ts';
import {quote} from './quote.ts';

/**
 * The stdin text of one signalling exec. Its first and last line are `#FRAMENONCE`, so that the guard in the exec string
 * runs it whole or not at all. `nonce` marks the output and must be another one: the frame's stands in argv, where every
 * user of the host can read it. Every value travels as a quoted word or not at all: a value of another shape is a bug.
 */
export function signalScript(
  nonce: string,
  frameNonce: string,
  batch: SignalBatch,
  host: {readonly deviceFolder: string},
): string {
  const identity = scriptText('identity');
  const closing = {literals: [], pids: batch.watch.map((watched) => watched.pid)};
  return [
    `#${frameNonce}`,
    probeFunctions(),
    identity,
    ...['send', 'watch', 'memory', 'signal'].map(scriptText),
    // Only where it is approved: any other command has no word that could stop an owner.
    ...(batch.stop === null ? [] : ['cgroup', 'stop'].map(scriptText)),
    `IDENTITY_TEXT=${quote(identity)}`,
    `PIDFD_PERL=${quote(senderText('pidfd.pl'))}`,
    `PIDFD_PYTHON=${quote(senderText('pidfd.py'))}`,
    ...assignments(nonce, batch, host.deviceFolder),
    ...stopAssignments(batch.stop),
    `signal_main ${probeWords(closing, host)} </dev/null`,
    'exit $?',
    `#${frameNonce}`,
  ].join('\n');
}

function assignments(nonce: string, batch: SignalBatch, deviceFolder: string): readonly string[] {
  // mksh counts in 31 bits: whole seconds and hundredths travel apart.
  const limitCenti = Math.floor(batch.notAfterUptimeMs / 10);
  const words: Readonly<Record<string, string>> = {
    NONCE: word(nonce),
    RUN_ID: word(batch.runId),
    REQUESTER: word(batch.requester),
    APPROVER: word(batch.approver),
    DEVICE_FOLDER: word(deviceFolder),
    BOOT_ID: word(batch.machine.bootId),
    PID_NAMESPACE: word(batch.machine.pidNamespace),
    LIMIT_SEC: count(Math.floor(limitCenti / 100)),
    LIMIT_CENTI: count(limitCenti % 100),
    WATCH_CENTI: centi(batch.watchMs),
    VERIFY_CENTI: centi(batch.verifyMs),
    STALLED_CENTI: centi(batch.stalledMs),
    FINAL: batch.final ? 'yes' : 'no',
    ORDERS: batch.orders.map(orderWords).join(' '),
    WATCHED: batch.watch.map(watchedWords).join(' '),
    EXPECTED: batch.expected.map(expectedWord).join(' '),
  };
  return Object.entries(words).map(([name, value]) => `${name}=${quote(value)}`);
}

/** The names of owners hold characters that no other word does, so that each is checked by its own shape. */
function stopAssignments(stop: StopOrder | null): readonly string[] {
  if (stop === null) return [`STOP_KIND=''`];
  const [kind = '', id = '', folder = ''] = ownerWords(stop);
  if (!RUN_SHAPE.test(stop.run))
    throw new Error(`Internal error: ${JSON.stringify(stop.run)} names no run of an owner`);
  const words: Readonly<Record<string, string>> = {
    STOP_KIND: kind,
    STOP_ID: id,
    STOP_FOLDER: folder,
    STOP_RUN: stop.run,
    STOP_SECONDS: count(Math.ceil(stop.graceMs / 1000)),
    STOP_CENTI: centi(stop.timeoutMs),
    STOP_MEMBERS: stop.members.map(memberWords).join(' '),
  };
  return Object.entries(words).map(([name, value]) => `${name}=${quote(value)}`);
}

function memberWords({identity, mustHold}: StopOrder['members'][number]): string {
  const {pid, startTicks, uid, executable} = identity;
  return [count(pid), word(startTicks), count(uid), word(executable), HOLD_WORD[mustHold]].join(' ');
}

/** How identity.sh spells what must still be held. */
const HOLD_WORD: Readonly<Record<Order['mustHold'], string>> = {
  paths: 'hold',
  numbers: 'number',
  queue: 'queue',
  nothing: 'any',
};

function orderWords({identity, signal, mustHold}: Order): string {
  const {pid, startTicks, uid, executable} = identity;
  return [count(pid), word(startTicks), count(uid), word(executable), signal, HOLD_WORD[mustHold]].join(' ');
}

function watchedWords({pid, startTicks}: ProcessIdentity): string {
  return `${count(pid)} ${word(startTicks)}`;
}

function expectedWord({gpuUuid, atMostMiB}: ExpectedMemory): string {
  return `${word(gpuUuid)}:${atMostMiB === null ? '-' : count(Math.floor(atMostMiB))}`;
}

/** Milliseconds as hundredths of a second, rounded up. */
function centi(ms: number): string {
  return count(Math.ceil(ms / 10));
}

function count(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`Internal error: ${value} is no count`);
  return String(value);
}

function word(text: string): string {
  if (!/^[A-Za-z0-9:._/-]+$/.test(text)) throw new Error(`Internal error: ${JSON.stringify(text)} is no plain word`);
  return text;
}

function senderText(name: string): string {
  return readFileSync(new URL(`./scripts/${name}`, import.meta.url), 'utf8');
}
