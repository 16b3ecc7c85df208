/** One test file's bench: lab hosts, and the built program with its own folder, hosts file, policy and store. */
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import ssh2 from 'ssh2';
import {vi} from 'vitest';
import {stringify} from 'yaml';
import {type Lab, startLab} from '../../src/playground/lab/lab.ts';
import {persistenceDaemon} from '../../src/playground/lab/species.ts';
import {programFile} from '../../src/playground/program.ts';
import type {Answer, Bot} from '../../src/playground/story/bot.ts';
import {confirmIn} from '../../src/playground/story/play.ts';

// Many programs and labs at once: a busy machine is no failure.
vi.setConfig({testTimeout: 120_000, hookTimeout: 120_000});

export const ME = userInfo().username;

/** Short waits and no limit on how often one person may ask; everything else is the default. */
export const QUICK = {
  approvers: [`os:${ME}`],
  grace: '1500ms',
  memberDelay: '300ms',
  stalled: '1s',
  verify: '10s',
  limits: {runsPerPerson: 500, openRuns: 8},
};

export type Environment = Readonly<Record<string, string>>;
export type HostsFile = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * A lab whose keys can be read: of the ed25519 keys that ssh2 1.17 makes, one in 200 has lost a leading zero byte, and no
 * program reads it. With such a host key sshd does not start, and a lesser lab would come instead.
 */
export async function startSoundLab(name: string, gpus: number): Promise<Lab> {
  for (let tries = 1; ; tries += 1) {
    const lab = await startLab({name, gpus});
    const keys = ['look', 'act', 'host_key'].map((key) => readFileSync(join(lab.folder, 'ssh', key)));
    const sound = !lab.why.includes('sshd inside the lab did not start') && keys.every(isReadable);
    if (sound || tries === 5) return lab;
    await lab.stop();
  }
}

/** A private key of nobody's, as a file's text, and its public half. */
export function strangersKey(): {readonly secret: string; readonly publicKey: string} {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    if (isReadable(pair.private))
      return {secret: pair.private, publicKey: pair.public.split(' ').slice(0, 2).join(' ')};
  }
}

/**
 * A lab host with the persistence daemon that every GPU host has. It comes first, since the first process of a lab
 * without sshd inside has PID 2, and that number alone makes it protected.
 */
export async function startHost(name: string, gpus: number): Promise<Lab> {
  const lab = await startSoundLab(name, gpus);
  await lab.spawn(persistenceDaemon(gpus));
  return lab;
}

export interface Bench extends Bot {
  readonly databasePath: string;
  /** What a lab's entry in the hosts file is, for changing it. */
  entryOf(lab: Lab): Readonly<Record<string, unknown>>;
  setHosts(hosts: HostsFile): void;
  /** As `run`, with other variables. */
  runWith(env: Environment, ...words: readonly string[]): Promise<Answer>;
  /** The command line and the environment, for whoever starts the program another way. */
  readonly argv: readonly string[];
  readonly env: Environment;
}

export function makeBench(
  labs: Readonly<Record<string, Lab>>,
  policy: Readonly<Record<string, unknown>> = QUICK,
): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-reclaim-e2e-'));
  const databasePath = join(folder, 'runs.db');
  const setPolicy = (changed: Readonly<Record<string, unknown>>): void =>
    writeFileSync(join(folder, 'policy.yaml'), stringify(changed));
  const setHosts = (hosts: HostsFile): void => writeFileSync(join(folder, 'hosts.yaml'), stringify({hosts}));
  const entryOf = (lab: Lab): Readonly<Record<string, unknown>> => {
    const entry = lab.hostsEntry();
    return {...entry, people: {...entry.people, 0: ME}, groups: ['lab']};
  };
  setPolicy(policy);
  setHosts(Object.fromEntries(Object.entries(labs).map(([name, lab]) => [name, entryOf(lab)])));

  const argv = [process.execPath, programFile()];
  const env: Environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GPU_RECLAIM_HOSTS: join(folder, 'hosts.yaml'),
    GPU_RECLAIM_POLICY: join(folder, 'policy.yaml'),
    GPU_RECLAIM_DB: databasePath,
    GPU_RECLAIM_LOG_LEVEL: 'warn',
  };
  const startWith = (more: Environment, words: readonly string[]): ReturnType<Bot['start']> => {
    const [command = '', ...rest] = argv;
    const child = spawn(command, [...rest, ...words], {env: {...env, ...more}, stdio: ['ignore', 'pipe', 'pipe']});
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    return {child, done: new Promise((resolve) => child.once('close', (code) => resolve({code, out, err})))};
  };
  const run: Bot['run'] = (...words) => startWith({}, words).done;
  return {
    folder,
    databasePath,
    argv,
    env,
    entryOf,
    setHosts,
    setPolicy,
    run,
    runWith: (more, ...words) => startWith(more, words).done,
    start: (...words) => startWith({}, words),
    inherit: () => Promise.reject(new Error('Internal error: a test has no keyboard')),
    json: async (...words) => jsonOf(await run(...words, '--json')),
    remove: () => rmSync(folder, {recursive: true, force: true}),
  };
}

/** Makes a plan that waits, and gives what confirms it. */
export async function planned(bench: Bench, host: string, ...words: readonly string[]): Promise<string> {
  const answer = await bench.run('reclaim', host, ...words);
  const confirm = confirmIn(answer.out);
  if (confirm === null) throw new Error(`no plan waits (exit ${answer.code}):\n${answer.out}${answer.err}`);
  return confirm;
}

export function jsonOf(answer: Answer): Record<string, unknown> {
  try {
    return JSON.parse(answer.out) as Record<string, unknown>;
  } catch {
    throw new Error(`no JSON (exit ${answer.code}):\n${answer.out}\n${answer.err}`);
  }
}

/** What a refusal must be, in words and as JSON: this status, one line on standard error, the same sentence in JSON. */
export interface Refusal {
  readonly code: number | null;
  readonly sentence: string;
  readonly reason: string;
}

/** Runs a command that must be refused both ways and hands over what it said; throws where the two differ or say more. */
export async function refusal(bench: Bench, words: readonly string[], env: Environment = {}): Promise<Refusal> {
  // One after the other: a host takes one run at a time.
  const plain = await bench.runWith(env, ...words);
  const coded = await bench.runWith(env, ...words, '--json');
  const complaints = plain.err
    .trimEnd()
    .split('\n')
    // Progress is no complaint.
    .filter((line) => !/^(⏳ )?looking at /.test(line));
  const told = `\n${plain.out}${plain.err}`;
  if (complaints.length !== 1) throw new Error(`${complaints.length} lines instead of one sentence:${told}`);
  if (plain.out !== '') throw new Error(`something on standard output:${told}`);
  const answer = jsonOf(coded) as {ok?: unknown; sentence?: unknown; failure?: {reason?: unknown}};
  if (answer.ok !== false) throw new Error(`JSON does not say ok: false:\n${coded.out}`);
  if (coded.err !== '') throw new Error(`with --json, standard error says:\n${coded.err}`);
  if (coded.code !== plain.code) throw new Error(`exit ${plain.code}, but ${coded.code} with --json:${told}`);
  return {code: plain.code, sentence: complaints[0] ?? '', reason: String(answer.failure?.reason)};
}

export function storedText(bench: Bench): string {
  const files = ['', '-wal'].map((end) => `${bench.databasePath}${end}`).filter((path) => existsSync(path));
  return files.map((path) => readFileSync(path, 'latin1')).join('');
}

function isReadable(key: Buffer | string): boolean {
  return !(ssh2.utils.parseKey(key) instanceof Error);
}
