/** GPU lists, lengths of time and PIDs as people write them. */

/** No list that means something is longer. */
const LONGEST = 1_000;

/**
 * `0-3`, `0..3`, `0,2,5`, `[0,2]`, `GPU0`, `gpu0-gpu3`, `all` -> the indexes, sorted; null if it does not read. At most 64
 * GPUs, each at most 255.
 */
export function readGpus(text: string): readonly number[] | 'all' | null {
  if (text.length > LONGEST) return null;
  const whole = text.toLowerCase();
  const inside = /^\[(.*)\]$|^\((.*)\)$|^\{(.*)\}$/s.exec(whole);
  const list = (inside === null ? whole : (inside[1] ?? inside[2] ?? inside[3] ?? '')).trim();
  if (/^(all|\*|any|every)$/.test(list)) return 'all';
  const found = new Set<number>();
  for (const part of list.split(/ *, */)) {
    const range = /^(?:gpus?[ -]?)?(\d{1,3})(?: *(?:-|\.{2,3}) *(?:gpus?[ -]?)?(\d{1,3}))?$/.exec(part);
    if (range === null || part !== part.trim()) return null;
    const from = Number(range[1]);
    const to = Number(range[2] ?? range[1]);
    if (to < from || to > 255 || to - from >= 64) return null;
    for (let at = from; at <= to; at += 1) found.add(at);
  }
  if (found.size > 64) return null;
  return [...found].toSorted((a, b) => a - b);
}

/** `4711`, `4711,4712`, `4711, 4712`; null if it does not read. */
export function readPids(text: string): readonly number[] | null {
  if (text.length > LONGEST) return null;
  const parts = text.split(/ *, */);
  if (!parts.every((part) => /^[1-9]\d{0,6}$/.test(part))) return null;
  return [...new Set(parts.map(Number))];
}

const UNITS: readonly (readonly [readonly string[], number])[] = [
  [['ms', 'msec', 'millis', 'milliseconds'], 1],
  [['s', 'sec', 'secs', 'second', 'seconds'], 1_000],
  [['m', 'min', 'mins', 'minute', 'minutes'], 60_000],
  [['h', 'hr', 'hrs', 'hour', 'hours'], 3_600_000],
];
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS.flatMap(([names, ms]) => names.map((name) => [name, ms])));

export function isUnit(word: string): boolean {
  return UNIT_MS.has(word.toLowerCase());
}

/**
 * Milliseconds of `30s`, `30 s`, `1m30s`, `2min`, `90 sec`, `1h`; null if it does not read. A bare number is none (seconds
 * or minutes?). Files are read more strictly, by `parseDuration`.
 */
export function readDuration(text: string): number | null {
  const packed = text.toLowerCase().replaceAll(/\s+/g, '');
  if (packed.length > 40) return null;
  const parts = [...packed.matchAll(/(\d{1,9})([a-z]+)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== packed) return null;
  const sizes = parts.map(([, count, unit]) => Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN));
  const sum = sizes.reduce((total, one) => total + one, 0);
  return Number.isSafeInteger(sum) ? sum : null;
}
