/** A lab host: real processes, real signals, real /proc, a real SSH server. Only nvidia-smi is a stand-in, and says so. */
import {randomUUID} from 'node:crypto';
import {readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type LabGpu, labGpus} from './gpus.ts';
import {type LabHostEntry, labHostEntry} from './host-entry.ts';
import {type LedgerEntry, ledgerTotals, readLedger} from './ledger.ts';
import type {LoginShell} from './login-shells.ts';
import {findPython} from './machine.ts';
import {type LabProcess, labelsOf, labProcess, type ReadyEvent, tokened} from './process-tree.ts';
import type {Allocation, LabSpec} from './species.ts';
import {type Door, type LabKind, type RunAs, type Started, startKind} from './start.ts';
import {parseWitness, type WitnessRecord} from './witness.ts';

/** `gpu-fault` puts `text` in place of GPU `index`'s figures, e.g. `[Unknown Error]` or `[GPU requires reset]`. */
export type SmiFault =
  | {readonly kind: 'none' | 'hung' | 'garbage' | 'failed' | 'no-devices' | 'missing'}
  | {readonly kind: 'gpu-fault'; readonly index: number; readonly text: string};

/**
 * `containers`, `uids`, `etc` (deny file, login shells), `daemons` (/usr/bin), `driver-folder`, `boot-id`, `pid-reuse`,
 * `sshd`, `shm` and `own-proc` (nobody else's files and processes in sight), `device-numbers` (a second node, /dev/gpu/N, a
 * character device), `freezer` (v1), `rings` (io_uring).
 */
export type LabFeature = string;

export interface LabOptions {
  readonly name: string;
  readonly gpus: number;
  /** Per GPU; 97,871 if not said. */
  readonly totalMiB?: number;
  /** Only this kind, or a throw with the machine's reason. Otherwise the best that works. */
  readonly kind?: LabKind;
  /** The same port and keys at each start; new ones if it is not said. */
  readonly door?: Door;
  /** As root: run the lab under this ordinary user (kinds `user` and `flat`). */
  readonly runAs?: RunAs;
}

/** One process as `ps` would show it. */
export interface LabFacts {
  readonly state: string;
  readonly title: string;
  readonly alive: boolean;
}

export interface Lab {
  readonly name: string;
  readonly kind: LabKind;
  /** One sentence: which kind this is and why no better one. */
  readonly why: string;
  readonly gpus: readonly LabGpu[];
  readonly features: ReadonlySet<LabFeature>;
  readonly folder: string;
  /** What belongs under this host's name in a hosts file. */
  hostsEntry(): LabHostEntry;
  /** Resolves when the process is what its species says (holding, stopped, its parents dead, …). */
  spawn(spec: LabSpec): Promise<LabProcess>;
  /** MiB in use per GPU index, from /proc/locks. */
  ledger(): Promise<readonly number[]>;
  ledgerEntries(): Promise<readonly LedgerEntry[]>;
  witness(): Promise<readonly WitnessRecord[]>;
  /** False for a plain zombie; true for a zombie leader whose threads live. */
  alive(pid: number): Promise<boolean>;
  /** State letter and title as ps has them, in the order asked for; null where there is no such process. */
  facts(pids: readonly number[]): Promise<readonly (LabFacts | null)[]>;
  /** Every PID that the lab sees; in a flat lab the whole machine's. */
  pids(): Promise<readonly number[]>;
  setFault(fault: SmiFault): void;
  /** Needs `etc`. `sleepS` is for `sleeps`. */
  setLoginShell(shell: LoginShell, sleepS?: number): Promise<void>;
  /** The file /etc/gpu-reclaim/deny inside; needs `etc`. */
  setDeny(on: boolean): Promise<void>;
  setUtilization(percent: Readonly<Record<number, number>>): void;
  /** Cuts every open SSH link, leaving what runs behind it. Returns how many. */
  dropConnections(): Promise<number>;
  /** Ends that holder without a signal and starts `spec` under the same PID; needs `pid-reuse`. */
  reusePid(pid: number, spec: LabSpec): Promise<LabProcess>;
  /** The holder becomes another program: PID, start time and device files stay. */
  execInPlace(pid: number): Promise<void>;
  /** Ends an inheritor's living parents, without a signal. */
  orphan(ghost: LabProcess): Promise<void>;
  /** Lets a holder end by itself, without a signal. */
  endOfItself(pid: number): Promise<void>;
  /** A holder takes more memory. */
  take(pid: number, holds: readonly Allocation[]): Promise<void>;
  /** As if the machine had been started again: another boot id; needs `boot-id`. */
  changeBootId(): void;
  /** Lines that reached the lab's /dev/log. */
  journal(): readonly string[];
  /** Ends every process of the lab and removes its folder. */
  stop(): Promise<void>;
}

const KINDS: readonly LabKind[] = ['root', 'user', 'flat'];

/** Tries the kinds from the best on; throws only if even a flat lab fails, or the asked kind does. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const python = findPython();
  if (python === null) throw new Error('a lab needs python3: apt-get install python3');
  const gpus = labGpus(options.name, options.gpus, options.totalMiB ?? 97_871);
  const refused: string[] = [];
  for (const kind of options.kind ? [options.kind] : KINDS) {
    try {
      const started = await startKind(kind, gpus, python, options.runAs ?? null, options.door ?? null);
      return new RunningLab(options.name, gpus, started, python, refused);
    } catch (error) {
      refused.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no lab can be had on this machine (${refused.join('; ')})`);
}

const KIND_WORDS: Readonly<Record<LabKind, string>> = {
  root: 'root lab: own mount and PID namespace, several uids',
  user: 'user lab: user, mount and PID namespace, one uid, the bystander differs by session only',
  flat: "flat lab: the machine's own /proc, only the lab's own holders count, no deny file",
};

class RunningLab implements Lab {
  readonly name: string;
  readonly kind: LabKind;
  readonly why: string;
  readonly gpus: readonly LabGpu[];
  readonly features: ReadonlySet<LabFeature>;
  readonly folder: string;
  readonly #started: Started;
  readonly #python: string;
  readonly #labels = new Map<string, string>();

  constructor(name: string, gpus: readonly LabGpu[], started: Started, python: string, refused: readonly string[]) {
    this.name = name;
    this.gpus = gpus;
    this.kind = started.kind;
    this.folder = started.folder.path;
    this.#started = started;
    this.#python = python;
    this.features = new Set([...started.link.hello.features, ...(started.ownServer ? [] : ['sshd'])]);
    const server = started.ownServer ? "ssh2's server" : 'sshd inside';
    const reasons = refused.length > 0 ? ` (refused: ${refused.join('; ')})` : '';
    this.why = `${KIND_WORDS[started.kind]}, ${server}${reasons}`;
  }

  hostsEntry(): LabHostEntry {
    return labHostEntry(this.#started);
  }

  async spawn(spec: LabSpec): Promise<LabProcess> {
    return this.#start('spawn', spec, {});
  }

  async ledger(): Promise<readonly number[]> {
    return ledgerTotals(await this.ledgerEntries(), this.gpus.length);
  }

  async ledgerEntries(): Promise<readonly LedgerEntry[]> {
    return readLedger(this.#started.link.hello.keys);
  }

  async witness(): Promise<readonly WitnessRecord[]> {
    await this.#started.link.ask('sync');
    return parseWitness(readFileSync(join(this.folder, 'run', 'witness'), 'utf8'), this.#labels);
  }

  async alive(pid: number): Promise<boolean> {
    return (await this.#started.link.ask('alive', {pid})) === true;
  }

  async facts(pids: readonly number[]): Promise<readonly (LabFacts | null)[]> {
    return (await this.#started.link.ask('facts', {pids})) as readonly (LabFacts | null)[];
  }

  async pids(): Promise<readonly number[]> {
    return (await this.#started.link.ask('pids')) as readonly number[];
  }

  setFault(fault: SmiFault): void {
    const standIn = join(this.folder, 'bin', 'nvidia-smi');
    const hidden = join(this.folder, 'bin', 'hidden');
    if (fault.kind === 'missing') {
      renameSync(standIn, hidden);
      return;
    }
    try {
      renameSync(hidden, standIn);
    } catch {
      // It was not hidden.
    }
    const words = fault.kind === 'gpu-fault' ? `gpu-fault ${fault.index} ${fault.text}` : fault.kind;
    if (fault.kind === 'none') rmSync(join(this.folder, 'control', 'smi'), {force: true});
    else writeFileSync(join(this.folder, 'control', 'smi'), words);
  }

  async setLoginShell(shell: LoginShell, sleepS = 0): Promise<void> {
    writeFileSync(join(this.folder, 'control', 'shell-sleep-s'), String(sleepS));
    const path = shell === 'normal' ? '/bin/sh' : join(this.folder, 'bin', `shell-${shell}`);
    this.#started.shell.current = path;
    if (!this.#started.ownServer) await this.#started.link.ask('shell', {path});
  }

  async setDeny(on: boolean): Promise<void> {
    if (!this.features.has('etc'))
      throw new Error(`${this.kind} lab: /etc is the machine's own, no deny file is put there`);
    await this.#started.link.ask('deny', {on});
  }

  setUtilization(percent: Readonly<Record<number, number>>): void {
    const lines = Object.entries(percent).map(([index, value]) => `${index} ${value}`);
    writeFileSync(join(this.folder, 'control', 'utilization'), `${lines.join('\n')}\n`);
  }

  async dropConnections(): Promise<number> {
    if (this.#started.ownServer) return this.#started.ownServer.dropConnections();
    return Number(await this.#started.link.ask('drop'));
  }

  async reusePid(pid: number, spec: LabSpec): Promise<LabProcess> {
    if (!this.features.has('pid-reuse'))
      throw new Error(`${this.kind} lab: a PID of the machine's own cannot be had again`);
    return this.#start('reuse', spec, {pid});
  }

  async execInPlace(pid: number): Promise<void> {
    const executable = join(this.folder, 'bin', 'other-job');
    await this.#started.link.ask('exec', {pid, executable, argv: ['other-job', 'resume']});
  }

  async orphan(ghost: LabProcess): Promise<void> {
    await this.#started.link.ask('command', {pid: ghost.pid, command: {do: 'orphan'}, gone: ghost.billed});
  }

  async endOfItself(pid: number): Promise<void> {
    await this.#started.link.ask('command', {pid, command: {do: 'exit'}, gone: [pid]});
  }

  async take(pid: number, holds: readonly Allocation[]): Promise<void> {
    await this.#started.link.ask('command', {pid, command: {do: 'take', holds}});
  }

  changeBootId(): void {
    if (!this.features.has('boot-id')) throw new Error(`${this.kind} lab: the boot id is the machine's own`);
    writeFileSync(join(this.folder, 'run', 'boot_id'), `${randomUUID()}\n`);
  }

  journal(): readonly string[] {
    return readFileSync(join(this.folder, 'run', 'journal'), 'utf8')
      .split('\n')
      .slice(0, -1);
  }

  async stop(): Promise<void> {
    await this.#started.ownServer?.close();
    await this.#started.link.end();
  }

  async #start(op: string, spec: LabSpec, fields: Readonly<Record<string, unknown>>): Promise<LabProcess> {
    const {features, folder} = this;
    const request = tokened(spec, {python: this.#python, devices: this.#started.devices, folder, features});
    for (const [token, label] of labelsOf(request)) this.#labels.set(token, label);
    const events = (await this.#started.link.ask(op, {...fields, spec: request})) as readonly ReadyEvent[];
    return labProcess(request, new Map(events.map((event) => [event.token, event])));
  }
}
