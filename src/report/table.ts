/** A table as data, drawn by whoever shows it; and as monospace lines for a narrow screen. */
import {thousands} from './amounts.ts';
import {PHONE_COLUMNS, wrapped} from './wrapped.ts';

export interface Column {
  readonly head: string;
  readonly side: 'left' | 'right';
}

/** A number is shown with its thousands. */
export type Cell = string | number;

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

export function cellText(cell: Cell): string {
  return typeof cell === 'number' ? thousands(cell) : cell;
}

/** The sum of the figures that are known; "unknown" if none is, and never 0 for that. */
export function sumOrUnknown(figures: readonly (number | null)[]): Cell {
  const known = figures.filter((figure) => figure !== null);
  return known.length === 0 ? 'unknown' : known.reduce((sum, figure) => sum + figure, 0);
}

/** Numbers line up; what is too long in the last column goes on below its row, so that nothing is cut. */
export function tableLines({columns, rows}: Table, most = PHONE_COLUMNS): readonly string[] {
  const all = [columns.map(({head}) => head), ...rows.map((row) => row.map(cellText))];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => [...(row[at] ?? '')].length)));
  return all.flatMap((row) => {
    const cells = row.map((text, at) => {
      const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - [...text].length));
      return columns[at]?.side === 'right' ? `${pad}${text}` : `${text}${pad}`;
    });
    const whole = cells.join(' ').trimEnd();
    if ([...whole].length <= most) return [whole];
    const start = cells.slice(0, -1).join(' ').trimEnd();
    const end = wrapped(`  ${row.at(-1) ?? ''}`, most);
    return [...([...start].length <= most ? [start] : wrapped(start, most)), ...end];
  });
}
