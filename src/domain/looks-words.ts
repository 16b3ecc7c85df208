/** What looking verbs are about: `status`, `diagnose`, `probe`, and lists that are narrowed to hosts. */
import {fail, ok, type Result} from './failure.ts';
import {type KnownHost, type NamedHost, readHosts, readOneHost} from './grammar/host-words.ts';
import {settle} from './grammar/settle.ts';
import type {HostName} from './host.ts';

/** No word: every host. Names, groups and patterns, each host once. */
export function readStatus(words: readonly string[], known: readonly KnownHost[]): Result<readonly NamedHost[]> {
  const bare = bareOf(words, known);
  return bare.ok ? readHosts(bare.value, known, 'status') : bare;
}

/** One host; a group or pattern will do if it fits exactly one. */
export function readLookedAt(
  words: readonly string[],
  known: readonly KnownHost[],
  verb: 'diagnose' | 'probe',
): Result<HostName> {
  const bare = bareOf(words, known);
  return bare.ok ? readOneHost(bare.value, known, verb) : bare;
}

/** Null: all of them, since no host was named. */
export function readNarrowed(
  words: readonly string[],
  known: readonly KnownHost[],
  verb: string,
): Result<ReadonlySet<HostName> | null> {
  const bare = bareOf(words, known);
  if (!bare.ok) return bare;
  if (bare.value.length === 0) return ok(null);
  const hosts = readHosts(bare.value, known, verb);
  return hosts.ok ? ok(new Set(hosts.value.map(({name}) => name))) : hosts;
}

/** They take no argument: one that is passed over would make people believe that it counts. */
function bareOf(words: readonly string[], known: readonly KnownHost[]): Result<readonly string[]> {
  const settled = settle(words, {options: [], known, bare: 'hosts'});
  if (!settled.ok) {
    const {failure} = settled;
    return failure.reason === 'argument-unknown' ? fail({...failure, hint: 'it takes hosts only'}) : settled;
  }
  return ok(settled.value.bare);
}
