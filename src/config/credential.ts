/** The look and the act credential of one host, from what the host says and what the defaults say. */
import {dirname} from 'node:path';
import type {Credential, KeySource} from './config.ts';
import {absolute, type Env, passphrase, type Settings} from './env.ts';
import type {WrittenCredential, WrittenDefaults, WrittenHost} from './hosts-schema.ts';
import {keyFileProblem} from './key-file.ts';
import type {Mistake, Place, Read} from './mistake.ts';

export interface HostsContext {
  readonly file: string;
  readonly env: Env;
  readonly settings: Settings;
  readonly defaults: WrittenDefaults;
}

/**
 * null where neither the host nor the defaults name a key. A host's key takes the place of the default one whole: a
 * default key file and a host's agent are not two keys. A login name said for this purpose, here or in the defaults, wins
 * over one said for both: a host's plain `user` must not turn the act account into the look account unseen.
 */
export function credentialOf(
  purpose: 'look' | 'act',
  name: string,
  written: WrittenHost,
  context: HostsContext,
): Read<Credential | null> {
  const [own, common] = [written[purpose], context.defaults[purpose]];
  const mistakes: Mistake[] = [];
  const source = namesKey(own) ? own : namesKey(common) ? common : null;
  const at: Place = source !== null && source === common ? ['defaults', purpose] : ['hosts', name, purpose];
  const tell = (key: string | null, problem: string, wayOut: string) =>
    mistakes.push({file: context.file, at: key === null ? at : [...at, key], problem, wayOut});

  const user = own?.user ?? common?.user ?? written.user ?? context.defaults.user;
  if (user === undefined && (purpose === 'look' || source !== null)) {
    tell('user', 'is missing: nobody to log in as', `write user: gpu-${purpose}, here or among the defaults`);
  }
  if (source === null) {
    if (own !== undefined || purpose === 'look') {
      tell(null, 'names no key', 'write keyFile: PATH or agent: {}, here or among the defaults');
    }
    return {value: null, mistakes};
  }
  if (source.keyFile !== undefined && source.agent !== undefined) {
    tell(null, 'names both keyFile and agent', 'keep one of them');
    return {value: null, mistakes};
  }
  const key = source.agent === undefined ? fileKey(source, context, tell) : agentKey(source, context, tell);
  return {value: key === null || user === undefined ? null : {user, key}, mistakes};
}

type Tell = (key: string, problem: string, wayOut: string) => void;

function fileKey(source: WrittenCredential, {file, env, settings}: HostsContext, tell: Tell): KeySource | null {
  const path = absolute(source.keyFile ?? '', dirname(file), settings.home);
  const variable = source.passphraseEnv;
  const secret = variable === undefined ? null : passphrase(env, variable);
  if (variable !== undefined && secret === null) {
    tell('passphraseEnv', `names ${variable}, which is not set`, `put the passphrase of ${path} into ${variable}`);
  }
  const wrong = keyFileProblem(path, variable !== undefined);
  if (wrong !== null) tell('keyFile', wrong.problem, wrong.wayOut);
  return wrong === null ? {kind: 'file', path, passphrase: secret} : null;
}

function agentKey(source: WrittenCredential, {file, settings}: HostsContext, tell: Tell): KeySource | null {
  if (source.passphraseEnv !== undefined) {
    tell('passphraseEnv', 'stands beside an agent, which knows its passphrases', 'remove it');
  }
  const socket = source.agent?.socket;
  if (socket !== undefined) return agent(absolute(socket, dirname(file), settings.home), source);
  if (settings.agentSocket !== null) return agent(settings.agentSocket, source);
  tell('agent', 'names no socket, and SSH_AUTH_SOCK is not set', 'start ssh-agent, or write agent: {socket: PATH}');
  return null;
}

function agent(socket: string, source: WrittenCredential): KeySource {
  return {kind: 'agent', socket, fingerprint: source.agent?.fingerprint ?? null};
}

function namesKey(written: WrittenCredential | undefined): written is WrittenCredential {
  return written !== undefined && (written.keyFile !== undefined || written.agent !== undefined);
}
