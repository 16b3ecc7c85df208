/** Bolt's logger over ours. Debug is dropped: at that level the library prints whole payloads, people's words included. */
import {inspect} from 'node:util';
import {type Logger, LogLevel} from '@slack/bolt';
import type {Log} from '../engine/ports.ts';

/** Bolt hands several arguments, errors among them; the constructor of App sets a level, which is not ours to follow. */
export function boltLogger(log: Log): Logger {
  const from = {from: 'slack'};
  return {
    debug: () => undefined,
    info: (...parts) => log.info(from, text(parts)),
    warn: (...parts) => log.warn(from, text(parts)),
    error: (...parts) => log.error(from, text(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}

const MOST_CHARACTERS = 2_000;

function text(parts: readonly unknown[]): string {
  const line = parts.map((part) => (typeof part === 'string' ? part : inspect(part, {depth: 3}))).join(' ');
  return withoutTokens(line).slice(0, MOST_CHARACTERS);
}

/** A token never stands in a log line, wherever it came from. */
export function withoutTokens(line: string): string {
  return line
    .replaceAll(/x(?:ox[a-z]|app)-[\w-]+/g, '[redacted]')
    .replaceAll(/([?&]ticket=)[^\s&"']+/g, '$1[redacted]');
}
