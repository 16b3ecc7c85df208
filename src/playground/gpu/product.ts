/** The production program, run as a person at its terminal would run it, with files of its own. */
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {stringify} from 'yaml';
import type {Site} from './site.ts';

/** Short graces, since nobody waits for these processes to save anything; all else is as shipped. */
const POLICY = {
  approvers: ['os:root'],
  grace: '5s',
  memberDelay: '1s',
  stalled: '3s',
  verify: '60s',
  limits: {openRuns: 100, runsPerPerson: 1000},
};
const LIMIT_MS = 90_000;

export type Json = Readonly<Record<string, unknown>>;

export interface Product {
  /** One command with `--json`; what it printed, or a throw where that is no JSON. */
  ask(...words: readonly string[]): Promise<Json>;
  /** One command as a person reads it. */
  read(...words: readonly string[]): Promise<string>;
  remove(): void;
}

/** `main`: the production program's file. */
export function productFor(site: Site, main: string): Product {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-zoo-product-'));
  writeFileSync(join(folder, 'hosts.yaml'), stringify({hosts: {[site.name]: site.entry}}));
  writeFileSync(join(folder, 'policy.yaml'), stringify(POLICY));
  const env = {
    ...process.env,
    GPU_RECLAIM_HOSTS: join(folder, 'hosts.yaml'),
    GPU_RECLAIM_POLICY: join(folder, 'policy.yaml'),
    GPU_RECLAIM_DB: join(folder, 'runs.db'),
    GPU_RECLAIM_LOG_LEVEL: 'warn',
  };
  const run = (words: readonly string[]): Promise<{out: string; err: string}> => {
    const child = spawn(process.execPath, [main, ...words], {env, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
    const said = {out: '', err: ''};
    child.stdout.on('data', (chunk: Buffer) => {
      said.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.err += chunk.toString();
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    return new Promise((resolve) =>
      child.once('close', () => {
        clearTimeout(timer);
        resolve(said);
      }),
    );
  };
  return {
    ask: async (...words) => {
      const {out, err} = await run([...words, '--json']);
      try {
        return JSON.parse(out) as Json;
      } catch {
        throw new Error(`gpu-reclaim ${words.join(' ')} gave no JSON: ${out}${err}`);
      }
    },
    read: async (...words) => {
      const {out, err} = await run(words);
      return err + out;
    },
    remove: () => rmSync(folder, {recursive: true, force: true}),
  };
}
