/** How to reach one host. Built by the composition root from the hosts file; nothing here is ever taken from a message. */
import type {HostName} from '../domain/host.ts';
import type {Secret} from '../secret.ts';

export type KeySource =
  | {readonly kind: 'file'; readonly path: string; readonly passphrase: Secret | null}
  /** `fingerprint` (SHA256:…) picks one key of the agent; without it the agent must hold exactly one. */
  | {readonly kind: 'agent'; readonly socket: string; readonly fingerprint: string | null};

export interface Credential {
  readonly user: string;
  readonly key: KeySource;
}

export type HostKeys =
  /** `ssh-ed25519 AAAA…` each, as in a known_hosts line without its host field. */
  {readonly kind: 'pinned'; readonly keys: readonly string[]} | {readonly kind: 'known-hosts'; readonly path: string};

export interface HostAccess {
  readonly name: HostName;
  /** Name or address to connect to. */
  readonly address: string;
  readonly port: number;
  readonly look: Credential;
  /** null: this host can only be looked at. */
  readonly act: Credential | null;
  readonly hostKeys: HostKeys;
  /** Run the scripts through `sudo -n`. */
  readonly sudo: boolean;
  /** Absolute folders put before the standard PATH, and in LD_LIBRARY_PATH, for nvidia-smi. */
  readonly extraPath: readonly string[];
  readonly libraryPath: readonly string[];
  /** `/dev`; a flat lab keeps its stand-in device files elsewhere. */
  readonly deviceFolder: string;
}
