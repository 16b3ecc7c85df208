import {execFileSync, spawn} from 'node:child_process';
import {copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {type AddressInfo, createConnection, createServer, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import ssh2 from 'ssh2';
import {afterAll, afterEach, beforeAll, describe, expect, it, vi} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {Secret} from '../../src/secret.ts';
import type {HostAccess, KeySource} from '../../src/ssh/access.ts';
import {makeConnections} from '../../src/ssh/connections.ts';
import {exec} from '../../src/ssh/exec.ts';
import {fingerprint} from '../../src/ssh/host-keys.ts';
import {parsePublicKey} from '../../src/ssh/known-hosts.ts';
import {DEFAULT_LIMITS, type Limits} from '../../src/ssh/limits.ts';
import {accessTo, BATCH, CLOCK, GPU_07, hostRunning, NOTHING_ASKED} from './hosts.ts';
import {answerFramed, serve} from './server.ts';
import {freePort, makeKey, programExists} from './sshd.ts';

const REQUEST = {
  command: 'sh -s',
  stdin: '',
  nonce: '0123',
  deadlineMs: 5_000,
  stdoutMaxBytes: 1_000,
  stderrMaxBytes: 1_000,
  exitGraceMs: 100,
  closeGraceMs: 100,
  onLine: () => {},
};

describe.skipIf(!programExists('ssh-keygen'))('a connection (needs ssh-keygen: apt-get install openssh-client)', () => {
  let folder = '';
  let hostKey = '';
  let clientKey = '';
  let endings: (() => unknown)[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reclaim-connections-'));
    hostKey = makeKey(folder, 'host');
    clientKey = makeKey(folder, 'client');
  });
  afterEach(async () => {
    for (const end of endings.reverse()) await end();
    endings = [];
  });
  afterAll(() => rmSync(folder, {recursive: true, force: true}));

  const publicOf = (path: string) => readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  const printOf = (path: string) => fingerprint(parsePublicKey(publicOf(path))?.blob ?? Buffer.alloc(0));

  function accessAt(port: number, key: KeySource = {kind: 'file', path: clientKey, passphrase: null}): HostAccess {
    const credential = {user: 'bot', key};
    return accessTo({port, user: 'bot', clientKey, hostKey: publicOf(hostKey)}, {look: credential, act: credential});
  }

  function hostAt(access: HostAccess, limits: Partial<Limits> = {}) {
    const made = hostRunning(access, '', limits);
    endings.push(() => made.hosts.close());
    return made.host;
  }

  async function serving(options: Omit<Parameters<typeof serve>[0], 'hostKeys'> = {}) {
    const server = await serve({hostKeys: [hostKey], onExec: answerFramed(''), ...options});
    endings.push(() => server.close());
    return server;
  }

  async function raw(onSocket: (socket: Socket) => void): Promise<number> {
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => {
      socket.on('error', () => {});
      sockets.push(socket);
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endings.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  }

  describe('with a key', () => {
    it('says that the login was refused, after exactly one try', async () => {
      let asked = 0;
      const server = await serving({
        auth: (context) => {
          asked += 1;
          context.reject();
        },
      });
      const answer = await hostAt(accessAt(server.port), {hungUpBackoffMs: 0, connectBudgetMs: 60_000}).probe(
        NOTHING_ASKED,
      );
      expect(answer).toMatchObject({ok: false, failure: {reason: 'login-refused', host: GPU_07, user: 'bot'}});
      expect([asked, server.attempts()]).toEqual([1, 1]);
    });

    it('shows one key only, never asks for `none` first', async () => {
      const methods: string[] = [];
      const server = await serving({
        auth: (context) => {
          methods.push(context.method);
          context.accept();
        },
      });
      await hostAt(accessAt(server.port)).probe(NOTHING_ASKED);
      // The question whether this key will do, then the signature.
      expect(methods).toEqual(['publickey', 'publickey']);
    });

    it.each([
      ['ed25519', ['-t', 'ed25519'], ''],
      ['ecdsa', ['-t', 'ecdsa'], ''],
      ['rsa', ['-t', 'rsa', '-b', '2048'], ''],
      ['a protected', ['-t', 'ed25519', '-a', '4'], 'open sesame'],
    ])('takes %s key', async (name, type, passphrase) => {
      const path = makeKey(folder, `type-${name}`, type, passphrase);
      const server = await serving();
      const source: KeySource = {kind: 'file', path, passphrase: passphrase === '' ? null : new Secret(passphrase)};
      expect((await hostAt(accessAt(server.port, source)).probe(NOTHING_ASKED)).ok).toBe(true);
    });

    it('parses a protected key once for many logins', async () => {
      const path = makeKey(folder, 'slow', ['-t', 'ed25519', '-a', '4'], 'open sesame');
      const server = await serving();
      const connections = makeConnections({limits: DEFAULT_LIMITS, clock: CLOCK});
      endings.push(() => connections.close());
      const source: KeySource = {kind: 'file', path, passphrase: new Secret('open sesame')};
      const access = accessAt(server.port, source);
      expect((await connections.open(access, access.look)).ok).toBe(true);
      // From here on the file is no key at all: whoever read it again would fail.
      writeFileSync(path, 'gone');
      expect((await connections.open({...access, name: hostName('gpu-08')}, access.look)).ok).toBe(true);
    });

    it.each([
      ['is absent', () => join(folder, 'absent'), null, /^ENOENT$/],
      ['is a public key', () => `${clientKey}.pub`, null, /public key/],
      ['is a certificate', () => certificate(), null, /certificate/],
      ['is no key', () => written('junk', 'hello\n'), null, /Unsupported key format/],
      [
        'lacks its passphrase',
        () => makeKey(folder, 'locked', ['-t', 'ed25519', '-a', '4'], 'secret'),
        null,
        /passphrase/i,
      ],
      [
        'has another passphrase',
        () => makeKey(folder, 'locked-2', ['-t', 'ed25519', '-a', '4'], 'secret'),
        'wrong',
        /passphrase|integrity/i,
      ],
    ])('that %s is named as unusable, and no connection is made', async (_, pathOf, passphrase, detail) => {
      const path = pathOf();
      const server = await serving();
      const source: KeySource = {kind: 'file', path, passphrase: passphrase === null ? null : new Secret(passphrase)};
      const answer = await hostAt(accessAt(server.port, source)).probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'key-unusable', path, detail: expect.stringMatching(detail)},
      });
      expect(JSON.stringify(answer)).not.toContain('secret');
      expect(server.attempts()).toBe(0);
    });

    it('blames the certificate beside it when the plain key is refused', async () => {
      const path = join(folder, 'certified');
      copyFileSync(clientKey, path);
      copyFileSync(certificate(), `${path}-cert.pub`);
      const server = await serving({auth: (context) => context.reject()});
      const answer = await hostAt(accessAt(server.port, {kind: 'file', path, passphrase: null})).probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'key-unusable', detail: expect.stringContaining(`${path}-cert.pub`)},
      });
    });

    function written(name: string, text: string): string {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    }

    function certificate(): string {
      execFileSync('ssh-keygen', ['-q', '-s', hostKey, '-I', 'bot', '-n', 'bot', `${clientKey}.pub`], {
        stdio: 'ignore',
      });
      return `${clientKey}-cert.pub`;
    }
  });

  describe.skipIf(!programExists('ssh-agent'))(
    'with an agent (needs ssh-agent: apt-get install openssh-client)',
    () => {
      let socket = '';
      let stop = () => {};

      beforeAll(async () => {
        socket = join(folder, 'agent');
        const agent = spawn('ssh-agent', ['-D', '-a', socket], {stdio: ['ignore', 'pipe', 'ignore']});
        stop = () => void agent.kill('SIGTERM');
        await new Promise((resolve) => agent.stdout.once('data', resolve));
        for (const name of ['agent-1', 'agent-2', 'agent-3']) addToAgent(makeKey(folder, name));
      });
      afterAll(() => stop());

      const addToAgent = (path: string) =>
        execFileSync('ssh-add', ['-q', path], {env: {...process.env, SSH_AUTH_SOCK: socket}, stdio: 'ignore'});

      it('shows the one key that was named', async () => {
        const shown: string[] = [];
        const server = await serving({
          auth: (context) => {
            if (context.method === 'publickey') shown.push(fingerprint(context.key.data));
            context.accept();
          },
        });
        const wanted = printOf(join(folder, 'agent-2'));
        const source: KeySource = {kind: 'agent', socket, fingerprint: wanted};
        expect((await hostAt(accessAt(server.port, source)).probe(NOTHING_ASKED)).ok).toBe(true);
        expect(new Set(shown)).toEqual(new Set([wanted]));
      });

      it.each([
        ['holds several keys and none was named', () => socket, null, 'the agent holds 3 usable keys'],
        ['does not hold the named key', () => socket, 'SHA256:none', 'the agent does not hold SHA256:none'],
        ['does not answer', () => join(folder, 'no-agent'), null, 'Failed to connect to agent'],
      ])('names an agent that %s', async (_, socketOf, wanted, detail) => {
        const server = await serving();
        const source: KeySource = {kind: 'agent', socket: socketOf(), fingerprint: wanted};
        const answer = await hostAt(accessAt(server.port, source)).probe(NOTHING_ASKED);
        expect(answer).toEqual({ok: false, failure: {reason: 'key-unusable', host: GPU_07, path: socketOf(), detail}});
        expect(server.logins()).toBe(0);
      });
    },
  );

  describe('that cannot be made', () => {
    it('names a closed port and an unknown name as unreachable', async () => {
      const closed = await hostAt(accessAt(await freePort())).probe(NOTHING_ASKED);
      expect(closed).toMatchObject({
        ok: false,
        failure: {reason: 'host-unreachable', address: '127.0.0.1', detail: expect.stringContaining('ECONNREFUSED')},
      });
      const nameless = await hostAt({...accessAt(22), address: 'no-such-host.invalid'}).probe(NOTHING_ASKED);
      expect(nameless).toMatchObject({
        ok: false,
        failure: {reason: 'host-unreachable', address: 'no-such-host.invalid'},
      });
    });

    it('names a server that says nothing, after its own time', async () => {
      const port = await raw(() => {});
      const answer = await hostAt(accessAt(port), {readyTimeoutMs: 200, connectBudgetMs: 0}).probe(NOTHING_ASKED);
      expect(answer).toEqual({ok: false, failure: {reason: 'handshake-timed-out', host: GPU_07, afterMs: 200}});
    });

    it('names a server that hangs up, and tries once more only if the wait fits its budget', async () => {
      let connects = 0;
      const port = await raw((socket) => {
        connects += 1;
        socket.end('Exceeded MaxStartups\r\n');
      });
      const hungUp = {ok: false, failure: {reason: 'host-hung-up', host: GPU_07}};
      expect(await hostAt(accessAt(port)).probe(NOTHING_ASKED)).toMatchObject(hungUp);
      expect(connects).toBe(1);
      const patient = {hungUpBackoffMs: 20, readyTimeoutMs: 1_000, connectBudgetMs: 5_000};
      expect(await hostAt(accessAt(port), patient).probe(NOTHING_ASKED)).toMatchObject(hungUp);
      expect(connects).toBe(3);
    });

    it('names a server with which no algorithm is shared', async () => {
      const server = await serving({
        algorithms: {kex: ['diffie-hellman-group-exchange-sha256', 'diffie-hellman-group14-sha256']},
      });
      const answer = await hostAt(accessAt(server.port)).probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'no-common-algorithm', detail: expect.stringContaining('key exchange')},
      });
    });
  });

  describe('that is open', () => {
    it('sends each word at once: without that, every command waits for a delayed ACK', async () => {
      const noDelay = vi.spyOn(ssh2.Client.prototype, 'setNoDelay');
      endings.push(() => noDelay.mockRestore());
      const server = await serving();
      await hostAt(accessAt(server.port)).probe(NOTHING_ASKED);
      expect(noDelay.mock.calls).toEqual([[true]]);
    });

    it('is shared by callers at the same time and reused afterwards', async () => {
      const server = await serving();
      const host = hostAt(accessAt(server.port));
      await Promise.all([host.probe(NOTHING_ASKED), host.probe(NOTHING_ASKED), host.signal(BATCH, () => {})]);
      await host.probe(NOTHING_ASKED);
      expect(server.logins()).toBe(1);
    });

    it('is opened anew, without a word, when it ended between two commands', async () => {
      const server = await serving();
      const sockets: Socket[] = [];
      const port = await raw((socket) => {
        const onward = createConnection(server.port, '127.0.0.1');
        for (const end of [socket, onward]) end.on('error', () => {});
        socket.pipe(onward).pipe(socket);
        sockets.push(socket, onward);
      });
      const host = hostAt(accessAt(port));
      expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
      for (const socket of sockets.splice(0)) socket.destroy();
      expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
      expect(server.logins()).toBe(2);
      for (const socket of sockets) socket.destroy();
    });

    it('is lost when the link goes silent, long before the deadline of the command', async () => {
      const server = await serving({onExec: () => passing.stop()});
      const passing = {stop: () => {}};
      const port = await raw((socket) => {
        const onward = createConnection(server.port, '127.0.0.1');
        for (const end of [socket, onward]) end.on('error', () => {});
        socket.pipe(onward).pipe(socket);
        // Silent, not closed: as if the cable was pulled.
        passing.stop = () => {
          socket.unpipe();
          onward.unpipe();
          endings.push(
            () => socket.destroy(),
            () => onward.destroy(),
          );
        };
      });
      const host = hostAt(accessAt(port), {keepaliveIntervalMs: 50, keepaliveCountMax: 2});
      expect(await host.signal(BATCH, () => {})).toMatchObject({ok: false, failure: {reason: 'link-lost'}});
    });

    it('that grants no more sessions is named', async () => {
      const server = await serving({onSession: (_accept, reject) => reject()});
      expect(await hostAt(accessAt(server.port)).probe(NOTHING_ASKED)).toEqual({
        ok: false,
        failure: {reason: 'too-many-sessions', host: GPU_07},
      });
    });

    it('carries no script once the deadline has passed, though the channel then opens', async () => {
      let received = '';
      let openLate = (): void => {};
      let closed = (): void => {};
      const ended = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const server = await serving({
        onSession(accept) {
          openLate = () => {
            accept().on('exec', (acceptExec) => {
              const channel = acceptExec();
              channel.on('data', (chunk: Buffer) => {
                received += chunk.toString();
              });
              channel.on('close', () => closed());
            });
          };
        },
      });
      const connections = makeConnections({limits: DEFAULT_LIMITS, clock: CLOCK});
      endings.push(() => connections.close());
      const access = accessAt(server.port);
      const opened = await connections.open(access, access.look);
      if (!opened.ok) throw new Error(opened.failure.reason);
      const answer = await exec(opened.value, {...REQUEST, stdin: 'kill', deadlineMs: 50}, CLOCK);
      expect(answer).toMatchObject({end: 'timed-out', scriptSent: false});
      openLate();
      await ended;
      expect(received).toBe('');
    });

    it('is one of at most so many logins at once to one address', async () => {
      const waiting: (() => void)[] = [];
      const server = await serving({
        auth: (context) => {
          // Holds each login until as many as may come have come, then lets all through.
          waiting.push(() => context.accept());
          if (waiting.length >= 3) for (const accept of waiting.splice(0)) accept();
        },
      });
      const connections = makeConnections({limits: {...DEFAULT_LIMITS, loginsPerAddress: 3}, clock: CLOCK});
      endings.push(() => connections.close());
      let inLogin = 0;
      const names = Array.from({length: 9}, (_, at) => hostName(`gpu-${at}`));
      const opened = await Promise.all(
        names.map(async (name) => {
          const access = {...accessAt(server.port), name};
          const answer = await connections.open(access, access.look);
          inLogin = Math.max(inLogin, server.attempts() - server.logins());
          return answer.ok;
        }),
      );
      expect(opened).toEqual(names.map(() => true));
      expect(inLogin).toBeLessThanOrEqual(3);
    });
  });
});
