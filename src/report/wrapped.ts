/** Long lines and long lists for a narrow screen. */
import {thousands} from './amounts.ts';

/** What a phone shows of monospace text without scrolling, in columns. */
export const PHONE_COLUMNS = 42;

/** The words of one line on as many lines as they need; what follows the first is set in. A longer word is broken. */
export function wrapped(line: string, columns = PHONE_COLUMNS): readonly string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let at = indent;
  for (const word of line.trim().split(/\s+/)) {
    let rest = [...word];
    const fits = [...at].length + rest.length + (at.trim() === '' ? 0 : 1) <= columns;
    if (!fits && at.trim() !== '') {
      lines.push(at);
      at = `${indent}  `;
    }
    while ([...at].length + rest.length > columns) {
      const room = Math.max(1, columns - [...at].length);
      lines.push(at + rest.slice(0, room).join(''));
      rest = rest.slice(room);
      at = `${indent}  `;
    }
    at += (at.trim() === '' ? '' : ' ') + rest.join('');
  }
  return at.trim() === '' ? lines : [...lines, at];
}

/** One entry of a list that may be shortened: its lines, made only if it is shown, and the memory that it stands for. */
export interface Entry {
  readonly lines: () => readonly string[];
  /** null = no figure. */
  readonly MiB: number | null;
}

/** As many whole entries as `room` lines hold, then what is left out, counted and summed: "… 436 more, 12,345 MiB". */
export function shortened(entries: readonly Entry[], room: number): readonly string[] {
  const lines: string[] = [];
  for (const [at, entry] of entries.entries()) {
    const last = at === entries.length - 1;
    const own = entry.lines();
    if (lines.length + own.length + (last ? 0 : 1) > room) return [...lines, moreLine(entries.slice(at))];
    lines.push(...own);
  }
  return lines;
}

/** "… 436 more, 12,345 MiB"; processes without a figure are told apart from such with 0. */
export function moreLine(left: readonly {readonly MiB: number | null}[]): string {
  const known = left.flatMap((one) => (one.MiB === null ? [] : [one.MiB]));
  const sum = known.reduce((total, MiB) => total + MiB, 0);
  return `… ${thousands(left.length)} more${known.length === 0 ? '' : `, ${thousands(sum)} MiB`}`;
}
