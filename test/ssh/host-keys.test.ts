import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import ssh2 from 'ssh2';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';
import type {HostAccess} from '../../src/ssh/access.ts';
import {fingerprint, makeHostVerifier} from '../../src/ssh/host-keys.ts';
import {parsePublicKey} from '../../src/ssh/known-hosts.ts';
import {accessTo, GPU_07, hostRunning, NOTHING_ASKED} from './hosts.ts';
import {answerFramed, type Served, serve} from './server.ts';
import {makeKey, programExists} from './sshd.ts';

/** ssh2 itself accepts nearly every one of these: it refuses a strict `false` only. */
const DECISIONS: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['0', () => 0],
  ['an empty string', () => ''],
  ['a word', () => 'yes'],
  ['1', () => 1],
  ['an Error', () => new Error('no')],
  ['a promise of false', () => Promise.resolve(false)],
  ['a promise of true', () => Promise.resolve(true)],
  [
    'a throw',
    () => {
      throw new Error('verifier broke');
    },
  ],
];

describe.skipIf(!programExists('ssh-keygen'))('the host key (needs ssh-keygen: apt-get install openssh-client)', () => {
  let folder = '';
  let ed = '';
  let ecdsa = '';
  let rsa = '';
  let other = '';
  let clientKey = '';
  const servers: Served[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reclaim-hostkeys-'));
    ed = makeKey(folder, 'ed');
    ecdsa = makeKey(folder, 'ecdsa', ['-t', 'ecdsa', '-b', '256']);
    rsa = makeKey(folder, 'rsa', ['-t', 'rsa', '-b', '2048', '-m', 'PEM']);
    other = makeKey(folder, 'other');
    clientKey = makeKey(folder, 'client');
  });
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
  afterAll(() => rmSync(folder, {recursive: true, force: true}));

  const publicOf = (path: string) => readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  const printOf = (path: string) => fingerprint(parsePublicKey(publicOf(path))?.blob ?? Buffer.alloc(0));

  async function serving(...hostKeys: readonly string[]): Promise<Served> {
    const server = await serve({hostKeys, onExec: answerFramed('')});
    servers.push(server);
    return server;
  }

  async function probe(server: Served, hostKeys: HostAccess['hostKeys']) {
    const login = {port: server.port, user: 'bot', clientKey, hostKey: ''};
    const {host, hosts} = hostRunning(accessTo(login, {hostKeys}), '');
    const answer = await host.probe(NOTHING_ASKED);
    await hosts.close();
    return answer;
  }

  async function probeKnown(server: Served, lines: (name: string) => string) {
    const path = join(folder, 'known_hosts');
    writeFileSync(path, lines(`[127.0.0.1]:${server.port}`));
    return probe(server, {kind: 'known-hosts', path});
  }

  it.each(DECISIONS)('is refused when the decision is %s', async (_, decide) => {
    const server = await serving(ed);
    const client = new ssh2.Client();
    const said = await new Promise<string>((resolve) => {
      client.on('error', (error) => resolve(error.message));
      client.on('ready', () => resolve('accepted'));
      client.connect({host: '127.0.0.1', port: server.port, username: 'bot', hostVerifier: makeHostVerifier(decide)});
    });
    client.destroy();
    expect(said).toBe('Host denied (verification failed)');
    expect(server.logins()).toBe(0);
  });

  it('is accepted when pinned, or known in a file', async () => {
    const server = await serving(ed);
    expect(await probe(server, {kind: 'pinned', keys: [publicOf(ed)]})).toMatchObject({
      ok: true,
      value: {hostKey: printOf(ed)},
    });
    expect((await probeKnown(server, (name) => `${name} ${publicOf(ed)}`)).ok).toBe(true);
  });

  it.each([
    ['pinned', () => ({kind: 'pinned', keys: [publicOf(other)]}) as const],
    ['pinned beside one of another type', () => ({kind: 'pinned', keys: [publicOf(other), publicOf(ecdsa)]}) as const],
  ])('is refused when another one is %s, and nobody logs in', async (_, hostKeys) => {
    const server = await serving(ed);
    const keys = hostKeys();
    expect(await probe(server, keys)).toEqual({
      ok: false,
      failure: {
        reason: 'host-key-mismatch',
        host: GPU_07,
        fingerprint: printOf(ed),
        expected: keys.keys.map((key) => fingerprint(parsePublicKey(key)?.blob ?? Buffer.alloc(0))),
      },
    });
    expect(server.logins()).toBe(0);
  });

  it('is refused when unknown, with its fingerprint and the line to add, which then works', async () => {
    const server = await serving(ed);
    const refused = await probeKnown(server, () => `gpu-99 ${publicOf(other)}\n`);
    const lineToAdd = `[127.0.0.1]:${server.port} ${publicOf(ed)}`;
    expect(refused).toEqual({
      ok: false,
      failure: {reason: 'host-key-unknown', host: GPU_07, fingerprint: printOf(ed), lineToAdd},
    });
    expect(server.logins()).toBe(0);
    expect((await probeKnown(server, () => lineToAdd)).ok).toBe(true);
  });

  it('is refused when revoked, even if also known', async () => {
    const server = await serving(ed);
    const answer = await probeKnown(server, (name) => `${name} ${publicOf(ed)}\n@revoked * ${publicOf(ed)}\n`);
    expect(answer).toEqual({ok: false, failure: {reason: 'host-key-revoked', host: GPU_07, fingerprint: printOf(ed)}});
    expect(server.logins()).toBe(0);
  });

  it('is refused without a connection when only an authority speaks for the host', async () => {
    const server = await serving(ed);
    const answer = await probeKnown(server, (name) => `@cert-authority ${name} ${publicOf(other)}\n`);
    expect(answer).toEqual({ok: false, failure: {reason: 'host-key-ca-only', host: GPU_07}});
    expect(server.attempts()).toBe(0);
  });

  it('is refused without a connection when the file cannot be read', async () => {
    const server = await serving(ed);
    const path = join(folder, 'absent');
    const answer = await probe(server, {kind: 'known-hosts', path});
    expect(answer).toEqual({
      ok: false,
      failure: {reason: 'known-hosts-unreadable', host: GPU_07, path, detail: 'ENOENT'},
    });
    expect(server.attempts()).toBe(0);
  });

  it('is asked for in the type that is known, though the server prefers another', async () => {
    const server = await serving(ed, ecdsa, rsa);
    for (const known of [ed, ecdsa, rsa]) {
      expect(await probeKnown(server, (name) => `${name} ${publicOf(known)}`)).toMatchObject({
        ok: true,
        value: {hostKey: printOf(known)},
      });
    }
  });

  it('says so when the host has no key of a known type', async () => {
    const server = await serving(ed);
    const answer = await probeKnown(server, (name) => `${name} ${publicOf(ecdsa)}`);
    expect(answer).toMatchObject({ok: false, failure: {reason: 'no-common-algorithm'}});
    expect(server.logins()).toBe(0);
  });

  it('is read anew from a file that has changed, without a restart', async () => {
    const server = await serving(ed);
    const path = join(folder, 'changing');
    writeFileSync(path, '');
    const login = {port: server.port, user: 'bot', clientKey, hostKey: ''};
    const {host, hosts} = hostRunning(accessTo(login, {hostKeys: {kind: 'known-hosts', path}}), '');
    expect(await host.probe(NOTHING_ASKED)).toMatchObject({failure: {reason: 'host-key-unknown'}});
    writeFileSync(path, `[127.0.0.1]:${server.port} ${publicOf(ed)}`);
    expect((await host.probe(NOTHING_ASKED)).ok).toBe(true);
    await hosts.close();
  });
});
