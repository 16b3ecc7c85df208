/** Hosts as people name them: a name of the hosts file, a group of it, a pattern, several with commas, or `all`. */
import {fail, ok, type Result} from '../failure.ts';
import type {Host, HostName} from '../host.ts';
import {nearest} from '../nearest.ts';
import {fleetOf} from '../practice.ts';
import {fitsPattern, isOpenPattern, isPattern} from './glob.ts';

/** As much of a host as naming it needs. */
export type KnownHost = Pick<Host, 'name' | 'groups' | 'practice'>;

export interface NamedHost {
  readonly name: HostName;
  /** `group`: by a group, an open pattern or `all`, so that nobody named this very host. */
  readonly by: 'name' | 'group';
}

const EVERY = new Set(['all', '*', 'everything', 'fleet']);

/** A name from the hosts file; an address is refused as such, whether or not a host has it. */
export function readHost(
  word: string,
  known: readonly HostName[],
  more: {readonly groups?: readonly string[]} = {},
): Result<HostName> {
  const bare = bareName(word);
  const host = known.find((name) => name.toLowerCase() === bare);
  if (host !== undefined && !isAddress(bare)) return ok(host);
  if (isAddress(word) || isAddress(bare)) return fail({reason: 'host-is-address', host: word, known});
  return fail({reason: 'host-unknown', host: word, nearest: nearest(bare, [...known, ...(more.groups ?? [])])});
}

/** Whether this word names hosts here, and cannot be meant otherwise. */
export function namesHosts(word: string, known: readonly KnownHost[]): boolean {
  const parts = splitList(word);
  return parts.length > 0 && parts.every((part) => chosenBy(part, known).length > 0);
}

/** For looking: every host that a word names, each once, in the order of the words. No word: all there are. */
export function readHosts(
  words: readonly string[],
  known: readonly KnownHost[],
  verb: string,
): Result<readonly NamedHost[]> {
  const names = known.map(({name}) => name);
  if (words.length === 0)
    return known.length === 0 ? fail({reason: 'host-missing', verb, known: names}) : ok(every(known));
  const found = new Map<HostName, NamedHost>();
  for (const word of words.flatMap(splitList)) {
    const chosen = EVERY.has(word.toLowerCase()) ? every(known) : chosenBy(word, known);
    if (chosen.length === 0) return unknownHost(word, known);
    for (const one of chosen) if (found.get(one.name)?.by !== 'name') found.set(one.name, one);
  }
  return ok([...found.values()]);
}

/** For what is about one host: a group or a pattern will do if it fits exactly one. */
export function readOneHost(words: readonly string[], known: readonly KnownHost[], verb: string): Result<HostName> {
  const names = known.map(({name}) => name);
  const parts = words.flatMap(splitList);
  const [first, ...more] = parts;
  if (first === undefined) return fail({reason: 'host-missing', verb, known: names});
  // "Everything" is no name, also where there is one host only.
  if (parts.some((part) => EVERY.has(part.toLowerCase()))) return fail({reason: 'host-missing', verb, known: names});
  const chosen = parts.map((part) => chosenBy(part, known));
  const stranger = parts.find((_, at) => chosen[at]?.length === 0);
  if (stranger !== undefined) return unknownHost(stranger, known);
  if (more.length > 0) return fail({reason: 'one-host-only', hosts: parts});
  const [only, ...others] = chosen[0] ?? [];
  if (only === undefined) return unknownHost(first, known);
  return others.length === 0
    ? ok(only.name)
    : fail({reason: 'one-host-only', hosts: (chosen[0] ?? []).map(({name}) => name), given: first});
}

/** Why this word names no host, with what may have been meant: a name or a group. */
export function unknownHost(word: string, known: readonly KnownHost[]): Result<never> {
  const names = known.map(({name}) => name);
  const read = readHost(word, names, {groups: [...new Set(known.flatMap(({groups}) => groups))]});
  return read.ok ? fail({reason: 'host-unknown', host: word, nearest: []}) : read;
}

/** Commas outside of brackets part a list. */
export function splitList(word: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (const character of word) {
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth -= 1;
    if (character === ',' && depth <= 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part].filter((one) => one !== '');
}

function chosenBy(word: string, known: readonly KnownHost[]): readonly NamedHost[] {
  const bare = bareName(word);
  const host = known.find(({name}) => name.toLowerCase() === bare);
  if (host !== undefined) return isAddress(bare) ? [] : [{name: host.name, by: 'name'}];
  const group = known.filter(({groups}) => groups.includes(bare));
  if (group.length > 0) return group.map(({name}) => ({name, by: 'group'}));
  if (!isPattern(bare) || EVERY.has(bare)) return [];
  const by = isOpenPattern(bare) ? 'group' : 'name';
  return known.filter(({name}) => fitsPattern(bare, name)).map(({name}) => ({name, by}));
}

function every(known: readonly KnownHost[]): readonly NamedHost[] {
  return fleetOf(known).map(({name}) => ({name, by: 'group'}));
}

/** `http://gpu-07/`, `gpu-07:`, `GPU-07.` as they come out of a page or the end of a sentence. */
function bareName(word: string): string {
  return word
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/:;.,!]+$/, '');
}

function isAddress(word: string): boolean {
  return (
    /^(\[[0-9a-f:.]+\](:\d+)?|[0-9a-f:]*:[0-9a-f:.]+)$/i.test(word) ||
    /^\d{1,3}(\.\d{1,3}){3}(:\d+)?$/.test(word) ||
    word.includes('@')
  );
}
