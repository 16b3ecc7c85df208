/**
 * Up to two known words that `given` was most likely meant to be, best first, whatever the case of both: within two
 * edits, or starting with it. A short word must be nearer: `pid` and `gpu` have nothing to do with each other.
 */
export function nearest(given: string, known: readonly string[]): readonly string[] {
  const word = given.toLowerCase().slice(0, LONGEST);
  return known
    .map((name) => ({name, far: distance(word, name.toLowerCase().slice(0, LONGEST))}))
    .filter(({name, far}) => far <= Math.max(1, Math.min(2, Math.floor(name.length / 2))))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 2)
    .map(({name}) => name);
}

/** What people paste may be long; what they meant is not. */
const LONGEST = 64;

function distance(word: string, name: string): number {
  return word.length >= 3 && name.startsWith(word) ? 0 : edits(word, name);
}

/** Levenshtein: insertions, deletions and replacements. */
function edits(a: string, b: string): number {
  let row = Array.from({length: b.length + 1}, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
