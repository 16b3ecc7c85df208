/** The environment: paths, the log level, and passphrases by the names that the hosts file gives. Slack's part: slack-env.ts. */
import {homedir} from 'node:os';
import {isAbsolute, join, resolve} from 'node:path';
import {Secret} from '../secret.ts';
import {LOG_LEVELS, type LogLevel} from './config.ts';
import type {Mistake} from './mistake.ts';
import {nearestKey} from './nearest.ts';

/** As `process.env`. A variable that is set to nothing counts as not set. */
export type Env = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly hostsPath: string;
  readonly policyPath: string;
  /** Said by hand: then the policy file has to be there. */
  readonly policyNamed: boolean;
  readonly databasePath: string;
  readonly logLevel: LogLevel;
  readonly home: string;
  /** SSH_AUTH_SOCK: the agent that serves where the hosts file names no socket. */
  readonly agentSocket: string | null;
}

/** What may be named in mistakes instead of a file. */
export const ENVIRONMENT = 'environment';

const OWN = [
  'GPU_RECLAIM_HOSTS',
  'GPU_RECLAIM_POLICY',
  'GPU_RECLAIM_DB',
  'GPU_RECLAIM_LOG_LEVEL',
  'GPU_RECLAIM_HEALTH_PORT',
] as const;
const PREFIX = 'GPU_RECLAIM_';

export function readSettings(env: Env, cwd: string): {readonly value: Settings; readonly mistakes: readonly Mistake[]} {
  const home = said(env, 'HOME') ?? homedir();
  const configFolder = join(baseFolder(env, 'XDG_CONFIG_HOME', join(home, '.config')), 'gpu-reclaim');
  const stateFolder = join(baseFolder(env, 'XDG_STATE_HOME', join(home, '.local', 'state')), 'gpu-reclaim');
  const named = (name: (typeof OWN)[number]) => {
    const path = said(env, name);
    return path === null ? null : absolute(path, cwd, home);
  };
  const policyNamed = named('GPU_RECLAIM_POLICY');
  const level = said(env, 'GPU_RECLAIM_LOG_LEVEL');
  const logLevel = LOG_LEVELS.find((one) => one === (level ?? 'warn'));
  const mistakes: Mistake[] = [];
  if (logLevel === undefined) {
    const problem = `is ${JSON.stringify(level)}; expected ${LOG_LEVELS.join(', ')}`;
    mistakes.push({file: ENVIRONMENT, at: ['GPU_RECLAIM_LOG_LEVEL'], problem, wayOut: 'set one of these, or nothing'});
  }
  return {
    value: {
      hostsPath: named('GPU_RECLAIM_HOSTS') ?? join(configFolder, 'hosts.yaml'),
      policyPath: policyNamed ?? join(configFolder, 'policy.yaml'),
      policyNamed: policyNamed !== null,
      databasePath: named('GPU_RECLAIM_DB') ?? join(stateFolder, 'runs.db'),
      logLevel: logLevel ?? 'warn',
      home,
      agentSocket: said(env, 'SSH_AUTH_SOCK'),
    },
    mistakes,
  };
}

/** The passphrase in that variable; null if it is not set. */
export function passphrase(env: Env, name: string): Secret | null {
  const value = said(env, name);
  return value === null ? null : new Secret(value);
}

/**
 * Variables with our prefix that neither this program nor the hosts file knows: most likely a typing slip. Where the hosts
 * file could not be read (`passphraseNames` null), only those that come near a known one.
 */
export function unknownVariables(env: Env, passphraseNames: readonly string[] | null): readonly Mistake[] {
  const known = [...OWN, ...(passphraseNames ?? [])];
  const ends = known.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== undefined && !known.includes(name))
    .flatMap((name) => {
      const near = nearestKey(name.slice(PREFIX.length), ends);
      if (near === null && passphraseNames === null) return [];
      const wayOut = near === null ? `known: ${known.join(', ')}` : `did you mean ${PREFIX}${near}?`;
      return [{file: ENVIRONMENT, at: [name], problem: 'this variable is not known', wayOut}];
    });
}

/** A path as people write it: `~/` is `home`, anything else that is not absolute starts at `folder`. */
export function absolute(path: string, folder: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : resolve(folder, path);
}

/** XDG Base Directory Specification: a relative path in these variables is to be ignored. */
function baseFolder(env: Env, name: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME', otherwise: string): string {
  const folder = said(env, name);
  return folder !== null && isAbsolute(folder) ? folder : otherwise;
}

/** Its value; null if it is not set, or set to nothing. */
export function said(env: Env, name: string): string | null {
  const value = env[name];
  return value === undefined || value === '' ? null : value;
}
