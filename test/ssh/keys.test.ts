import {execFileSync, spawn} from 'node:child_process';
import {copyFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {Secret} from '../../src/secret.ts';
import type {KeySource} from '../../src/ssh/access.ts';
import {makeConnections} from '../../src/ssh/connections.ts';
import {fingerprint} from '../../src/ssh/host-keys.ts';
import {DEFAULT_LIMITS} from '../../src/ssh/limits.ts';
import {type Bench, makeBench} from './bench.ts';
import {CLOCK, GPU_07, NOTHING_ASKED} from './hosts.ts';
import {makeKey, programExists} from './sshd.ts';

describe.skipIf(!programExists('ssh-keygen'))('a login (needs ssh-keygen: apt-get install openssh-client)', () => {
  let bench: Bench;

  beforeAll(() => {
    bench = makeBench();
  });
  afterEach(() => bench.afterTest());
  afterAll(() => bench.remove());

  describe('with a key', () => {
    it('says that the login was refused, after exactly one try', async () => {
      let asked = 0;
      const server = await bench.serving({
        auth: (context) => {
          asked += 1;
          context.reject();
        },
      });
      const answer = await bench
        .hostAt(bench.accessAt(server.port), {hungUpBackoffMs: 0, connectBudgetMs: 60_000})
        .probe(NOTHING_ASKED);
      expect(answer).toMatchObject({ok: false, failure: {reason: 'login-refused', host: GPU_07, user: 'bot'}});
      expect([asked, server.attempts()]).toEqual([1, 1]);
    });

    it('shows one key only, never asks for `none` first', async () => {
      const methods: string[] = [];
      const server = await bench.serving({
        auth: (context) => {
          methods.push(context.method);
          context.accept();
        },
      });
      await bench.hostAt(bench.accessAt(server.port)).probe(NOTHING_ASKED);
      // The question whether this key will do, then the signature.
      expect(methods).toEqual(['publickey', 'publickey']);
    });

    it.each([
      ['ed25519', ['-t', 'ed25519'], ''],
      ['ecdsa', ['-t', 'ecdsa'], ''],
      ['rsa', ['-t', 'rsa', '-b', '2048'], ''],
      ['a protected', ['-t', 'ed25519', '-a', '4'], 'open sesame'],
    ])('takes %s key', async (name, type, passphrase) => {
      const path = makeKey(bench.folder, `type-${name}`, type, passphrase);
      const server = await bench.serving();
      const source: KeySource = {kind: 'file', path, passphrase: passphrase === '' ? null : new Secret(passphrase)};
      expect((await bench.hostAt(bench.accessAt(server.port, source)).probe(NOTHING_ASKED)).ok).toBe(true);
    });

    it('parses a protected key once for many logins', async () => {
      const path = makeKey(bench.folder, 'slow', ['-t', 'ed25519', '-a', '4'], 'open sesame');
      const server = await bench.serving();
      const connections = makeConnections({limits: DEFAULT_LIMITS, clock: CLOCK});
      bench.later(() => connections.close());
      const source: KeySource = {kind: 'file', path, passphrase: new Secret('open sesame')};
      const access = bench.accessAt(server.port, source);
      expect((await connections.open(access, access.look)).ok).toBe(true);
      // From here on the file is no key at all: whoever read it again would fail.
      writeFileSync(path, 'gone');
      expect((await connections.open({...access, name: hostName('gpu-08')}, access.look)).ok).toBe(true);
    });

    it.each([
      ['is absent', () => join(bench.folder, 'absent'), null, /^ENOENT$/],
      ['is a public key', () => `${bench.clientKey}.pub`, null, /public key/],
      ['is a certificate', () => certificate(), null, /certificate/],
      ['is no key', () => written('junk', 'hello\n'), null, /Unsupported key format/],
      [
        'lacks its passphrase',
        () => makeKey(bench.folder, 'locked', ['-t', 'ed25519', '-a', '4'], 'secret'),
        null,
        /passphrase/i,
      ],
      [
        'has another passphrase',
        () => makeKey(bench.folder, 'locked-2', ['-t', 'ed25519', '-a', '4'], 'secret'),
        'wrong',
        /passphrase|integrity/i,
      ],
    ])('that %s is named as unusable, and no connection is made', async (_, pathOf, passphrase, detail) => {
      const path = pathOf();
      const server = await bench.serving();
      const source: KeySource = {kind: 'file', path, passphrase: passphrase === null ? null : new Secret(passphrase)};
      const answer = await bench.hostAt(bench.accessAt(server.port, source)).probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'key-unusable', path, detail: expect.stringMatching(detail)},
      });
      expect(JSON.stringify(answer)).not.toContain('secret');
      expect(server.attempts()).toBe(0);
    });

    it('blames the certificate beside it when the plain key is refused', async () => {
      const path = join(bench.folder, 'certified');
      copyFileSync(bench.clientKey, path);
      copyFileSync(certificate(), `${path}-cert.pub`);
      const server = await bench.serving({auth: (context) => context.reject()});
      const answer = await bench
        .hostAt(bench.accessAt(server.port, {kind: 'file', path, passphrase: null}))
        .probe(NOTHING_ASKED);
      expect(answer).toMatchObject({
        ok: false,
        failure: {reason: 'key-unusable', detail: expect.stringContaining(`${path}-cert.pub`)},
      });
    });

    function written(name: string, text: string): string {
      writeFileSync(join(bench.folder, name), text);
      return join(bench.folder, name);
    }

    function certificate(): string {
      execFileSync('ssh-keygen', ['-q', '-s', bench.hostKey, '-I', 'bot', '-n', 'bot', `${bench.clientKey}.pub`], {
        stdio: 'ignore',
      });
      return `${bench.clientKey}-cert.pub`;
    }
  });

  describe.skipIf(!programExists('ssh-agent'))(
    'with an agent (needs ssh-agent: apt-get install openssh-client)',
    () => {
      let socket = '';
      let stop = () => {};

      beforeAll(async () => {
        socket = join(bench.folder, 'agent');
        const agent = spawn('ssh-agent', ['-D', '-a', socket], {stdio: ['ignore', 'pipe', 'ignore']});
        stop = () => void agent.kill('SIGTERM');
        await new Promise((resolve) => agent.stdout.once('data', resolve));
        for (const name of ['agent-1', 'agent-2', 'agent-3']) addToAgent(makeKey(bench.folder, name));
      });
      afterAll(() => stop());

      const addToAgent = (path: string) =>
        execFileSync('ssh-add', ['-q', path], {env: {...process.env, SSH_AUTH_SOCK: socket}, stdio: 'ignore'});

      it('shows the one key that was named', async () => {
        const shown: string[] = [];
        const server = await bench.serving({
          auth: (context) => {
            if (context.method === 'publickey') shown.push(fingerprint(context.key.data));
            context.accept();
          },
        });
        const wanted = bench.printOf(join(bench.folder, 'agent-2'));
        const source: KeySource = {kind: 'agent', socket, fingerprint: wanted};
        expect((await bench.hostAt(bench.accessAt(server.port, source)).probe(NOTHING_ASKED)).ok).toBe(true);
        expect(new Set(shown)).toEqual(new Set([wanted]));
      });

      it.each([
        ['holds several keys and none was named', () => socket, null, 'the agent holds 3 usable keys'],
        ['does not hold the named key', () => socket, 'SHA256:none', 'the agent does not hold SHA256:none'],
        ['does not answer', () => join(bench.folder, 'no-agent'), null, 'Failed to connect to agent'],
      ])('names an agent that %s', async (_, socketOf, wanted, detail) => {
        const server = await bench.serving();
        const source: KeySource = {kind: 'agent', socket: socketOf(), fingerprint: wanted};
        const answer = await bench.hostAt(bench.accessAt(server.port, source)).probe(NOTHING_ASKED);
        expect(answer).toEqual({ok: false, failure: {reason: 'key-unusable', host: GPU_07, path: socketOf(), detail}});
        expect(server.logins()).toBe(0);
      });
    },
  );
});
