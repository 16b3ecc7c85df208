/** Shared by the tests of the SSH edge: hosts, tiny scripts in place of the real ones, and a clock. */
import {randomBytes} from 'node:crypto';
import {setTimeout as wait} from 'node:timers/promises';
import {type HostName, hostName} from '../../src/domain/host.ts';
import type {SignalBatch, SignalEvent} from '../../src/domain/order.ts';
import type {RunId} from '../../src/domain/run.ts';
import type {Transcript} from '../../src/domain/transcript.ts';
import type {Clock} from '../../src/engine/ports.ts';
import type {RemoteHost, RemoteHosts} from '../../src/engine/remote-ports.ts';
import type {HostAccess} from '../../src/ssh/access.ts';
import type {Limits} from '../../src/ssh/limits.ts';
import {makeRemoteHosts} from '../../src/ssh/remote-host.ts';

export const GPU_07: HostName = hostName('gpu-07');

export const CLOCK: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : {signal}).catch(() => {}),
};

export function accessTo(
  server: {readonly port: number; readonly user: string; readonly clientKey: string; readonly hostKey: string},
  change: Partial<HostAccess> = {},
): HostAccess {
  const credential = {user: server.user, key: {kind: 'file', path: server.clientKey, passphrase: null}} as const;
  return {
    name: GPU_07,
    address: '127.0.0.1',
    port: server.port,
    look: credential,
    act: credential,
    hostKeys: {kind: 'pinned', keys: [server.hostKey]},
    sudo: false,
    extraPath: [],
    libraryPath: [],
    deviceFolder: '/dev',
    ...change,
  };
}

/** `body` is sh text that runs between BEGIN and END, its own stdin cut off as the real scripts do. */
export function hostRunning(
  access: HostAccess,
  body: string,
  limits: Partial<Limits> = {},
  nonces: () => string = () => randomBytes(16).toString('hex'),
): {readonly host: RemoteHost; readonly hosts: RemoteHosts} {
  const framed = (nonce: string, kind: string): string =>
    `main(){\nprintf '\\n@@%s BEGIN ${kind} 1\\n' ${nonce}\n${body.replaceAll('NONCE', nonce)}\nprintf '\\n@@%s END 0\\n' ${nonce}\n}\nmain </dev/null\nexit $?\n`;
  const hosts = makeRemoteHosts({
    access: new Map([[access.name, access]]),
    scripts: {
      probe: (nonce) => `:\n${framed(nonce, 'probe')}`,
      deep: (nonce) => `:\n${framed(nonce, 'deep')}`,
      writes: (nonce) => `:\n${framed(nonce, 'writes')}`,
      owned: (nonce) => `:\n${framed(nonce, 'owned')}`,
      settings: (nonce) => `:\n${framed(nonce, 'settings')}`,
      sample: (nonce) => `:\n${framed(nonce, 'sample')}`,
      owners: (nonce) => `:\n${framed(nonce, 'owners')}`,
      signal: (nonce, frameNonce) => `#${frameNonce}\n${framed(nonce, 'signal')}#${frameNonce}\n`,
    },
    // Events of the tiny scripts: `@@NONCE beat UPTIME`.
    parseSignalLine(nonce, line): SignalEvent | null {
      const [mark, word, uptime] = line.split(' ');
      return mark === `@@${nonce}` && word === 'beat' ? {kind: 'heartbeat', uptimeMs: Number(uptime)} : null;
    },
    newNonce: nonces,
    clock: CLOCK,
    limits: {exitGraceMs: 300, ...limits},
  });
  return {host: hosts.host(access.name), hosts};
}

export const NOTHING_ASKED = {literals: [], pids: []} as const;

export const BATCH: SignalBatch = {
  runId: '7f3a' as RunId,
  requester: 'anna',
  approver: 'bo',
  machine: {hostKey: 'SHA256:x', bootId: 'b', pidNamespace: '1'},
  notAfterUptimeMs: 0,
  stop: null,
  orders: [],
  watch: [],
  watchMs: 0,
  final: true,
  expected: [],
  verifyMs: 0,
  stalledMs: 0,
};

export function valueFrom(
  answer: {ok: true; value: Transcript} | {ok: false; failure: unknown} | {ok: boolean},
): Transcript {
  if ('value' in answer) return answer.value;
  throw new Error(JSON.stringify(answer));
}

export function textOf(transcript: Transcript): string {
  return Buffer.from(transcript.stdout).toString('utf8');
}

export async function untilOk<T extends {readonly ok: boolean}>(ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + 10_000;
  for (;;) {
    const answer = await ask();
    if (answer.ok || performance.now() > untilMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
