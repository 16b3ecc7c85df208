/** Builds worker.ts once and starts it: 20 starts through a TypeScript loader would take longer than all other tests. */
import type {ChildProcess} from 'node:child_process';
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {onTestFinished} from 'vitest';

export interface Built {
  readonly script: string;
  remove(): void;
}

export interface SecondProgram {
  readonly process: ChildProcess;
  /** The next JSON line that it says; undefined once it has ended. */
  next(): Promise<unknown>;
  /** Gives the word that it waits for. */
  tell(): void;
  /** kill -9, and everything that it had said before. */
  kill(): Promise<readonly unknown[]>;
}

export function buildWorker(): Built {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-reclaim-worker-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const options = '--ignoreConfig --noCheck --target es2023 --module nodenext --rewriteRelativeImportExtensions';
  const compiler = ['node_modules/typescript/bin/tsc', ...options.split(' '), '--types', 'node', '--rootDir', '.'];
  execFileSync(process.execPath, [...compiler, '--outDir', folder, 'test/store/worker.ts'], {stdio: 'inherit'});
  return {
    script: join(folder, 'test/store/worker.js'),
    remove: () => rmSync(folder, {recursive: true, force: true}),
  };
}

/** Ends with the test at the latest. `before` is a command that ends in "$@" and so becomes the worker. */
export function startWorker(built: Built, args: readonly string[], before?: string): SecondProgram {
  const command = [process.execPath, built.script, ...args];
  const [file = '', ...rest] =
    before === undefined ? command : ['unshare', '--mount', 'sh', '-euc', before, 'sh', ...command];
  const child = spawn(file, rest, {stdio: ['pipe', 'pipe', 'inherit']});
  const ended = once(child, 'exit');
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const {value, done} = await lines.next();
    return done ? undefined : JSON.parse(value);
  };
  return {
    process: child,
    next,
    tell: () => child.stdin.write('go\n'),
    kill: async () => {
      child.kill('SIGKILL');
      const said: unknown[] = [];
      for (let line = await next(); line !== undefined; line = await next()) said.push(line);
      await ended;
      return said;
    },
  };
}
