/** The kernel's side of a deep look: threads that should be gone, the log, MPS (`ssh/scripts/deep-kernel.sh`). */
import type {KernelState, MpsState, XidLine} from '../deep.ts';
import {redactText} from '../redact.ts';

/** Bit 9, counted from 1 (signal(7)). */
const SIGKILL_BIT = 1n << 8n;

/** Lines `/proc/PID/task/TID/FILE:TEXT` of the sections `kernel`, `wchan` and `stack`. */
export function parseKernel(
  statuses: readonly string[],
  wchans: readonly string[],
  stacks: readonly string[],
): KernelState[] {
  const threads = new Map<string, {pid: number; tid: number; state: string; killPending: boolean}>();
  for (const {pid, tid, text} of threadLines(statuses, 'status')) {
    const key = `${pid}/${tid}`;
    const thread = threads.get(key) ?? {pid, tid, state: '', killPending: false};
    threads.set(key, thread);
    const [, field, value = ''] = /^(State|SigPnd|ShdPnd):\s*([0-9A-Za-z]+)/.exec(text) ?? [];
    if (field === 'State') thread.state = value;
    else if (field !== undefined && /^[0-9a-f]{1,32}$/.test(value)) {
      thread.killPending ||= (BigInt(`0x${value}`) & SIGKILL_BIT) !== 0n;
    }
  }
  const wchan = new Map<string, string>();
  for (const {pid, tid, text} of threadLines(wchans, 'wchan')) {
    // `0`: it runs, or we may not know.
    if (text !== '' && text !== '0') wchan.set(`${pid}/${tid}`, text.slice(0, 100));
  }
  const stack = new Map<string, string[]>();
  for (const {pid, tid, text} of threadLines(stacks, 'stack')) {
    // "[<0>] function+0x12/0x34 [module]"
    const name = /^\[<[0-9a-f]+>\] ([\w.$]+)/.exec(text)?.[1];
    if (name !== undefined) stack.set(`${pid}/${tid}`, [...(stack.get(`${pid}/${tid}`) ?? []), name]);
  }
  return [...threads]
    .filter(([, thread]) => thread.state !== '')
    .map(([key, thread]) => ({...thread, wchan: wchan.get(key) ?? null, stack: stack.get(key) ?? null}));
}

export interface XidLog {
  readonly lines: readonly XidLine[];
  /** `dmesg`, `kmsg` or `journal`; null: none could be read. */
  readonly source: string | null;
  /** Logs that were tried and could not be read. */
  readonly unread: readonly string[];
  /** False if the log begins after the moment that was asked for, or was cut by its deadline. */
  readonly whole: boolean;
}

/** Section `xids`. Only what came since `@since` is kept. */
export function parseXids(body: string): XidLog {
  const since = Number(/^@since (\d{1,15})$/m.exec(body)?.[1] ?? 0);
  const [, source = null, code] = /^@read ([a-z]+) (\d+)$/m.exec(body) ?? [];
  const from = stampOf(/^@from (.*)$/m.exec(body)?.[1] ?? '');
  const lines: XidLine[] = [];
  for (const line of body.split('\n')) {
    const at = stampOf(line);
    if (at === null || at.uptimeMs < since) continue;
    const [, bus, xid, text = ''] =
      /^NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{1,5})(?:, (.*))?$/.exec(at.text) ?? [];
    if (bus === undefined) continue;
    const pid = /\bpid=(\d{1,10})\b/.exec(text)?.[1];
    lines.push({
      uptimeMs: at.uptimeMs,
      busId: busIdOf(bus),
      code: Number(xid),
      pid: pid === undefined ? null : Number(pid),
      text: redactText(text),
    });
  }
  return {
    lines,
    source,
    unread: [...body.matchAll(/^@unread ([a-z]+) /gm)].map((match) => match[1] ?? ''),
    whole: source !== null && code === '0' && (since === 0 || (from !== null && from.uptimeMs <= since)),
  };
}

/**
 * Section `mps`: lines `control PID`, `server PID`, `client SERVER CLIENT`. null: no MPS here, or `answered` is false and
 * nothing is known of its clients.
 */
export function parseMps(lines: readonly string[], answered: boolean): MpsState | null {
  let controlPid: number | null = null;
  const servers = new Map<number, number[]>();
  for (const line of lines) {
    const [, word, first, second] = /^(control|server|client) ([1-9]\d{0,9})(?: ([1-9]\d{0,9}))?$/.exec(line) ?? [];
    const pid = Number(first);
    if (word === 'control') controlPid = pid;
    else if (word !== undefined) servers.set(pid, servers.get(pid) ?? []);
    if (word === 'client' && second !== undefined) servers.get(pid)?.push(Number(second));
  }
  if (!answered || (controlPid === null && servers.size === 0)) return null;
  return {controlPid, servers: [...servers].map(([pid, clients]) => ({pid, clients}))};
}

function* threadLines(lines: readonly string[], file: string): Generator<{pid: number; tid: number; text: string}> {
  const shape = new RegExp(`^/proc/([1-9]\\d{0,9})/task/([1-9]\\d{0,9})/${file}:(.*)$`);
  for (const line of lines) {
    const [, pid, tid, text] = shape.exec(line) ?? [];
    if (text !== undefined) yield {pid: Number(pid), tid: Number(tid), text};
  }
}

/** `[ 123.456789] TEXT` (dmesg), the same with `HOST kernel: ` (journalctl -o short-monotonic), or `6,12,123456789,-;TEXT` (kmsg). */
function stampOf(line: string): {uptimeMs: number; text: string} | null {
  const [, seconds, text] = /^\[ *(\d{1,12}\.\d+)\](?: ?\[ *[TC]\d+\])? (?:\S+ kernel: )?(.*)$/.exec(line) ?? [];
  if (seconds !== undefined && text !== undefined) return {uptimeMs: Math.floor(Number(seconds) * 1000), text};
  const [, micros, said] = /^\d+,\d+,(\d{1,18}),[^;]*;(.*)$/.exec(line) ?? [];
  return micros === undefined || said === undefined ? null : {uptimeMs: Math.floor(Number(micros) / 1000), text: said};
}

/** `0000:3B:00` -> `00000000:3b:00.0`: the driver leaves out the function, and nvidia-smi does not. */
function busIdOf(printed: string): string {
  const [domain = '', ...rest] = printed.toLowerCase().split(':');
  const whole = rest.length < 2 ? ['0', domain, ...rest] : [domain, ...rest];
  const id = [whole[0]?.padStart(8, '0'), ...whole.slice(1)].join(':');
  return id.includes('.') ? id : `${id}.0`;
}
