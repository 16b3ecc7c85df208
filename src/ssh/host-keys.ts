/** Is this the host that was meant? Decided on what was read before connecting; nothing is ever learnt or written. */
import {createHash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {fail, ok, type Result, type SshFailure} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {HostAccess} from './access.ts';
import {
  type KnownHostsLine,
  keyType,
  matchesName,
  nameToMatch,
  type PublicKey,
  parseKnownHosts,
  parsePublicKey,
} from './known-hosts.ts';

export interface ExpectedHostKeys {
  readonly keys: readonly PublicKey[];
  readonly revoked: readonly PublicKey[];
  /** A `@cert-authority` line speaks for this host. Host certificates cannot be checked by ssh2. */
  readonly hasAuthority: boolean;
}

export type HostKeyVerdict = 'same' | 'unknown' | 'mismatch' | 'revoked';

/** A revoked key is refused even where a plain line accepts it; type and blob must both be equal. */
export function judgeHostKey(expected: ExpectedHostKeys, blob: Buffer): HostKeyVerdict {
  const same = (key: PublicKey): boolean => key.blob.equals(blob);
  if (expected.revoked.some(same)) return 'revoked';
  if (expected.keys.some(same)) return 'same';
  return expected.keys.length === 0 ? 'unknown' : 'mismatch';
}

/**
 * The only form in which a verifier reaches ssh2, which accepts anything but a strict `false`: undefined, null, 0, an
 * Error, and every Promise. Here only a strict `true` accepts; a throw refuses. It runs again at each rekey.
 */
export function makeHostVerifier(
  decide: (blob: Buffer) => unknown,
): (blob: Buffer, answer: (ok: boolean) => void) => void {
  return (blob, answer) => {
    let accepted = false;
    try {
      accepted = decide(blob) === true;
    } catch {
      accepted = false;
    }
    answer(accepted);
  };
}

export function expectFromKnownHosts(
  lines: readonly KnownHostsLine[],
  address: string,
  port: number,
): ExpectedHostKeys {
  const name = nameToMatch(address, port);
  const matching = lines.filter((line) => matchesName(line.hosts, name));
  return {
    keys: matching.filter((line) => line.marker === 'plain'),
    revoked: matching.filter((line) => line.marker === 'revoked'),
    hasAuthority: matching.some((line) => line.marker === 'cert-authority'),
  };
}

/** Reads what is expected of a host; a known_hosts file is read again when its time or size changes. */
export function makeHostKeyReader(): (access: HostAccess) => Promise<Result<ExpectedHostKeys, SshFailure>> {
  const files = new Map<string, {readonly stamp: string; readonly lines: readonly KnownHostsLine[]}>();

  return async (access) => {
    if (access.hostKeys.kind === 'pinned') return ok(expectPinned(access.hostKeys.keys));
    const {path} = access.hostKeys;
    try {
      const {mtimeMs, size, ino} = await stat(path);
      const stamp = `${mtimeMs}:${size}:${ino}`;
      let file = files.get(path);
      if (file?.stamp !== stamp) {
        file = {stamp, lines: parseKnownHosts(await readFile(path, 'utf8'))};
        files.set(path, file);
      }
      return ok(expectFromKnownHosts(file.lines, access.address, access.port));
    } catch (error) {
      return fail({reason: 'known-hosts-unreadable', host: access.name, path, detail: errorCode(error)});
    }
  };
}

/** The failure for a verdict other than `same`; `blob` is what the host showed. */
export function hostKeyFailure(
  access: HostAccess,
  expected: ExpectedHostKeys,
  verdict: Exclude<HostKeyVerdict, 'same'>,
  blob: Buffer,
): SshFailure {
  const host: HostName = access.name;
  const shown = fingerprint(blob);
  if (verdict === 'revoked') return {reason: 'host-key-revoked', host, fingerprint: shown};
  if (verdict === 'mismatch') {
    return {
      reason: 'host-key-mismatch',
      host,
      fingerprint: shown,
      expected: expected.keys.map((key) => fingerprint(key.blob)),
    };
  }
  const lineToAdd = `${nameToMatch(access.address, access.port)} ${keyType(blob)} ${blob.toString('base64')}`;
  return {reason: 'host-key-unknown', host, fingerprint: shown, lineToAdd};
}

/** SHA256:… as ssh-keygen -l prints it: base64 without padding. */
export function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

function expectPinned(keys: readonly string[]): ExpectedHostKeys {
  const parsed = keys.map(parsePublicKey).filter((key) => key !== null);
  return {keys: parsed, revoked: [], hasAuthority: false};
}

function errorCode(error: unknown): string {
  if (error instanceof Error) return (error as NodeJS.ErrnoException).code ?? error.message;
  return String(error);
}
