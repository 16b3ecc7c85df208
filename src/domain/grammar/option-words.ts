/** Which option of a verb a word names, in whatever spelling: the pieces that `settle.ts` puts together. */
import {nearest} from '../nearest.ts';
import type {KnownHost} from './host-words.ts';
import type {OptionName, OptionRule} from './rules.ts';
import {readGpus} from './values.ts';

export interface Surroundings {
  readonly options: readonly OptionRule[];
  readonly known: readonly KnownHost[];
  /**
   * `hosts`: a bare word can be nothing but a host, so that a key may stand without its sign. `text`: words of a text or
   * of a time may stand bare, so that a key without its sign must be sure of its value.
   */
  readonly bare: 'hosts' | 'text';
  /** Never taken for a key. */
  readonly keeps?: (word: string) => boolean;
}

export interface Found {
  readonly rule: OptionRule;
  readonly value: string;
  readonly taken: number;
}

/** `dry-run`, `--dry-run`, `dry_run`, `dryrun`, `dry run`. */
export function flagAt(words: readonly string[], at: number, options: readonly OptionRule[]): Found | null {
  const flags = options.filter(({kind}) => kind === 'flag');
  const [word = '', next = ''] = words.slice(at, at + 2);
  const both = /^[a-z]+$/i.test(next) ? ruleOf(`${bareKey(word)}-${next}`, flags) : undefined;
  if (both !== undefined) return {rule: both, value: '', taken: 2};
  const one = ruleOf(bareKey(word), flags);
  return one === undefined ? null : {rule: one, value: '', taken: 1};
}

/** Up to two options that were most likely meant, by any of their spellings. */
export function nearestOptions(word: string, options: readonly OptionRule[]): readonly OptionName[] {
  if (bareKey(word).length < 3) return [];
  const spelled = options.flatMap(({name, also}) => [name, ...also]);
  const names = nearest(bareKey(word), spelled).flatMap((one) => ruleOf(one, options)?.name ?? []);
  return [...new Set(names)];
}

export function ruleOf(key: string, options: readonly OptionRule[]): OptionRule | undefined {
  const name = bareKey(key);
  return options.find((one) => one.name === name || one.also.includes(name));
}

function bareKey(word: string): string {
  return word
    .toLowerCase()
    .replace(/^--?(?=\p{L})/u, '')
    .replaceAll('_', '-');
}

/** `gpu3`, `GPUs0-3`, where no host is called nearly so. */
export function gluedGpus(word: string, {options, known, bare}: Surroundings): Omit<Found, 'taken'> | null {
  const rule = options.find(({kind}) => kind === 'gpus');
  const [, list] = /^gpus?(\d[\d,.-]*)$/i.exec(word) ?? [];
  if (bare === 'text' || rule === undefined || list === undefined || readGpus(list) === null) return null;
  return known.some(({name}) => squashed(name) === squashed(word)) ? null : {rule, value: list};
}

/** `gpu-07` and `gpu7` alike. */
function squashed(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]|(?<!\d)0+(?=\d)/g, '');
}
