/** The known word that `given` was most likely meant to be; null if none is near (more than a third of it differs). */
export function nearest(given: string, known: readonly string[]): string | null {
  const ranked = known
    .map((word) => ({word, distance: editDistance(given.toLowerCase(), word.toLowerCase())}))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, Math.ceil(given.length / 3)) ? best.word : null;
}

/** Levenshtein: insertions, deletions and replacements; texts past 64 letters are compared by their start. */
function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 64), b.slice(0, 64)];
  let row = Array.from({length: to.length + 1}, (_, column) => column);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
