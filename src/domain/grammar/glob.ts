/**
 * Patterns of host names: `gpu-0*`, `gpu-?7`, `gpu-[1-4]`, `gpu-[01-12]`, `gpu-{07,08}`, `gpu-{07..12}`. No expression is
 * made of what people type: a pattern becomes a list of plain ones, and their parts are sought one after the other.
 */

/** So many plain patterns may come of one; more would be a list of the world. */
const MOST = 1_024;
const LONGEST = 200;

export function isPattern(word: string): boolean {
  return /[*?[\]{}]/.test(word);
}

/** Whether `*` or `?` is in it: it then names nobody by name. */
export function isOpenPattern(word: string): boolean {
  return /[*?]/.test(word);
}

/** Whatever the case of both; false for a pattern that does not read. */
export function fitsPattern(pattern: string, name: string): boolean {
  const lower = name.toLowerCase();
  return (alternatives(pattern.toLowerCase()) ?? []).some((plain) => fitsPlain(plain, lower));
}

/** Patterns with no more than `*` and `?` in them; null if it does not read, or is too much. */
function alternatives(pattern: string): readonly string[] | null {
  if (pattern.length > LONGEST) return null;
  let made: readonly string[] = [''];
  for (let at = 0; at < pattern.length; ) {
    const character = pattern[at] ?? '';
    let next: readonly string[];
    if (character === '[' || character === '{') {
      const end = pattern.indexOf(character === '[' ? ']' : '}', at);
      const inside = end === -1 ? '' : pattern.slice(at + 1, end);
      const choices = character === '[' ? classOf(inside) : listOf(inside);
      if (choices === null) return null;
      next = choices;
      at = end + 1;
    } else if (character === ']' || character === '}') return null;
    else {
      next = [character];
      at += 1;
    }
    if (made.length * next.length > MOST) return null;
    made = made.flatMap((start) => next.map((more) => start + more));
  }
  return made;
}

/** `1-4`, `01-12`, `1,3-5` as numbers, the way cluster tools write them; `78`, `a-c` as characters, the way shells do. */
function classOf(inside: string): readonly string[] | null {
  if (/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(inside) && /[-,]/.test(inside)) {
    const parts = inside.split(',').map((part) => numbers(part.split('-')));
    return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
  }
  if (!/^[a-z0-9.-]+$/.test(inside)) return null;
  const made: string[] = [];
  for (let at = 0; at < inside.length; at += 1) {
    const [from = '', dash, to] = inside.slice(at, at + 3);
    if (dash !== '-' || to === undefined) {
      made.push(from);
      continue;
    }
    for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code += 1) made.push(String.fromCharCode(code));
    at += 2;
  }
  return [...new Set(made)];
}

/** `07,08`, `07..12`. */
function listOf(inside: string): readonly string[] | null {
  const parts = inside.split(',').map((part) => {
    const word = part.trim();
    const range = word.split('..');
    if (range.length === 2) return numbers(range);
    return /^[a-z0-9.*?-]+$/.test(word) ? [word] : null;
  });
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
}

/** `['07', '12']` -> 07 … 12, as wide as it was written. */
function numbers([from = '', to = from]: readonly string[]): readonly string[] | null {
  if (!/^\d{1,6}$/.test(from) || !/^\d{1,6}$/.test(to)) return null;
  const [first, last] = [Number(from), Number(to)];
  if (last < first || last - first >= MOST) return null;
  return Array.from({length: last - first + 1}, (_, nth) => String(first + nth).padStart(from.length, '0'));
}

function fitsPlain(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name.length === first.length && sameAt(first, name, 0);
  const end = name.length - last.length;
  if (end < first.length || !sameAt(first, name, 0) || !sameAt(last, name, end)) return false;
  let at = first.length;
  for (const part of parts) {
    while (at + part.length <= end && !sameAt(part, name, at)) at += 1;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return true;
}

/** `?` stands for any one character. */
function sameAt(part: string, name: string, at: number): boolean {
  return [...part].every((character, nth) => character === '?' || character === name[at + nth]);
}
