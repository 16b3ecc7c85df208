/** The machine that the zoo is made on: this one with its GPU, or a lab host. Both are reached by the product over SSH. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {startLab} from '../lab/lab.ts';
import {makeKey} from '../lab/lab-folder.ts';
import {findPython} from '../lab/machine.ts';
import {type HeardExec, startOwnServer} from '../lab/own-server.ts';

export interface Site {
  readonly name: string;
  readonly standIn: boolean;
  /** Module of `zoo` that takes memory here, and how `zoo/poll.py` reads it. */
  readonly backend: 'cuda' | 'standin';
  readonly poll: 'nvml' | 'smi';
  readonly devices: string;
  /** An interpreter that other users may run too. */
  readonly python: string;
  readonly daemonPath: string;
  /** This host's entry in a hosts file. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** One program on that machine; arguments as they are, no shell. */
  start(argv: readonly string[]): ChildProcess;
  stop(): Promise<void>;
}

const USER = 'root';
const PLAIN_FOLDER = /^\/[A-Za-z0-9._/+-]+$/;
const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `heard` is told of every command that the product ran, whole. */
export async function realSite(heard: (exec: HeardExec) => void): Promise<Site> {
  const path = `${process.env['PATH'] ?? ''}:${STANDARD_PATH}:/usr/local/nvidia/bin`;
  // As a hosts file takes them: absolute, and plain.
  const libraries = (process.env['LD_LIBRARY_PATH'] ?? '').split(delimiter).filter((one) => PLAIN_FOLDER.test(one));
  const smi = folderWith(path.split(delimiter), 'nvidia-smi');
  if (smi === null) throw new Error('no nvidia-smi on this machine: --lab runs the zoo on a lab host');
  if (process.getuid?.() !== 0) throw new Error('the zoo has several uids: it needs root');
  const server = await serve([], heard);
  return {
    name: 'gpu-host',
    standIn: false,
    backend: 'cuda',
    poll: 'nvml',
    devices: '/dev',
    python: findPython() ?? 'python3',
    // A folder that no package of a distribution writes to; the copy is made only if nothing is there, and removed.
    daemonPath: '/usr/local/sbin/nvidia-persistenced',
    entry: {...server.entry, extraPath: [smi], ...(libraries.length > 0 ? {libraryPath: libraries} : {})},
    start: (argv) => start([], argv, {PATH: path, LD_LIBRARY_PATH: libraries.join(delimiter)}),
    stop: server.close,
  };
}

export async function labSite(gpus: number, heard: (exec: HeardExec) => void): Promise<Site> {
  const lab = await startLab({name: 'lab-zoo', gpus, totalMiB: 143_771});
  if (lab.kind !== 'root') {
    await lab.stop();
    throw new Error(`the zoo has several uids and needs a root lab; this one is a ${lab.why}`);
  }
  const into = ['nsenter', '--target', String(firstProcessOf(lab.folder)), '--mount', '--pid', '--'];
  const server = await serve([...into, 'setsid', '--wait'], heard);
  const own = lab.hostsEntry();
  return {
    name: 'lab-zoo',
    standIn: true,
    backend: 'standin',
    poll: 'smi',
    devices: '/dev',
    python: findPython() ?? 'python3',
    daemonPath: '/usr/bin/nvidia-persistenced',
    entry: {...server.entry, extraPath: own.extraPath, labPidNamespace: true},
    start: (argv) => start(into, argv, {PATH: [...own.extraPath, STANDARD_PATH].join(delimiter)}),
    stop: async () => {
      await server.close();
      await lab.stop();
    },
  };
}

/** ssh2's server on loopback, which runs what it is told as root; and what a hosts file says to reach it. */
async function serve(argv: readonly string[], heard: (exec: HeardExec) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-zoo-keys-'));
  const [look, act, host] = ['look', 'act', 'host'].map((name) => join(folder, name)) as [string, string, string];
  const authorized = [makeKey(look), makeKey(act)];
  const hostKey = makeKey(host);
  const server = await startOwnServer(host, authorized, {argv, runAs: null, heard}, () => '/bin/sh');
  return {
    entry: {
      address: '127.0.0.1',
      port: server.port,
      mode: 'act',
      look: {user: USER, keyFile: look},
      act: {user: USER, keyFile: act},
      hostKeys: [hostKey],
      people: {'0': USER, '1500': 'bo'},
    },
    close: async () => {
      await server.close();
      rmSync(folder, {recursive: true, force: true});
    },
  };
}

/** A session of its own, so that what the zoo's own programs are is never kin to what they watch. */
function start(
  prefix: readonly string[],
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const [program = '', ...words] = [...prefix, ...argv];
  const env = Object.fromEntries(Object.entries({HOME: '/', LC_ALL: 'C', ...environment}).filter(([, v]) => v !== ''));
  return spawn(program, words, {cwd: '/', detached: true, env, stdio: ['pipe', 'pipe', 'pipe']});
}

function folderWith(folders: readonly string[], program: string): string | null {
  for (const folder of folders) {
    try {
      if (readdirSync(folder).includes(program)) return folder;
    } catch {
      // Not there.
    }
  }
  return null;
}

/** The lab's PID 1, as this machine numbers it. */
function firstProcessOf(labFolder: string): number {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isControl = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(labFolder, 'inside', 'control.py'));
      const numbers = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split(/\s+/);
      if (isControl && numbers?.length === 2 && numbers[1] === '1') return Number(pid);
    } catch {
      // Gone meanwhile.
    }
  }
  throw new Error('Internal error: the lab has no first process');
}

/** The zoo's own programs, beside this file in the bundle. */
export const PROGRAMS = fileURLToPath(new URL('./zoo', import.meta.url));
