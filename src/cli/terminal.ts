/** The terminal's own output: what was asked for on standard output, progress and complaints on standard error. */
import {createInterface} from 'node:readline/promises';

export interface Terminal {
  /** Can a person type here? */
  readonly interactive: boolean;
  print(...lines: readonly string[]): void;
  /** One line of progress: overwritten by the next on a terminal, kept elsewhere. */
  progress(line: string): void;
  complain(...lines: readonly string[]): void;
  /** Resolves with what was typed; null at end of input, at Ctrl-C, or when `until` aborts. */
  ask(question: string, until?: AbortSignal): Promise<string | null>;
}

export function makeTerminal(streams: {
  readonly in: NodeJS.ReadStream;
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
}): Terminal {
  const {in: input, out, err} = streams;
  // A reader that went away (`… | head`) must not end a run in the middle of its ladder: what can't be shown is still done.
  for (const stream of [out, err]) stream.on('error', () => undefined);
  let underway = false;
  const clear = (): void => {
    if (underway) err.write('\r\x1b[K');
    underway = false;
  };
  return {
    interactive: input.isTTY === true && err.isTTY === true,
    print: (...lines) => {
      clear();
      for (const line of lines) out.write(`${line}\n`);
    },
    progress: (line) => {
      if (err.isTTY === true) {
        err.write(`\r\x1b[K${[...line].slice(0, Math.max(20, (err.columns || 80) - 1)).join('')}`);
        underway = true;
      } else {
        err.write(`${line}\n`);
      }
    },
    complain: (...lines) => {
      clear();
      for (const line of lines) err.write(`${line}\n`);
    },
    ask: async (question, until) => {
      clear();
      const reader = createInterface({input, output: err, terminal: input.isTTY === true});
      const closed = new AbortController();
      reader.once('close', () => closed.abort());
      reader.once('SIGINT', () => reader.close());
      try {
        return await reader.question(question, {
          signal: until === undefined ? closed.signal : AbortSignal.any([closed.signal, until]),
        });
      } catch {
        return null;
      } finally {
        reader.close();
      }
    },
  };
}
