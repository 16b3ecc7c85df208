/**
 * The file that `gpu-reclaim probe HOST` saves and `diagnose --from FILE` reads: what people attach to a bug report. JSON,
 * version 1; `stdout` is the probe's text, line by line, secrets replaced, bytes that are no UTF-8 lost.
 */
import {fail, ok, type Result} from './failure.ts';
import {hostName} from './host.ts';
import {redactText, redactWords} from './redact.ts';
import type {Transcript} from './transcript.ts';

const FORMAT = 'gpu-reclaim probe';
const VERSION = 1;

export interface SavedTranscript {
  readonly transcript: Transcript;
  readonly takenAtMs: number;
}

/** Redacted; what `readTranscript` makes of it parses like the original, but for the secrets. */
export function saveTranscript(transcript: Transcript, takenAtMs: number): string {
  const stdout = redactProbe(new TextDecoder('utf-8', {ignoreBOM: true}).decode(transcript.stdout));
  const saved = {
    format: FORMAT,
    version: VERSION,
    host: transcript.host,
    hostKey: transcript.hostKey,
    takenAtMs,
    tookMs: transcript.tookMs,
    exitCode: transcript.exitCode,
    nonce: transcript.nonce,
    stderr: redactText(transcript.stderr),
    stdout: stdout.split('\n'),
  };
  return `${JSON.stringify(saved, null, 2)}\n`;
}

/** `path` is only for the failure's words. */
export function readTranscript(text: string, path: string): Result<SavedTranscript> {
  const unreadable = (detail: string) => fail({reason: 'transcript-unreadable', path, detail} as const);
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch (error) {
    return unreadable(error instanceof Error ? error.message : 'not JSON');
  }
  if (typeof saved !== 'object' || saved === null) return unreadable('not an object');
  const {format, version, host, hostKey, takenAtMs, tookMs, exitCode, nonce, stderr, stdout} = saved as Record<
    string,
    unknown
  >;
  if (format !== FORMAT) return unreadable(`format is not "${FORMAT}"`);
  if (version !== VERSION) return unreadable(`version ${JSON.stringify(version)}, known is ${VERSION}`);
  if (typeof host !== 'string' || typeof hostKey !== 'string' || typeof nonce !== 'string') {
    return unreadable('host, hostKey or nonce is no text');
  }
  if (typeof takenAtMs !== 'number' || typeof tookMs !== 'number')
    return unreadable('takenAtMs or tookMs is no number');
  if (typeof exitCode !== 'number' && exitCode !== null) return unreadable('exitCode is neither a number nor null');
  if (typeof stderr !== 'string') return unreadable('stderr is no text');
  if (!Array.isArray(stdout) || !stdout.every((line) => typeof line === 'string')) {
    return unreadable('stdout is no list of lines');
  }
  const bytes = new TextEncoder().encode(stdout.join('\n'));
  return ok({
    transcript: {host: hostName(host), hostKey, nonce, stdout: bytes, stderr, exitCode, tookMs},
    takenAtMs,
  });
}

/** Words of one command line stand on lines of their own, so the flag before a secret is a line up. */
function redactProbe(text: string): string {
  const lines = text.split('\n');
  const safe: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const prefix = wordPrefix(lines[i] ?? '');
    if (prefix === null) {
      // Command lines that were sent one by one: NUL between the words.
      safe.push((lines[i] ?? '').split('\0').length > 1 ? redactNulWords(lines[i] ?? '') : redactText(lines[i] ?? ''));
      i += 1;
      continue;
    }
    const words: string[] = [];
    for (; i < lines.length && (lines[i] ?? '').startsWith(prefix); i += 1)
      words.push((lines[i] ?? '').slice(prefix.length));
    for (const word of redactWords(words)) safe.push(`${prefix}${word.replaceAll('\n', '\x01')}`);
  }
  return safe.join('\n');
}

function wordPrefix(line: string): string | null {
  return /^\/proc\/\d+\/cmdline:/.exec(line)?.[0] ?? null;
}

function redactNulWords(line: string): string {
  return redactWords(line.split('\0')).join('\0');
}
