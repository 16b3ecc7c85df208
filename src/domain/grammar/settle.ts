/**
 * Words as people type them, settled: hosts and texts bare, everything else as `key=value` or a flag in the table's own
 * spelling. What could be meant in two ways is refused, or left for the reader of that verb; nothing is guessed.
 */
import {fail, ok, type Result} from '../failure.ts';
import {namesHosts} from './host-words.ts';
import {type Found, flagAt, gluedGpus, nearestOptions, ruleOf, type Surroundings} from './option-words.ts';
import {reach, surely} from './reach.ts';
import type {OptionName, OptionRule} from './rules.ts';
import {plainKeyIn, widerBehind} from './unquoted.ts';

export interface Settled {
  readonly bare: readonly string[];
  /** A flag has the empty value, or what wrongly stood behind its sign of equality. */
  readonly values: ReadonlyMap<OptionName, string>;
  /** The same command in the table's spelling: settling it again changes nothing. */
  readonly words: readonly string[];
}

/** No value has more words. */
const MOST_BEHIND = 100;

const JOINTS = /^(on|at|for|of|from|in|host|hosts|and|&|\+)$/i;

export function settle(given: readonly string[], around: Surroundings): Result<Settled> {
  const words = bracketsJoined(given);
  const bare: string[] = [];
  const values = new Map<OptionName, string>();
  const settled: string[] = [];
  const isHost = (word: string | undefined): boolean => word !== undefined && namesHosts(word, around.known);
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? '';
    const joins = JOINTS.test(word) && isHost(words[at + 1]) && bare.every(isHost);
    if (joins) {
      at += 1;
      continue;
    }
    const found = around.keeps?.(word) === true || isHost(word) ? null : optionAt(words, at, around, isHost);
    if (found === null) {
      bare.push(word);
      settled.push(word);
      at += 1;
      continue;
    }
    if (!found.ok) return found;
    const {rule, value, taken} = found.value;
    if (values.has(rule.name))
      return fail({reason: 'argument-bad', argument: rule.name, value, expected: 'it once only'});
    values.set(rule.name, value);
    settled.push(rule.kind === 'flag' && value === '' ? rule.name : `${rule.name}=${value}`);
    at += taken;
  }
  return ok({bare, values, words: settled});
}

/** The option that begins at this word; null: none does. */
function optionAt(
  words: readonly string[],
  at: number,
  around: Surroundings,
  isHost: (word: string) => boolean,
): Result<Found> | null {
  const word = words[at] ?? '';
  const {options} = around;
  const flag = flagAt(words, at, options);
  if (flag !== null) return ok(flag);
  const glued = gluedGpus(word, around);
  if (glued !== null) return ok(gluedReach(glued, words.slice(at + 1, at + 1 + MOST_BEHIND), options));
  const [, dashes = '', key = '', sign = '', own = ''] =
    /^(--?(?=\p{L}))?([\p{L}\p{N}_-]*)(=|:(?!\/\/))?(.*)$/su.exec(word) ?? [];
  const rule = own === '' || sign !== '' ? ruleOf(key, options) : undefined;
  if (rule === undefined) return strangeKey(word, {dashes, key, sign}, around);
  if (rule.kind === 'flag') return sign === '' ? null : ok({rule, value: own, taken: 1});
  const next = words[at + 1] ?? '';
  const apart = sign === '' && (next.startsWith('=') || next === ':') ? next.slice(1) : null;
  const isSigned = sign !== '' || apart !== null;
  const started = sign !== '' ? own : (apart ?? '');
  const skipped = apart === null ? 1 : 2;
  // Names of groups are words of every day: "because prod is down".
  const names = new Set<string>(around.known.map(({name}) => name.toLowerCase()));
  const ends = rule.kind === 'sentence' ? (one: string): boolean => names.has(one.toLowerCase()) : isHost;
  const isBorder = (one: string, nth: number, all: readonly string[]): boolean =>
    (dashes === '' && ends(one)) || startsOption(one, all[nth + 1], options);
  const reached = reach(
    rule.kind,
    started === '' ? null : started,
    words.slice(at + skipped, at + skipped + MOST_BEHIND),
    isBorder,
  );
  if (reached === null) {
    // A word such as "user" in a text, with nothing behind it that could be its value.
    if (!isSigned && dashes === '' && around.bare === 'text') return null;
    return ok({rule, value: started, taken: skipped});
  }
  if (!isSigned && dashes === '' && around.bare === 'text' && !surely(rule.kind, reached.value)) return null;
  const end = at + skipped + reached.taken;
  const unsure =
    rule.kind === 'sentence'
      ? (plainKeyIn(words.slice(at + skipped, end), started === '', around) ??
        (/\s/.test(started === '' ? next : started)
          ? null
          : widerBehind(reached.value, words.slice(end, end + 2), options)))
      : null;
  if (unsure !== null)
    return fail({
      reason: 'argument-bad',
      argument: rule.name,
      value: reached.value,
      expected: `its words in quotes, since "${unsure}" may be meant as an argument: ${rule.name}="…"`,
    });
  return ok({rule, value: reached.value, taken: end - at});
}

/** Null for what is no key at all; a failure for a key that nobody knows here. */
function strangeKey(
  word: string,
  {dashes, key, sign}: {readonly dashes: string; readonly key: string; readonly sign: string},
  around: Surroundings,
): Result<Found> | null {
  const isKey = sign === '=' && (around.bare === 'hosts' || /^[a-z-]+$/i.test(key));
  if (!isKey && dashes !== '--') return null;
  const names = around.options.map(({name}) => name);
  const argument = isKey ? `${dashes}${key}` || word : word;
  return fail({
    reason: 'argument-unknown',
    argument: argument === '' ? word : argument,
    nearest: nearestOptions(key, around.options),
    ...(names.length === 0 ? {} : {hint: `there are ${names.join(', ')}`}),
  });
}

/** A key with its sign, a flag, or two dashes: where an unquoted value ends. A flag misspelt by a letter ends it, too. */
function startsOption(word: string, next: string | undefined, options: readonly OptionRule[]): boolean {
  if (word.startsWith('--')) return true;
  const [, key, sign] = /^([\p{L}_-]+)(=|:(?!\/\/))/su.exec(word) ?? [];
  if (key !== undefined && sign !== undefined) return sign === '=' || ruleOf(key, options) !== undefined;
  if (flagAt([word, next ?? ''], 0, options) !== null || (next?.startsWith('=') === true && ruleOf(word, options)))
    return true;
  const flags = options.filter(({kind}) => kind === 'flag');
  return word.length >= 5 && nearestOptions(word, flags).length > 0;
}

function gluedReach(
  {rule, value}: Omit<Found, 'taken'>,
  behind: readonly string[],
  options: readonly OptionRule[],
): Found {
  const reached = reach(rule.kind, value, behind, (one, nth, all) => startsOption(one, all[nth + 1], options));
  return {rule, value: reached?.value ?? value, taken: 1 + (reached?.taken ?? 0)};
}

/** `gpu-{07,` and `08}` are one word. */
function bracketsJoined(words: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const end = isOpen(word) ? words.findIndex((one, nth) => nth > at && /[\]}]/.test(one)) : -1;
    const inside = words.slice(at + 1, end + 1);
    if (end === -1 || inside.some((one) => !/^[a-z0-9.,-]*[\]}]?$/i.test(one))) joined.push(word);
    else {
      joined.push([word, ...inside].join(''));
      at = end;
    }
  }
  return joined;
}

function isOpen(word: string): boolean {
  return /^[a-z0-9.-]*[[{][^\]}\s]*$/i.test(word);
}
