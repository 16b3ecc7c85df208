/** A text without quotes: what in it, or behind it, may have been meant as an argument. */
import {flagAt, gluedGpus, ruleOf, type Surroundings} from './option-words.ts';
import {surely} from './reach.ts';
import type {OptionRule} from './rules.ts';

/**
 * A plain word of an unquoted text that is a key as well, or another spelling of one with its value behind it: what it asks
 * for would be lost in the text. `fromFirst`: the first word is the text's own beginning.
 */
export function plainKeyIn(words: readonly string[], fromFirst: boolean, around: Surroundings): string | null {
  const {options} = around;
  const found = words.find((word, nth) => {
    if (nth === 0 && fromFirst) return words.length > 1 && options.some(({name}) => name === word.toLowerCase());
    if (gluedGpus(word, around) !== null) return true;
    if (words.length < 2) return false;
    const rule = ruleOf(word, options);
    if (rule === undefined || rule.name === word.toLowerCase()) return rule !== undefined;
    const next = words[nth + 1];
    if (next === undefined || rule.kind === 'sentence') return false;
    return rule.kind === 'literal' || rule.kind === 'user' || surely(rule.kind, next);
  });
  return found ?? null;
}

const NOT = /^(no|not|never|without|don'?t|doesn'?t|won'?t|nor)$/i;

/**
 * "because prod is down, do not include others": behind an unquoted text, what takes in more than the request without it
 * must be meant as an argument beyond doubt. null: nothing of the kind stands there.
 */
export function widerBehind(text: string, behind: readonly string[], options: readonly OptionRule[]): string | null {
  const flag = flagAt(behind, 0, options);
  if (flag?.rule.name !== 'include-others' || behind[0]?.startsWith('--') === true) return null;
  return /\s/.test(text.trim()) || NOT.test(text.trim()) ? behind.slice(0, flag.taken).join(' ') : null;
}
