/** One zoo: its keeper on the machine, what it holds, who lives. Ended with everything in it, whatever happens. */
import type {ChildProcess} from 'node:child_process';
import {chmodSync, cpSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Death} from './results.ts';
import {PROGRAMS, type Site} from './site.ts';
import type {Part} from './species.ts';

export interface MemberState {
  readonly pid: number;
  readonly alive: boolean;
  readonly state: string;
  readonly ppid: number | null;
  /** Number of the signal that ended it; null while it lives, or where the kernel does not tell. */
  readonly endedBy: number | null;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Zoo {
  readonly #site: Site;
  readonly #folder: string;
  readonly #keeper: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #ids = 0;
  readonly deaths: Death[] = [];
  /** Every process that this zoo ever made, by name. */
  readonly pids = new Map<string, number>();

  constructor(site: Site) {
    this.#site = site;
    this.#folder = mkdtempSync(join(tmpdir(), 'gpu-zoo-'));
    // Parts run under other uids, and their interpreter imports from here.
    chmodSync(this.#folder, 0o755);
    cpSync(PROGRAMS, join(this.#folder, 'zoo'), {recursive: true});
    const config = JSON.stringify({folder: this.#folder});
    this.#keeper = site.start([site.python, '-B', join(this.#folder, 'zoo', 'keeper.py'), config]);
    this.#keeper.stdin?.on('error', () => {});
    let text = '';
    this.#keeper.stdout?.on('data', (chunk: Buffer) => {
      const lines = (text + chunk.toString()).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#hear(JSON.parse(line) as Record<string, unknown>);
    });
    let complaints = '';
    this.#keeper.stderr?.on('data', (chunk: Buffer) => {
      complaints += chunk.toString();
    });
    this.#ended = new Promise((resolve) =>
      this.#keeper.once('close', () => {
        for (const one of this.#waiting.values()) one.reject(new Error(`the keeper ended: ${complaints}`));
        this.#waiting.clear();
        resolve();
      }),
    );
  }

  /** Makes these, and waits until each has said that it is ready. */
  async make(parts: readonly Part[]): Promise<void> {
    const pids = (await this.#ask('make', {parts: parts.map((part) => this.#whole(part))})) as Record<string, number>;
    for (const [name, pid] of Object.entries(pids)) this.pids.set(name, pid);
  }

  /** Ends `die` as by a crash, then tells `turns` to become their species; waits until they are. */
  async turn(die: readonly string[], turns: readonly string[]): Promise<void> {
    await this.#ask('turn', {die, turns});
  }

  async state(): Promise<Readonly<Record<string, MemberState>>> {
    return (await this.#ask('state', {})) as Record<string, MemberState>;
  }

  nameOf(pid: number): string {
    return [...this.pids].find(([, one]) => one === pid)?.[0] ?? `stranger ${pid}`;
  }

  /** What the zoo's processes complained about. */
  complaints(): string {
    try {
      return readFileSync(join(this.#folder, 'zoo.log'), 'utf8');
    } catch {
      return '';
    }
  }

  /** Ends every process of the zoo, also where the keeper itself is gone: the end of its lines ends them. */
  async end(): Promise<void> {
    if (this.#keeper.exitCode === null && this.#keeper.signalCode === null) {
      await this.#ask('end', {}).catch(() => {});
      this.#keeper.stdin?.end();
    }
    await this.#ended;
    rmSync(this.#folder, {recursive: true, force: true});
  }

  #whole(part: Part): Record<string, unknown> {
    return {
      backend: this.#site.backend,
      devices: this.#site.devices,
      gpus: [],
      MiB: 0,
      ...part,
      ...(part.meets === undefined ? {} : {meets: join(this.#folder, part.meets)}),
      workers: (part.workers ?? []).map((worker) => this.#whole(worker)),
    };
  }

  #ask(verb: string, fields: Readonly<Record<string, unknown>>): Promise<unknown> {
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#keeper.stdin?.write(`${JSON.stringify({id, do: verb, ...fields})}\n`);
    });
  }

  #hear(record: Record<string, unknown>): void {
    if (typeof record['death'] === 'string') {
      this.deaths.push({
        name: record['death'],
        uptimeMs: Number(record['uptimeMs']),
        signal: record['signal'] as number | null,
      });
      return;
    }
    const id = Number(record['re']);
    const one = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (record['ok'] === true) one?.resolve(record['value']);
    else one?.reject(new Error(`${String(record['why'])}\n${this.complaints()}`));
  }
}
