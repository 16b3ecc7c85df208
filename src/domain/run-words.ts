/** `show RUN` and `cancel RUN [why]`: stopping never fails for a word too many. */

/** `7f3a`, `#7f3a`, `7f3a.`; empty where none is named. */
export function readRun(words: readonly string[]): string {
  return (words[0] ?? '').replace(/^#/, '').replace(/[.,:;!]+$/, '');
}

/** The words behind the run are the reason, with `reason=` or `because` in front or without. */
export function readCancel(words: readonly string[]): {readonly given: string; readonly reason: string | null} {
  const reason = words
    .slice(1)
    .join(' ')
    .replace(/^(?:--)?(?:reason *= *|because |why=)/i, '')
    .trim();
  return {given: readRun(words), reason: reason === '' ? null : reason};
}
