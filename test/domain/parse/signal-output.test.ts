import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../../src/domain/host.ts';
import {parseSignal, parseSignalLine} from '../../../src/domain/parse/signal-output.ts';
import type {Transcript} from '../../../src/domain/transcript.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
const BEGIN = `\n@@${NONCE} BEGIN signal 1\n`;
const END = `\n@@${NONCE} END 0\n`;
const event = (words: string) => `@@${NONCE} e ${words}\n`;

function transcript(stdout: string | Uint8Array, nonce = NONCE): Transcript {
  return {
    host: hostName('gpu-07'),
    hostKey: 'SHA256:abc',
    nonce,
    stdout: typeof stdout === 'string' ? new TextEncoder().encode(stdout) : stdout,
    stderr: '',
    exitCode: 0,
    tookMs: 12,
  };
}

function report(stdout: string) {
  const parsed = parseSignal(transcript(stdout), 1000);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  return parsed.value;
}

describe('a line', () => {
  it.each([
    [
      'order 4711 SIGTERM sent 98765430 pidfd -',
      {kind: 'order', pid: 4711, signal: 'SIGTERM', result: 'sent', uptimeMs: 98765430, handle: 'pidfd', detail: ''},
    ],
    [
      'order 4711 SIGKILL replaced 0670 pid start-ticks',
      {
        kind: 'order',
        pid: 4711,
        signal: 'SIGKILL',
        result: 'replaced',
        uptimeMs: 670,
        handle: 'pid',
        detail: 'start-ticks',
      },
    ],
    ['seen 4711 zombie 12340', {kind: 'seen', pid: 4711, observation: 'zombie', uptimeMs: 12340}],
    ['heartbeat 12340', {kind: 'heartbeat', uptimeMs: 12340}],
    ['memory 12340 GPU-aa=96844 MIG-bb=0 ', {kind: 'memory', uptimeMs: 12340, usedMiB: {'GPU-aa': 96844, 'MIG-bb': 0}}],
    ['settled timed-out 12340', {kind: 'settled', how: 'timed-out', uptimeMs: 12340}],
  ])('"%s" is an event', (words, expected) => {
    expect(parseSignalLine(NONCE, `@@${NONCE} e ${words}`)).toEqual(expected);
  });

  it.each([
    'order 4711 SIGTERM sent 98765430 pidfd',
    'order 4711 SIGHUP sent 98765430 pidfd -',
    'order 4711 SIGTERM perhaps 98765430 pidfd -',
    'order -1 SIGTERM sent 98765430 pidfd -',
    'order 4711 SIGTERM sent 9.5 pidfd -',
    'order 4711 SIGTERM sent 98765430 pidfd - more',
    'seen 4711 asleep 12340',
    'seen 4711 zombie',
    'heartbeat',
    'memory 12340 GPU-aa=[N/A]',
    'memory x GPU-aa=1',
    'settled well 12340',
    'unknown 1',
    '',
  ])('"%s" is no event', (words) => {
    expect(parseSignalLine(NONCE, `@@${NONCE} e ${words}`)).toBeNull();
  });

  it('of another nonce, of none, or behind other text is no event', () => {
    expect(parseSignalLine(NONCE, `@@${'f'.repeat(32)} e heartbeat 1`)).toBeNull();
    expect(parseSignalLine('', '@@ e heartbeat 1')).toBeNull();
    expect(parseSignalLine(NONCE, ` @@${NONCE} e heartbeat 1`)).toBeNull();
  });
});

describe('an answer', () => {
  it('with survivors has its events and no closing probe', () => {
    const answer = report(`noise${BEGIN}${event('heartbeat 10')}${event('seen 5 alive 10')}${END}logout\n`);
    expect(answer.events.map(({kind}) => kind)).toEqual(['heartbeat', 'seen']);
    expect(answer.closing).toBeNull();
    expect(answer.complete).toBe(true);
  });

  it('ignores what comes before its BEGIN and after its END', () => {
    const answer = report(`${event('heartbeat 1')}${BEGIN}${event('heartbeat 2')}${END}${event('heartbeat 3')}`);
    expect(answer.events).toEqual([{kind: 'heartbeat', uptimeMs: 2}]);
  });

  it.each([
    ['no END', `${BEGIN}${event('heartbeat 10')}`],
    ['a cut END', `${BEGIN}${event('heartbeat 10')}${END.trimEnd()}`],
    ['a sender that broke down', `${BEGIN}${event('heartbeat 10')}\n@@${NONCE} END 70\n`],
    [
      'an unreadable closing probe',
      `${BEGIN}${event('heartbeat 10')}\n@@${NONCE} begin host\n\n@@${NONCE} end host 0\n${END}`,
    ],
  ])('with %s is not complete, and keeps its events', (_, text) => {
    const answer = report(text);
    expect(answer.complete).toBe(false);
    expect(answer.closing).toBeNull();
    expect(answer.events).toEqual([{kind: 'heartbeat', uptimeMs: 10}]);
  });

  it('does not read a number that was cut', () => {
    expect(report(`${BEGIN}@@${NONCE} e heartbeat 123`).events).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['a login message', 'Welcome\n'],
    ['another nonce', BEGIN.replace(NONCE, 'f'.repeat(32))],
    ['another version', BEGIN.replace('signal 1', 'signal 2')],
    ['a probe', BEGIN.replace('signal', 'probe')],
  ])('that is %s is a failure', (_, text) => {
    expect(parseSignal(transcript(text), 1)).toMatchObject({
      ok: false,
      failure: {reason: 'probe-unreadable', section: 'signal', host: 'gpu-07'},
    });
  });

  it('never throws, however it was cut or garbled, and a cut one is never complete', () => {
    const whole = new TextEncoder().encode(
      `${BEGIN}${event('order 7 SIGKILL sent 10 pidfd -')}${event('seen 7 gone 30')}${event('memory 40 GPU-a=3')}${event('settled expected 40')}\n@@${NONCE} begin host\nx\n\n@@${NONCE} end host 0\n${END}`,
    );
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.uint8Array({maxLength: 40}), fc.nat(whole.length), (cut, junk, at) => {
        const parsed = parseSignal(transcript(whole.slice(0, cut)), 1);
        expect(parsed.ok && parsed.value.complete).toBe(false);
        parseSignal(transcript(new Uint8Array([...whole.slice(0, at), ...junk, ...whole.slice(at)])), 1);
        parseSignal(transcript(junk), 1);
      }),
    );
    fc.assert(fc.property(fc.string(), fc.string(), (nonce, line) => void parseSignalLine(nonce, line)));
  });
});
