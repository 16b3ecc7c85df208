/** The production program as a child process, set up for one lab: what it prints, and the status it ends with. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import {stringify} from 'yaml';
import type {Lab} from '../lab/lab.ts';
import {programFile} from '../program.ts';

export interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Bot {
  readonly folder: string;
  /** Runs one command to its end. */
  run(...words: readonly string[]): Promise<Answer>;
  /** Starts one command and hands over the process, to be watched or killed. */
  start(...words: readonly string[]): {readonly child: ChildProcess; readonly done: Promise<Answer>};
  /** One command with this terminal's own keyboard and screen. */
  inherit(...words: readonly string[]): Promise<number | null>;
  json(...words: readonly string[]): Promise<Record<string, unknown>>;
  setPolicy(policy: Readonly<Record<string, unknown>>): void;
  remove(): void;
}

/** Short waits, so that a demo is over before the coffee is: everything else is the default. */
export const LAB_POLICY = {
  approvers: [`os:${userInfo().username}`],
  grace: '3s',
  // Nobody watches a demo for minutes.
  profilerGrace: '6s',
  writingGrace: '12s',
  memberDelay: '1s',
  stalled: '2s',
  verify: '20s',
  // A demo is over before anything could come back.
  lookAgain: [],
};

/**
 * `slack`: the variables of a workspace, and the Slack user who owns what runs as the lab's root. `program`: another build
 * of it than the production one.
 */
export function makeBot(
  labs: Readonly<Record<string, Lab>>,
  policy: Readonly<Record<string, unknown>> = LAB_POLICY,
  slack: {readonly env: Readonly<Record<string, string>>; readonly owner: string} | null = null,
  program: string = programFile(),
): Bot {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-reclaim-bot-'));
  const me = userInfo().username;
  const hosts = Object.fromEntries(
    Object.entries(labs).map(([name, lab]) => {
      const entry = lab.hostsEntry();
      // Whoever runs the playground, or plays the requester in Slack, owns what runs as the lab's root.
      return [name, {...entry, people: {...entry.people, 0: slack?.owner ?? me}, groups: ['lab']}];
    }),
  );
  writeFileSync(join(folder, 'hosts.yaml'), stringify({hosts}));
  const setPolicy = (changed: Readonly<Record<string, unknown>>): void =>
    writeFileSync(join(folder, 'policy.yaml'), stringify(changed));
  setPolicy(policy);
  const env = {
    ...process.env,
    GPU_RECLAIM_HOSTS: join(folder, 'hosts.yaml'),
    GPU_RECLAIM_POLICY: join(folder, 'policy.yaml'),
    GPU_RECLAIM_DB: join(folder, 'runs.db'),
    GPU_RECLAIM_LOG_LEVEL: 'warn',
    ...slack?.env,
  };
  const command = [program];
  const start: Bot['start'] = (...words) => {
    const child = spawn(process.execPath, [...command, ...words], {env, stdio: ['ignore', 'pipe', 'pipe']});
    const collected = {out: '', err: ''};
    child.stdout.on('data', (chunk: Buffer) => {
      collected.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      collected.err += chunk.toString();
    });
    return {child, done: new Promise((resolve) => child.once('close', (code) => resolve({code, ...collected})))};
  };
  const run: Bot['run'] = (...words) => start(...words).done;
  return {
    folder,
    run,
    start,
    inherit: (...words) =>
      new Promise((resolve) => {
        spawn(process.execPath, [...command, ...words], {env, stdio: 'inherit'}).once('close', resolve);
      }),
    json: async (...words) => {
      const answer = await run(...words, '--json');
      try {
        return JSON.parse(answer.out) as Record<string, unknown>;
      } catch {
        throw new Error(
          `gpu-reclaim ${words.join(' ')} gave no JSON (exit ${answer.code}):\n${answer.out}${answer.err}`,
        );
      }
    },
    setPolicy,
    remove: () => rmSync(folder, {recursive: true, force: true}),
  };
}
