/** The written hosts to whole ones: defaults merged in, paths absolute, credentials made. */
import {accessSync, constants} from 'node:fs';
import {dirname} from 'node:path';
import {hostName} from '../domain/host.ts';
import type {DeclaredClocks, LockedClocks} from '../domain/locked-clocks.ts';
import type {HostEntry, HostKeys} from './config.ts';
import {credentialOf, type HostsContext} from './credential.ts';
import {absolute} from './env.ts';
import type {WrittenHost, WrittenHosts} from './hosts-schema.ts';
import type {Mistake, Read} from './mistake.ts';

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/** Every host that could be made whole, in the order of the file, and what hindered the others. */
export function readHosts(written: WrittenHosts, context: HostsContext): Read<readonly HostEntry[]> {
  const read = Object.entries(written.hosts).map(([name, host]) => readHost(name, host, context));
  return {
    value: read.flatMap((one) => (one.value === null ? [] : [one.value])),
    mistakes: read.flatMap((one) => one.mistakes),
  };
}

/** The variables that the file names for passphrases: also those of credentials that are wrong otherwise. */
export function passphraseNames(written: WrittenHosts): readonly string[] {
  const settings = [written.defaults ?? {}, ...Object.values(written.hosts)];
  return settings
    .flatMap(({look, act}) => [look?.passphraseEnv, act?.passphraseEnv])
    .filter((name) => name !== undefined);
}

/** Lists of the host take the place of the defaults'; maps (labels, people, links) are merged key by key. */
function readHost(name: string, written: WrittenHost, context: HostsContext): Read<HostEntry | null> {
  const {defaults} = context;
  const look = credentialOf('look', name, written, context);
  const act = credentialOf('act', name, written, context);
  const hostKeys = hostKeysOf(name, written, context);
  const mistakes = [
    ...look.mistakes,
    ...act.mistakes,
    ...hostKeys.mistakes,
    ...practiceMistakes(name, written, context),
  ];
  if (look.value === null) return {value: null, mistakes};
  const people = Object.entries({...defaults.people, ...written.people});
  const entry: HostEntry = {
    host: {
      name: hostName(name),
      mode: written.mode ?? 'observe',
      groups: written.groups ?? defaults.groups ?? [],
      labels: {...defaults.labels, ...written.labels},
      people: new Map(people.map(([uid, person]) => [Number(uid), person])),
      links: {...defaults.links, ...written.links},
      clocks: clocksOf(written.clocks ?? defaults.clocks),
      labPidNamespace: written.labPidNamespace ?? false,
      practice: written.practice ?? false,
    },
    access: {
      name: hostName(name),
      address: written.address ?? name,
      port: written.port ?? defaults.port ?? 22,
      look: look.value,
      act: act.value,
      hostKeys: hostKeys.value,
      sudo: written.sudo ?? defaults.sudo ?? false,
      extraPath: written.extraPath ?? defaults.extraPath ?? [],
      libraryPath: written.libraryPath ?? defaults.libraryPath ?? [],
      deviceFolder: written.deviceFolder ?? '/dev',
    },
  };
  return {value: entry, mistakes};
}

/** Everybody may give the go there, so it may be no host that has anything to lose. */
function practiceMistakes(name: string, written: WrittenHost, {file}: HostsContext): readonly Mistake[] {
  if (written.practice !== true || LOOPBACK.has(written.address ?? name)) return [];
  const problem = `is for a lab host beside the bot, and ${written.address ?? name} is no loopback address`;
  return [
    {file, at: ['hosts', name, 'practice'], problem, wayOut: 'take it out; `npm run practice` prints a whole entry'},
  ];
}

function clocksOf(written: WrittenHost['clocks']): DeclaredClocks {
  const locked = (one: WrittenHost['clocks']): LockedClocks => ({
    graphics: one?.lockedGraphics ?? null,
    memory: one?.lockedMemory ?? null,
  });
  const byGpu = Object.entries(written?.gpus ?? {}).map(([index, one]) => [Number(index), locked(one)] as const);
  return {...locked(written), byGpu: new Map(byGpu)};
}

function hostKeysOf(name: string, written: WrittenHost, {file, settings, defaults}: HostsContext): Read<HostKeys> {
  if (written.hostKeys !== undefined) {
    const both: Mistake = {
      file,
      at: ['hosts', name, 'knownHosts'],
      problem: 'stands beside hostKeys',
      wayOut: 'keep one of them',
    };
    return {
      value: {kind: 'pinned', keys: written.hostKeys},
      mistakes: written.knownHosts === undefined ? [] : [both],
    };
  }
  const saidBy = written.knownHosts === undefined && defaults.knownHosts !== undefined ? ['defaults'] : ['hosts', name];
  const said = written.knownHosts ?? defaults.knownHosts ?? '~/.ssh/known_hosts';
  const path = absolute(said, dirname(file), settings.home);
  try {
    accessSync(path, constants.R_OK);
    return {value: {kind: 'known-hosts', path}, mistakes: []};
  } catch {
    const problem = `${path} cannot be read, so no host key is known and no host is trusted`;
    const wayOut = `name the right file, or pin the key: hostKeys: ["ssh-ed25519 AAAA…"] as read on the host itself`;
    return {
      value: {kind: 'known-hosts', path},
      mistakes: [{file, at: [...saidBy, 'knownHosts'], problem, wayOut}],
    };
  }
}
