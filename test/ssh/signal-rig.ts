/** What the tests of the signalling script stand on: real shells, real targets that say what reached them, a stand-in nvidia-smi. */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import type {Order, SignalBatch, SignalEvent} from '../../src/domain/order.ts';
import {parseSignalLine} from '../../src/domain/parse/signal-output.ts';
import type {ProcessIdentity} from '../../src/domain/process.ts';
import {runId} from '../../src/domain/run.ts';
import {signalScript} from '../../src/ssh/signal-script.ts';

export const NONCE = 'a1'.repeat(16);
export const FRAME = 'b2'.repeat(16);
export const GPU = 'GPU-00000000-1111-2222-3333-444444444444';

/** Each is called `sh`, as on a host where it is the system's shell. */
export const SHELLS = ['dash', 'bash', 'busybox', 'mksh'] as const;
export type Shell = (typeof SHELLS)[number];
export const SENDERS = ['perl', 'python3', 'neither'] as const;
export type Sender = (typeof SENDERS)[number];

export function has(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

export function uptimeMs(): number {
  return Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
}

/** A folder of its own with device files, a PATH folder, and the log of the stand-in logger. */
export interface Rig {
  readonly folder: string;
  readonly devices: string;
  /** A PATH of every program of this machine, but for the senders that are not `sender`. */
  path(sender: Sender, shell: Shell): string;
  /** sh text of a stand-in for any program, found before the real one. */
  fake(name: string, text: string): void;
  journal(): string;
  target(mode: TargetMode): Promise<Target>;
  end(): Promise<void>;
}

/**
 * `honours`: ends at SIGTERM · `deaf`: says that it came, and goes on · `zombie-leader`: its first thread ends, another
 * holds the device · `unreaped`: a child whose parent never waits for it.
 */
export type TargetMode = 'honours' | 'deaf' | 'zombie-leader' | 'unreaped';

export interface Target {
  readonly identity: ProcessIdentity;
  /** Does something and waits until it is done: `close` the device, `map` and close it, `exec` another program, `name` itself. */
  tell(command: 'close' | 'map' | 'exec' | 'name' | 'ping'): Promise<void>;
  /** Signals that really arrived, in order: those it caught, then the one that ended it. Waits until they all must be there. */
  received(): Promise<readonly string[]>;
  readonly ended: Promise<unknown>;
}

const TARGET = `
import ctypes, os, signal, sys, threading
mode, node = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None)
if mode == "unreaped":
    child = os.fork()
    if child:
        os.write(1, b"ready %d\\n" % child)
        sys.stdin.readline()
        os._exit(0)
held = open(node, "rb")
def got(number, frame):
    os.write(1, b"got SIGTERM\\n")
    if mode == "honours":
        os._exit(0)
if mode != "zombie-leader":
    signal.signal(signal.SIGTERM, got)
def serve():
    for line in sys.stdin:
        word = line.strip()
        if word == "close":
            held.close()
        elif word == "map":
            # Not the mmap module: it keeps a second descriptor open.
            libc.mmap(None, ctypes.c_size_t(4096), 1, 1, held.fileno(), ctypes.c_long(0))
            held.close()
        elif word == "name":
            libc.prctl(15, b"x) R 1 1\\n(y $(z)", 0, 0, 0)
        elif word == "exec":
            os.set_inheritable(held.fileno(), True)
            os.execvp("cat", ["cat"])
        os.write(1, b"did\\n")
if mode == "zombie-leader":
    threading.Thread(target=serve).start()
    os.write(1, b"ready %d\\n" % os.getpid())
    libc.pthread_exit(None)
elif mode == "unreaped":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pause()
else:
    os.write(1, b"ready %d\\n" % os.getpid())
    serve()
`;

export function makeRig(): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'reclaim-signal-'));
  const devices = join(folder, 'dev');
  const fakes = join(folder, 'fakes');
  for (const made of [devices, fakes]) mkdirSync(made);
  writeFileSync(join(devices, 'nvidia0'), Buffer.alloc(4096));
  const targets: {readonly child: ChildProcess; readonly target: Target}[] = [];
  const fake = (name: string, text: string): void => {
    writeFileSync(join(fakes, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(fakes, name), 0o755);
  };
  fake('logger', `echo "$*" >>'${folder}/journal'`);
  fake('nvidia-smi', `echo '${GPU}, 4'`);
  return {
    folder,
    devices,
    fake,
    path(sender, shell) {
      return `${fakes}:${farm(sender, shell)}`;
    },
    journal: () => (existsSync(join(folder, 'journal')) ? readFileSync(join(folder, 'journal'), 'utf8') : ''),
    async target(mode) {
      const child = spawn('python3', ['-ISc', TARGET, mode, join(devices, 'nvidia0')], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const target = await describeTarget(child, mode);
      targets.push({child, target});
      return target;
    },
    async end() {
      for (const {child, target} of targets) {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
        await target.ended;
      }
      rmSync(folder, {recursive: true, force: true, maxRetries: 5});
    },
  };
}

async function describeTarget(child: ChildProcess, mode: TargetMode): Promise<Target> {
  if (child.stdout === null || child.stdin === null) throw new Error('no pipes');
  const {stdin} = child;
  stdin.on('error', () => {});
  const got: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  createInterface({input: child.stdout}).on('line', (line) => {
    if (line.startsWith('got ')) got.push(line.slice(4));
    else waiting.shift()?.(line);
  });
  const answer = (): Promise<string> => new Promise((resolve) => waiting.push(resolve));
  const ended = once(child, 'close');
  const ready = await answer();
  const pid = Number(ready.slice('ready '.length));
  if (mode === 'zombie-leader') await until(() => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z '));
  const executable = mode === 'zombie-leader' ? threadExecutable(pid) : statSync(`/proc/${pid}/exe`);
  const identity = {
    pid,
    startTicks: startTicks(pid),
    uid: process.getuid?.() ?? 0,
    executable: `${executable.dev}:${executable.ino}`,
  };
  let execed = false;
  const over = () => child.exitCode !== null || child.signalCode !== null;
  const ask = async (word: string): Promise<void> => {
    const done = answer();
    stdin.write(`${word}\n`);
    await Promise.race([done, ended]);
  };
  return {
    identity,
    ended,
    async tell(command) {
      if (command !== 'exec') return ask(command);
      execed = true;
      stdin.write('exec\n');
      // Not earlier: python would read the next line as well, and take it with it.
      await until(() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'cat\n');
      await ask('echo');
    },
    async received() {
      // An answer after the script's end comes behind every signal that was sent before.
      if (!over()) await ask(execed ? 'echo' : 'ping');
      if (over()) await ended;
      return [...got, ...(child.signalCode === null ? [] : [child.signalCode])];
    },
  };
}

function threadExecutable(pid: number): {readonly dev: number; readonly ino: number} {
  const thread = readdirSync(`/proc/${pid}/task`).find((id) => id !== String(pid));
  return statSync(`/proc/${pid}/task/${thread}/exe`);
}

export function startTicks(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** True while that very process is there. */
export function lives(pid: number, ticks: string): boolean {
  try {
    return startTicks(pid) === ticks;
  } catch {
    // ENOENT, or ESRCH where it went between open and read.
    return false;
  }
}

/** Waits for something that only /proc shows. */
export async function until(holds: () => boolean, limitMs = 5000): Promise<void> {
  const started = performance.now();
  while (!holds()) {
    if (performance.now() - started > limitMs) throw new Error(`not so within ${limitMs} ms: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const farms = new Map<string, string>();

/** A folder of links to every program here, with `sh` being `shell` and no sender but `sender`. Made once a process. */
function farm(sender: Sender, shell: Shell): string {
  const known = farms.get(`${sender} ${shell}`);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'reclaim-path-'));
  farms.set(`${sender} ${shell}`, folder);
  if (farms.size === 1) process.once('exit', removeFarms);
  chmodSync(folder, 0o755);
  const planted = new Set(['sh']);
  for (const from of ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']) {
    for (const name of existsSync(from) ? readdirSync(from) : []) {
      const isSender = /^(perl|python)/.test(name);
      if ((isSender && name !== sender) || planted.has(name)) continue;
      planted.add(name);
      symlinkSync(join(from, name), join(folder, name));
    }
  }
  symlinkSync(join(folder, shell), join(folder, 'sh'));
  return folder;
}

function removeFarms(): void {
  for (const made of farms.values()) rmSync(made, {recursive: true, force: true});
}

export function order(
  identity: ProcessIdentity,
  signal: Order['signal'] = 'SIGTERM',
  mustHold: Order['mustHold'] = 'paths',
): Order {
  return {identity, signal, mustHold};
}

export function batch(orders: readonly Order[], change: Partial<SignalBatch> = {}): SignalBatch {
  return {
    runId: runId('0123456789ab'),
    requester: 'anna',
    approver: 'U042',
    machine: {
      hostKey: 'SHA256:none',
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNamespace: readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''),
    },
    notAfterUptimeMs: uptimeMs() + 20_000,
    stop: null,
    orders,
    watch: orders.map(({identity}) => identity),
    watchMs: 300,
    final: false,
    expected: [{gpuUuid: GPU, atMostMiB: 10}],
    verifyMs: 5000,
    stalledMs: 400,
    ...change,
  };
}

export interface Answer {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly code: number | null;
  readonly events: readonly SignalEvent[];
  readonly tookMs: number;
}

export interface Running {
  readonly child: ChildProcess;
  readonly answer: Promise<Answer>;
  /** Resolves when an event that fits has come. */
  saw(fits: (event: SignalEvent) => boolean): Promise<SignalEvent>;
}

export interface RunOptions {
  readonly shell?: Shell;
  readonly sender?: Sender;
  /** Run before the command, as a login shell would. */
  readonly before?: string;
  readonly cut?: (script: string) => string;
  /** Words in front of the whole command. */
  readonly wrap?: readonly string[];
}

/** Starts the script as the SSH edge does: behind `timeout` and `env -i`, verified before it runs. */
export function start(rig: Rig, asked: SignalBatch, options: RunOptions = {}): Running {
  const path = rig.path(options.sender ?? 'perl', options.shell ?? 'dash');
  const verify = `s=$(cat); case $s in "#${FRAME}"*"#${FRAME}") eval "$s";; *) echo REFUSED; exit 97;; esac`;
  const script = signalScript(NONCE, FRAME, asked, {deviceFolder: rig.devices});
  const startedAt = performance.now();
  const command = `${options.before ?? ''}\nexec timeout -k 2 30 env -i PATH='${path}' LC_ALL=C sh -c '${verify}'`;
  const [program = 'sh', ...words] = [...(options.wrap ?? []), 'sh', '-c', command];
  const child = spawn(program, words, {stdio: ['pipe', 'pipe', 'pipe']});
  child.stdin.on('error', () => {});
  child.stdin.end((options.cut ?? ((text: string) => text))(script));
  const chunks: Buffer[] = [];
  const stderr: string[] = [];
  const events: SignalEvent[] = [];
  const waiting: {readonly fits: (event: SignalEvent) => boolean; readonly resolve: (event: SignalEvent) => void}[] =
    [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  createInterface({input: child.stdout}).on('line', (line) => {
    const event = parseSignalLine(NONCE, line);
    if (event === null) return;
    events.push(event);
    for (const {fits, resolve} of waiting) if (fits(event)) resolve(event);
  });
  const answer = once(child, 'close').then(([code]: unknown[]) => ({
    stdout: Buffer.concat(chunks),
    stderr: stderr.join(''),
    code: typeof code === 'number' ? code : null,
    events,
    tookMs: performance.now() - startedAt,
  }));
  return {
    child,
    answer,
    saw: (fits) =>
      new Promise((resolve) => {
        const earlier = events.find(fits);
        if (earlier !== undefined) resolve(earlier);
        else waiting.push({fits, resolve});
      }),
  };
}

export function run(rig: Rig, asked: SignalBatch, options: RunOptions = {}): Promise<Answer> {
  return start(rig, asked, options).answer;
}

/** `PID: result detail` of each order, in the order they came. */
export function results(answer: Answer): readonly string[] {
  return answer.events
    .filter((event) => event.kind === 'order')
    .map((event) => `${event.result} ${event.detail}`.trim());
}

export function handles(answer: Answer): ReadonlySet<string> {
  return new Set(answer.events.filter((event) => event.kind === 'order').map((event) => event.handle));
}

export function observations(answer: Answer, pid: number): readonly string[] {
  return answer.events
    .filter((event) => event.kind === 'seen')
    .filter((event) => event.pid === pid)
    .map((event) => event.observation);
}

export function settled(answer: Answer): readonly string[] {
  return answer.events.filter((event) => event.kind === 'settled').map((event) => event.how);
}

export function canUnshareMounts(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
}
