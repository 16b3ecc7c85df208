import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {hostKeyAlgorithms} from '../../src/ssh/algorithms.ts';
import {expectFromKnownHosts, judgeHostKey} from '../../src/ssh/host-keys.ts';
import {matchesName, nameToMatch, parseKnownHosts, parsePublicKey} from '../../src/ssh/known-hosts.ts';
import {makeKey, programExists} from './sshd.ts';

const HAS_KEYGEN = programExists('ssh-keygen');

describe('the name under which a host stands in known_hosts', () => {
  it.each([
    ['GPU-07.Lab', 22, 'gpu-07.lab'],
    ['gpu-07', 2222, '[gpu-07]:2222'],
    ['::1', 22, '::1'],
    ['FE80::1', 2222, '[fe80::1]:2222'],
  ])('is for %s port %i: %s', (address, port, name) => {
    expect(nameToMatch(address, port)).toBe(name);
  });
});

describe('a host field', () => {
  it.each([
    ['gpu-07', 'gpu-07', true],
    ['GPU-07', 'gpu-07', true],
    ['gpu-07', 'gpu-070', false],
    ['gpu.07', 'gpu-07', false],
    ['gpu-*', 'gpu-07', true],
    ['gpu-?7', 'gpu-07', true],
    ['gpu-?', 'gpu-07', false],
    ['a,b,gpu-07', 'gpu-07', true],
    ['gpu-*,!gpu-07', 'gpu-07', false],
    ['!gpu-07,gpu-*', 'gpu-07', false],
    ['!gpu-08,gpu-*', 'gpu-07', true],
    ['!gpu-08', 'gpu-07', false],
    ['[gpu-07]:2222', '[gpu-07]:2222', true],
    ['gpu-07', '[gpu-07]:2222', false],
    ['[gpu-*]:2222', '[gpu-07]:2222', true],
    ['|1|bad', 'gpu-07', false],
    ['|2|AAAA|AAAA', 'gpu-07', false],
    ['*', 'anything', true],
  ])('%s against %s: %s', (hosts, name, matches) => {
    expect(matchesName(hosts, name)).toBe(matches);
  });
});

describe('the signature algorithms asked of a host', () => {
  it('are only those of the key types known for it, and never SHA-1', () => {
    expect(hostKeyAlgorithms(new Set(['ecdsa-sha2-nistp256']))).toEqual(['ecdsa-sha2-nistp256']);
    expect(hostKeyAlgorithms(new Set(['ssh-rsa', 'ssh-ed25519']))).toEqual([
      'ssh-ed25519',
      'rsa-sha2-512',
      'rsa-sha2-256',
    ]);
    expect(hostKeyAlgorithms(new Set(['ssh-dss']))).toEqual([]);
    expect(hostKeyAlgorithms(new Set())).not.toContain('ssh-rsa');
  });
});

describe.skipIf(!HAS_KEYGEN)('known_hosts files (needs ssh-keygen: apt-get install openssh-client)', () => {
  let folder = '';
  let ed = '';
  let ecdsa = '';
  let other = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'reclaim-known-'));
    const pub = (path: string) => readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
    ed = pub(makeKey(folder, 'ed'));
    ecdsa = pub(makeKey(folder, 'ecdsa', ['-t', 'ecdsa', '-b', '256']));
    other = pub(makeKey(folder, 'other'));
  });
  afterAll(() => rmSync(folder, {recursive: true, force: true}));

  const blobOf = (key: string) => parsePublicKey(key)?.blob ?? Buffer.alloc(0);
  const judge = (text: string, key: string, port = 22) =>
    judgeHostKey(expectFromKnownHosts(parseKnownHosts(text), 'gpu-07', port), blobOf(key));

  it('accept a key only if type and blob are equal to a plain line', () => {
    expect(judge(`gpu-07 ${ed}`, ed)).toBe('same');
    expect(judge(`gpu-07 ${ed} a comment\r`, ed)).toBe('same');
    expect(judge(`gpu-07 ${ed}`, other)).toBe('mismatch');
    expect(judge(`gpu-07 ${ed}\ngpu-07 ${other}`, other)).toBe('same');
  });

  it('tell an unknown host from a changed key', () => {
    expect(judge('', ed)).toBe('unknown');
    expect(judge(`# gpu-07 ${ed}\n\ngpu-08 ${ed}`, ed)).toBe('unknown');
    expect(judge(`gpu-07 ${ed}`, ed, 2222)).toBe('unknown');
  });

  it('let a revoked key lose against every plain line, wherever either stands', () => {
    expect(judge(`gpu-07 ${ed}\n@revoked gpu-* ${ed}`, ed)).toBe('revoked');
    expect(judge(`@revoked * ${ed}\ngpu-07 ${ed}`, ed)).toBe('revoked');
    expect(judge(`@revoked gpu-08 ${ed}\ngpu-07 ${ed}`, ed)).toBe('same');
  });

  it('never take a certificate authority, an unknown marker or a damaged line for a host key', () => {
    expect(judge(`@cert-authority gpu-07 ${ed}`, ed)).toBe('unknown');
    expect(judge(`@trusted gpu-07 ${ed}`, ed)).toBe('unknown');
    expect(judge(`gpu-07 ${ed.slice(0, -30)}`, ed)).toBe('mismatch');
    expect(judge(`gpu-07 ${ed.replace('ssh-ed25519', 'ssh-rsa')}`, ed)).toBe('unknown');
    expect(judge(`gpu-07 ${ed}!!`, ed)).toBe('unknown');
    expect(expectFromKnownHosts(parseKnownHosts(`@cert-authority * ${ed}`), 'gpu-07', 22).hasAuthority).toBe(true);
  });

  it('are matched exactly as ssh-keygen -F matches them, plain and hashed', () => {
    const path = join(folder, 'known_hosts');
    const fields = [
      'gpu-07',
      'gpu-0?,gpu-1*',
      '*,!gpu-07',
      '!gpu-08,gpu-*',
      '[gpu-07]:2222',
      'gpu-07,10.0.0.7',
      '[gpu-*]:22??',
    ];
    const names = ['gpu-07', 'gpu-08', 'gpu-12', '[gpu-07]:2222', '10.0.0.7', '[gpu-99]:2201'];
    let compared = 0;
    for (const hashed of [false, true]) {
      for (const field of fields) {
        writeFileSync(path, `${field} ${ed}\n`);
        // -H leaves lines with wildcards as they are and says so on stderr.
        if (hashed) execFileSync('ssh-keygen', ['-H', '-f', path], {stdio: 'ignore'});
        const lines = parseKnownHosts(readFileSync(path, 'utf8'));
        for (const name of names) {
          const ours = lines.some((line) => matchesName(line.hosts, name));
          expect([hashed, field, name, ours]).toEqual([hashed, field, name, keygenFinds(path, name)]);
          compared += 1;
        }
      }
    }
    expect(compared).toBe(84);
  });

  it('hold several key types of one host, and each is offered', () => {
    const expected = expectFromKnownHosts(parseKnownHosts(`gpu-07 ${ecdsa}\ngpu-07 ${ed}`), 'gpu-07', 22);
    expect(hostKeyAlgorithms(new Set(expected.keys.map((key) => key.type)))).toEqual([
      'ssh-ed25519',
      'ecdsa-sha2-nistp256',
    ]);
  });
});

function keygenFinds(path: string, name: string): boolean {
  try {
    execFileSync('ssh-keygen', ['-F', name, '-f', path], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
}
