/** A person at a terminal: the program on a pseudo-terminal of its own, made by util-linux's script. */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import type {Answer} from '../../src/playground/story/bot.ts';
import type {Bench} from './bench.ts';

export const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null'], {stdio: 'ignore'}).status === 0;

export interface Sitting {
  readonly child: ChildProcess;
  readonly done: Promise<Answer>;
  /** Resolves when that has been shown; rejects if the program ends before. */
  shown(what: RegExp): Promise<void>;
  type(keys: string): void;
  /** All that was shown so far. */
  screen(): string;
}

export const CTRL_C = '\u0003';
export const ENTER = '\r';

export function sitDown(bench: Bench, ...words: readonly string[]): Sitting {
  // In the shell's place: Ctrl-C reaches a shell that waits as well, and it would put its own status over ours.
  const command = ['exec', ...[...bench.argv, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: {...bench.env, TERM: 'xterm', SHELL: '/bin/sh'},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let seen = '';
  const looking = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    for (const look of looking) look();
  });
  const done = new Promise<Answer>((resolve) => {
    child.once('close', (code) => resolve({code, out: seen, err: ''}));
  });
  return {
    child,
    done,
    screen: () => seen,
    type: (keys) => {
      child.stdin.write(keys);
    },
    shown: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!what.test(seen)) return;
          looking.delete(look);
          resolve();
        };
        looking.add(look);
        look();
        void done.then(({code}) => reject(new Error(`ended with ${code} before ${what} was shown:\n${seen}`)));
      }),
  };
}
