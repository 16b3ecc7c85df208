/** The ground that the tests of keys and connections stand on: keys in a folder, and servers that are ended after each test. */
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {type AddressInfo, createServer, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {RemoteHost} from '../../src/engine/remote-ports.ts';
import type {HostAccess, KeySource} from '../../src/ssh/access.ts';
import {fingerprint} from '../../src/ssh/host-keys.ts';
import {parsePublicKey} from '../../src/ssh/known-hosts.ts';
import type {Limits} from '../../src/ssh/limits.ts';
import {accessTo, hostRunning} from './hosts.ts';
import {answerFramed, type Served, serve} from './server.ts';
import {makeKey} from './sshd.ts';

export interface Bench {
  readonly folder: string;
  readonly hostKey: string;
  readonly clientKey: string;
  readonly printOf: (path: string) => string;
  readonly accessAt: (port: number, key?: KeySource) => HostAccess;
  readonly hostAt: (access: HostAccess, limits?: Partial<Limits>) => RemoteHost;
  readonly serving: (options?: Omit<Parameters<typeof serve>[0], 'hostKeys'>) => Promise<Served>;
  /** A TCP server that speaks no SSH by itself; answers its port. */
  readonly raw: (onSocket: (socket: Socket) => void) => Promise<number>;
  /** Remembers what to end after the test. */
  readonly later: (end: () => unknown) => void;
  readonly afterTest: () => Promise<void>;
  readonly remove: () => void;
}

export function makeBench(): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'reclaim-bench-'));
  const hostKey = makeKey(folder, 'host');
  const clientKey = makeKey(folder, 'client');
  let endings: (() => unknown)[] = [];
  const later = (end: () => unknown): void => {
    endings.push(end);
  };
  const publicOf = (path: string) => readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');

  return {
    folder,
    hostKey,
    clientKey,
    later,
    printOf: (path) => fingerprint(parsePublicKey(publicOf(path))?.blob ?? Buffer.alloc(0)),
    accessAt(port, key = {kind: 'file', path: clientKey, passphrase: null}) {
      const credential = {user: 'bot', key};
      return accessTo({port, user: 'bot', clientKey, hostKey: publicOf(hostKey)}, {look: credential, act: credential});
    },
    hostAt(access, limits = {}) {
      const made = hostRunning(access, '', limits);
      later(() => made.hosts.close());
      return made.host;
    },
    async serving(options = {}) {
      const server = await serve({hostKeys: [hostKey], onExec: answerFramed(''), ...options});
      later(() => server.close());
      return server;
    },
    async raw(onSocket) {
      const sockets: Socket[] = [];
      const server: Server = createServer((socket) => {
        socket.on('error', () => {});
        sockets.push(socket);
        onSocket(socket);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      later(() => {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => server.close(resolve));
      });
      return (server.address() as AddressInfo).port;
    },
    async afterTest() {
      const ending = endings.reverse();
      endings = [];
      for (const end of ending) await end();
    },
    remove: () => rmSync(folder, {recursive: true, force: true}),
  };
}
