/** Our own keys: parsed once and kept, since ssh2 would decrypt a protected key anew at every connect (200 ms, blocking). */
import {access as canAccess, readFile} from 'node:fs/promises';
import ssh2, {type IdentityCallback, type ParsedKey} from 'ssh2';
import {fail, ok, type Result, type SshFailure} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {KeySource} from './access.ts';
import {fingerprint} from './host-keys.ts';

export type UsableKey =
  /** `certificate`: path of a user certificate that lies next to the key and that ssh2 cannot use; null if none. */
  | {readonly kind: 'file'; readonly path: string; readonly key: ParsedKey; readonly certificate: string | null}
  | {readonly kind: 'agent'; readonly path: string; readonly agent: OneKeyAgent};

export interface Keyring {
  usable(host: HostName, source: KeySource): Promise<Result<UsableKey, SshFailure>>;
}

export function makeKeyring(): Keyring {
  // By path: many hosts share one key. Failures are not kept, so that a mended file works without a restart.
  const parsed = new Map<string, UsableKey>();

  return {
    async usable(host, source) {
      if (source.kind === 'agent') {
        const agent = new OneKeyAgent(source.socket, source.fingerprint);
        return ok({kind: 'agent', path: source.socket, agent});
      }
      const kept = parsed.get(source.path);
      if (kept !== undefined) return ok(kept);
      const unusable = (detail: string): Result<never, SshFailure> =>
        fail({reason: 'key-unusable', host, path: source.path, detail});
      let text: Buffer;
      try {
        text = await readFile(source.path);
      } catch (error) {
        return unusable((error as NodeJS.ErrnoException).code ?? String(error));
      }
      const key = parsePrivateKey(text, source.passphrase?.reveal());
      if (typeof key === 'string') return unusable(key);
      const usable: UsableKey = {kind: 'file', path: source.path, key, certificate: await certificateOf(source.path)};
      parsed.set(source.path, usable);
      return ok(usable);
    },
  };
}

/** The key, or in a few words why it cannot be used. */
export function parsePrivateKey(text: Buffer, passphrase: string | undefined): ParsedKey | string {
  // ssh2 takes a certificate for a damaged public key: look before it does.
  const type = text.toString('latin1', 0, 80).split(/\s/)[0] ?? '';
  if (type.endsWith('-cert-v01@openssh.com')) return `a certificate (${type}), not a private key`;
  let key: ParsedKey | Error;
  try {
    key = ssh2.utils.parseKey(text, passphrase);
  } catch (error) {
    key = error instanceof Error ? error : new Error(String(error));
  }
  if (key instanceof Error) return key.message;
  if (!key.isPrivateKey()) return 'a public key, not a private key';
  return key.type === 'ssh-dss' ? 'unsupported key type ssh-dss' : key;
}

/** An agent that shows exactly one key: ssh2 would offer all of them, and sshd ends the login after a few wrong ones. */
export class OneKeyAgent extends ssh2.OpenSSHAgent {
  /** Why no key could be picked; null as long as nothing went wrong. */
  problem: string | null = null;
  readonly #fingerprint: string | null;

  constructor(socket: string, keyFingerprint: string | null) {
    super(socket);
    this.#fingerprint = keyFingerprint;
  }

  override getIdentities(callback: IdentityCallback<ParsedKey>): void {
    super.getIdentities((error, keys) => {
      if (error) {
        this.problem = error.message;
        callback(error);
        return;
      }
      // Certificates and FIDO keys never get here: ssh2 leaves out what it cannot parse.
      const all = (keys ?? []).filter((key) => key instanceof Object && 'getPublicSSH' in key);
      const wanted = this.#fingerprint;
      const picked = wanted === null ? all : all.filter((key) => fingerprint(key.getPublicSSH()) === wanted);
      if (picked.length === 1) {
        callback(undefined, picked);
        return;
      }
      this.problem =
        wanted === null ? `the agent holds ${all.length} usable keys` : `the agent does not hold ${wanted}`;
      callback(new Error(this.problem));
    });
  }
}

async function certificateOf(path: string): Promise<string | null> {
  const certificate = `${path}-cert.pub`;
  return canAccess(certificate).then(
    () => certificate,
    () => null,
  );
}
