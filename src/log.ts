/** The only importer of pino. Every line carries the run id it speaks of, and no secret. */
import {pino} from 'pino';

export type LogLine = Readonly<Record<string, unknown>>;

export interface Logger {
  info(fields: LogLine, message: string): void;
  warn(fields: LogLine, message: string): void;
  error(fields: LogLine, message: string): void;
  /** A logger whose every line carries `fields` as well. */
  with(fields: LogLine): Logger;
}

/** Keys that hold credentials wherever they turn up, one and two levels down. `Secret` is the first net, this the second. */
const SECRET_KEYS = ['passphrase', 'password', 'token', 'secret', 'privateKey', 'authorization', 'key'];

/** Writes JSON lines to `destination` (standard error unless told): standard output belongs to what was asked for. */
export function makeLogger(options: {
  readonly level: string;
  readonly destination?: {write(line: string): void};
}): Logger {
  const root = pino(
    {
      level: options.level,
      base: {},
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]'},
    },
    options.destination ?? pino.destination({fd: 2, sync: true}),
  );
  return wrap(root);
}

function wrap(inner: pino.Logger): Logger {
  return {
    info: (fields, message) => inner.info(fields, message),
    warn: (fields, message) => inner.warn(fields, message),
    error: (fields, message) => inner.error(fields, message),
    with: (fields) => wrap(inner.child({...fields})),
  };
}
