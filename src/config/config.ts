/** What the program gets of its files and environment: complete, nothing optional left, every path absolute. */
import type {Host, HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import type {NewSchedule} from '../domain/schedule.ts';
import type {Secret} from '../secret.ts';

export interface Config {
  /** In the order of the hosts file. */
  readonly hosts: ReadonlyMap<HostName, HostEntry>;
  readonly policy: Policy;
  /** Reports that the policy file asks for, by the names that they have there. */
  readonly schedules: ReadonlyMap<string, NewSchedule>;
  /** The store's file; its folder may not exist yet. */
  readonly databasePath: string;
  readonly logLevel: LogLevel;
  readonly hostsPath: string;
  /** May name a file that is not there: then the policy is the built-in one. */
  readonly policyPath: string;
  /** null unless it was loaded for the bot. */
  readonly slack: SlackSettings | null;
}

export interface SlackSettings {
  readonly botToken: Secret;
  readonly appToken: Secret;
  /** Channel ids; the first is where runs of the terminal are told. */
  readonly channels: readonly [string, ...string[]];
  /** null = Slack itself. */
  readonly apiUrl: string | null;
  /** Loopback port of /healthz; null = none. */
  readonly healthPort: number | null;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface HostEntry {
  readonly host: Host;
  readonly access: HostAccess;
}

/** The same shape as the ssh room's, declared again because config knows no edge; a test holds the two together. */
export interface HostAccess {
  readonly name: HostName;
  readonly address: string;
  readonly port: number;
  readonly look: Credential;
  readonly act: Credential | null;
  readonly hostKeys: HostKeys;
  readonly sudo: boolean;
  readonly extraPath: readonly string[];
  readonly libraryPath: readonly string[];
  readonly deviceFolder: string;
}

export interface Credential {
  readonly user: string;
  readonly key: KeySource;
}

export type KeySource =
  | {readonly kind: 'file'; readonly path: string; readonly passphrase: Secret | null}
  | {readonly kind: 'agent'; readonly socket: string; readonly fingerprint: string | null};

export type HostKeys =
  | {readonly kind: 'pinned'; readonly keys: readonly string[]}
  | {readonly kind: 'known-hosts'; readonly path: string};
