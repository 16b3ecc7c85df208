import {createConnection, type Socket} from 'node:net';
import ssh2 from 'ssh2';
import {afterAll, afterEach, beforeAll, describe, expect, it, vi} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {makeConnections} from '../../src/ssh/connections.ts';
import {exec} from '../../src/ssh/exec.ts';
import {DEFAULT_LIMITS} from '../../src/ssh/limits.ts';
import {type Bench, makeBench} from './bench.ts';
import {BATCH, CLOCK, GPU_07, NOTHING_ASKED} from './hosts.ts';
import {freePort, programExists} from './sshd.ts';

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
  let bench: Bench;

  beforeAll(() => {
    bench = makeBench();
  });
  afterEach(() => bench.afterTest());
  afterAll(() => bench.remove());

  describe('that cannot be made', () => {
    it('names a closed port and an unknown name as unreachable', async () => {
      const closed = await bench.hostAt(bench.accessAt(await freePort())).probe(NOTHING_ASKED);
      expect(closed).toMatchObject({
        ok: false,
        failure: {reason: 'host-unreachable', address: '127.0.0.1', detail: expect.stringContaining('ECONNREFUSED')},
      });
      const nameless = await bench
        .hostAt({...bench.accessAt(22), address: 'no-such-host.invalid'})
        .probe(NOTHING_ASKED);
      expect(nameless).toMatchObject({
        ok: false,
        failure: {reason: 'host-unreachable', address: 'no-such-host.invalid'},
      });
    });

    it('names a server that says nothing, after its own time', async () => {
      const port = await bench.raw(() => {});
      const answer = await bench
        .hostAt(bench.accessAt(port), {readyTimeoutMs: 200, connectBudgetMs: 0})
        .probe(NOTHING_ASKED);
      expect(answer).toEqual({ok: false, failure: {reason: 'handshake-timed-out', host: GPU_07, afterMs: 200}});
    });

    it('names a server that hangs up, and tries once more only if the wait fits its budget', async () => {
      let connects = 0;
      const port = await bench.raw((socket) => {
        connects += 1;
        socket.end('Exceeded MaxStartups\r\n');
      });
      const hungUp = {ok: false, failure: {reason: 'host-hung-up', host: GPU_07}};
      expect(await bench.hostAt(bench.accessAt(port)).probe(NOTHING_ASKED)).toMatchObject(hungUp);
      expect(connects).toBe(1);
      const patient = {hungUpBackoffMs: 20, readyTimeoutMs: 1_000, connectBudgetMs: 5_000};
      expect(await bench.hostAt(bench.accessAt(port), patient).probe(NOTHING_ASKED)).toMatchObject(hungUp);
      expect(connects).toBe(3);
    });

    it('names a server with which no algorithm is shared', async () => {
      const server = await bench.serving({
        algorithms: {kex: ['diffie-hellman-group-exchange-sha256', 'diffie-hellman-group14-sha256']},
      });
      const answer = await bench.hostAt(bench.accessAt(server.port)).probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'no-common-algorithm', detail: expect.stringContaining('key exchange')},
      });
    });
  });

  describe('that is open', () => {
    it('sends each word at once: without that, every command waits for a delayed ACK', async () => {
      const noDelay = vi.spyOn(ssh2.Client.prototype, 'setNoDelay');
      bench.later(() => noDelay.mockRestore());
      const server = await bench.serving();
      await bench.hostAt(bench.accessAt(server.port)).probe(NOTHING_ASKED);
      expect(noDelay.mock.calls).toEqual([[true]]);
    });

    it('is shared by callers at the same time and reused afterwards', async () => {
      const server = await bench.serving();
      const host = bench.hostAt(bench.accessAt(server.port));
      await Promise.all([host.probe(NOTHING_ASKED), host.probe(NOTHING_ASKED), host.signal(BATCH, () => {})]);
      await host.probe(NOTHING_ASKED);
      expect(server.logins()).toBe(1);
    });

    it('is opened anew, without a word, when it ended between two commands', async () => {
      const server = await bench.serving();
      const sockets: Socket[] = [];
      const port = await bench.raw((socket) => {
        const onward = createConnection(server.port, '127.0.0.1');
        for (const end of [socket, onward]) end.on('error', () => {});
        socket.pipe(onward).pipe(socket);
        sockets.push(socket, onward);
      });
      const host = bench.hostAt(bench.accessAt(port));
      expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
      for (const socket of sockets.splice(0)) socket.destroy();
      expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
      expect(server.logins()).toBe(2);
      for (const socket of sockets) socket.destroy();
    });

    it('is lost when the link goes silent, long before the deadline of the command', async () => {
      const server = await bench.serving({onExec: () => passing.stop()});
      const passing = {stop: () => {}};
      const port = await bench.raw((socket) => {
        const onward = createConnection(server.port, '127.0.0.1');
        for (const end of [socket, onward]) end.on('error', () => {});
        socket.pipe(onward).pipe(socket);
        // Silent, not closed: as if the cable was pulled.
        passing.stop = () => {
          socket.unpipe();
          onward.unpipe();
          bench.later(() => onward.destroy());
        };
      });
      const host = bench.hostAt(bench.accessAt(port), {keepaliveIntervalMs: 50, keepaliveCountMax: 2});
      expect(await host.signal(BATCH, () => {})).toMatchObject({ok: false, failure: {reason: 'link-lost'}});
    });

    it('that grants no more sessions is named', async () => {
      const server = await bench.serving({onSession: (_accept, reject) => reject()});
      expect(await bench.hostAt(bench.accessAt(server.port)).probe(NOTHING_ASKED)).toEqual({
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
      const server = await bench.serving({
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
      bench.later(() => connections.close());
      const access = bench.accessAt(server.port);
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
      const server = await bench.serving({
        auth: (context) => {
          // Holds each login until as many as may come have come, then lets all through.
          waiting.push(() => context.accept());
          if (waiting.length >= 3) for (const accept of waiting.splice(0)) accept();
        },
      });
      const connections = makeConnections({limits: {...DEFAULT_LIMITS, loginsPerAddress: 3}, clock: CLOCK});
      bench.later(() => connections.close());
      let inLogin = 0;
      const names = Array.from({length: 9}, (_, at) => hostName(`gpu-${at}`));
      const opened = await Promise.all(
        names.map(async (name) => {
          const access = {...bench.accessAt(server.port), name};
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
