/**
 * Splits what one exec printed into its framed sections (see `ssh/scripts/frame.sh`). Text before BEGIN belongs to the
 * login shell, text after END to its traps: neither is ever parsed. What a process wrote can't make a marker, because the
 * nonce is not known on the host outside our own shell.
 */
export interface Section {
  readonly name: string;
  /** The section's own exit code; null: its end never came, so it is incomplete, never empty. */
  readonly exitCode: number | null;
  /** Decoded as UTF-8, bytes that are none replaced. */
  readonly body: string;
}

export interface Framed {
  /** `BEGIN KIND VERSION`; null if that marker never came. */
  readonly kind: string | null;
  readonly version: number | null;
  readonly sections: readonly Section[];
  /** Exit code of `END`; null if that marker never came. */
  readonly endCode: number | null;
  /** What stood before BEGIN: a banner, a complaint of the login shell. Hostile. */
  readonly preamble: string;
}

export function splitSections(stdout: Uint8Array, nonce: string): Framed {
  const text = new TextDecoder('utf-8', {ignoreBOM: true}).decode(stdout);
  const sections: Section[] = [];
  let frame: {kind: string; version: number} | null = null;
  let endCode: number | null = null;
  let preamble = text;
  let open: {name: string; from: number} | null = null;
  for (const marker of markersIn(text, nonce)) {
    const [word, first, second] = marker.words;
    if (frame === null) {
      if (word !== 'BEGIN' || first === undefined) continue;
      frame = {kind: first, version: codeOf(second) ?? -1};
      preamble = text.slice(0, marker.from);
    } else if (word === 'begin' && first !== undefined) {
      if (open !== null) sections.push({name: open.name, exitCode: null, body: text.slice(open.from, marker.from)});
      open = {name: first, from: marker.to};
    } else if (word === 'end' && open !== null) {
      const exitCode = first === open.name ? codeOf(second) : null;
      sections.push({name: open.name, exitCode, body: text.slice(open.from, marker.from)});
      open = null;
    } else if (word === 'END') {
      endCode = codeOf(first);
      break;
    }
  }
  if (open !== null) sections.push({name: open.name, exitCode: null, body: text.slice(open.from)});
  return {kind: frame?.kind ?? null, version: frame?.version ?? null, sections, endCode, preamble};
}

/** All bodies of that name, in order, as one text. Sections may come in parts. */
export function bodyOf(sections: readonly Section[], name: string): string {
  return sections
    .filter((section) => section.name === name)
    .map((section) => section.body)
    .join('\n');
}

/** The lines of that section, empty ones and our own `@` lines left out. */
export function linesOf(sections: readonly Section[], name: string): string[] {
  return bodyOf(sections, name)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('@'));
}

function* markersIn(text: string, nonce: string): Generator<{from: number; to: number; words: string[]}> {
  // An empty or odd nonce would let any text be a marker.
  if (!/^[0-9a-f]{16,}$/.test(nonce)) return;
  for (const match of text.matchAll(new RegExp(`(?:^|\\n)@@${nonce} ([^\\n]*)\\n`, 'g'))) {
    yield {from: match.index, to: match.index + match[0].length, words: (match[1] ?? '').split(' ')};
  }
}

function codeOf(word: string | undefined): number | null {
  return word !== undefined && /^\d{1,3}$/.test(word) ? Number(word) : null;
}
