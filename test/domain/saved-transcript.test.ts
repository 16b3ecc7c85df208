import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseProbe} from '../../src/domain/parse/probe-output.ts';
import {readTranscript, saveTranscript} from '../../src/domain/saved-transcript.ts';
import type {Transcript} from '../../src/domain/transcript.ts';

const probe = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url));
const transcript: Transcript = {
  host: hostName('gpu-07'),
  hostKey: 'SHA256:k',
  nonce: '0123456789abcdef0123456789abcdef',
  stdout: probe,
  stderr: 'warning: --token abcdef',
  exitCode: 0,
  tookMs: 41,
};

describe('a saved transcript', () => {
  const saved = saveTranscript(transcript, 1_700_000_000_000);
  const read = readTranscript(saved, 'bug.json');

  it('says on reading what the live probe said', () => {
    if (!read.ok) throw new Error(JSON.stringify(read.failure));
    expect(parseProbe(read.value.transcript, read.value.takenAtMs)).toEqual(parseProbe(transcript, 1_700_000_000_000));
    expect({...read.value.transcript, stdout: null}).toEqual({
      ...transcript,
      stdout: null,
      stderr: 'warning: --token [redacted]',
    });
  });

  it('holds no secret of a command line, though the flag stands on the line before', () => {
    expect(probe.toString()).toContain('sk-abcdefghijklmnop');
    expect(saved).not.toContain('sk-abcdefghijklmnop');
    const flagged = probe.toString().replace('sk-abcdefghijklmnop', 'plainword');
    expect(saveTranscript({...transcript, stdout: Buffer.from(flagged)}, 1)).not.toContain('plainword');
  });

  it('hides the secrets of command lines that were sent one by one', () => {
    const one = `@@${transcript.nonce} begin facts.words.12\nserve\0--token\0plainword\0\n`;
    expect(saveTranscript({...transcript, stdout: Buffer.from(one)}, 1)).not.toContain('plainword');
  });

  it.each([
    ['', 'JSON'],
    ['[]', 'format'],
    ['null', 'object'],
    ['{"format":"other"}', 'format'],
    [saved.replace('"version": 1', '"version": 2'), 'version 2'],
    [saved.replace('"nonce": "', '"nonsense": "'), 'nonce'],
    [saved.replace('"takenAtMs": 1700000000000', '"takenAtMs": "now"'), 'takenAtMs'],
    [saved.replace('"exitCode": 0', '"exitCode": []'), 'exitCode'],
    [saved.replace('"stdout": [', '"stdout": [5,'), 'stdout'],
  ])('is refused with what is wrong with it (%#: %s)', (text, detail) => {
    const refused = readTranscript(text, 'bug.json');
    expect(refused).toMatchObject({ok: false, failure: {reason: 'transcript-unreadable', path: 'bug.json'}});
    expect(JSON.stringify(refused)).toContain(detail);
  });
});
