/** The before/after picture of a closed run: one bar a GPU, filled to what is used now, hatched to what was used before. */
import type {Outcome} from '../domain/outcome.ts';
import {closingSnapshot} from '../domain/readiness.ts';
import type {Run} from '../domain/run.ts';
import {firstSnapshot, planOf} from '../domain/run-state.ts';
import {mibOf} from '../domain/snapshot.ts';
import {thousands} from './amounts.ts';
import {type PictureRow, pictureRows, type RowState} from './picture-rows.ts';
import {
  altTextOf,
  BLUE,
  box,
  EDGE,
  FAINT,
  GREEN,
  INK,
  line,
  ORANGE,
  type Picture,
  PURPLE,
  svgOf,
  TRACK,
  WIDTH,
  words,
} from './picture-svg.ts';
import {drillTitle} from './practice.ts';

/** Up to so many rows have their words above the bar; more stand beside it. */
const TALL_ROWS = 8;
const HEAD = 66;
const FOOT = 44;

/** null where no GPU was seen. */
export function barsPicture(run: Run, outcome: Outcome): Picture | null {
  const rows = pictureRows(outcome, totalsOf(run));
  if (rows.length === 0) return null;
  const title = drillTitle(run, `${run.host}: memory before and after`);
  const tall = rows.length <= TALL_ROWS;
  const rowHeight = tall ? 46 : 27;
  const scaleOf = (row: PictureRow): number => fullOf(row, rows);
  const parts = rows.flatMap((row, at) =>
    tall ? tallRow(row, HEAD + at * rowHeight, scaleOf(row)) : flatRow(row, HEAD + at * rowHeight, scaleOf(row)),
  );
  const footY = HEAD + rows.length * rowHeight + 8;
  const head = [
    words(EDGE, 30, title, {size: 19, bold: true}),
    words(EDGE, 51, subtitle(outcome, rows), {size: 14, fill: FAINT}),
  ];
  return {
    title,
    svg: svgOf(footY + FOOT - 8, PATTERNS, [...head, ...parts, ...legend(rows, footY)]),
    altText: altTextOf(`${title}. ${subtitle(outcome, rows)}.`, rows.map(fact)),
  };
}

function totalsOf(run: Run): ReadonlyMap<string, number> {
  const gpus = [firstSnapshot(run), closingSnapshot(run)].flatMap((snapshot) => snapshot?.gpus ?? []);
  const planned = planOf(run)?.plan.gpus ?? [];
  const all = [
    ...planned.map(({gpuUuid, totalMiB}) => ({uuid: gpuUuid, totalMiB})),
    ...gpus.map((gpu) => ({uuid: gpu.uuid, totalMiB: mibOf(gpu.totalMiB)})),
  ];
  return new Map(all.flatMap(({uuid, totalMiB}) => (totalMiB === null ? [] : [[uuid, totalMiB] as const])));
}

/** What a whole bar stands for, MiB. */
function fullOf(row: PictureRow, rows: readonly PictureRow[]): number {
  const seen = Math.max(row.beforeMiB ?? 0, row.afterMiB ?? 0);
  const known = row.totalMiB ?? Math.max(...rows.map((one) => Math.max(one.beforeMiB ?? 0, one.afterMiB ?? 0)));
  return Math.max(1, known, seen);
}

function subtitle(outcome: Outcome, rows: readonly PictureRow[]): string {
  const before = sum(outcome.gpus.map((gpu) => gpu.beforeMiB));
  const after = sum(outcome.gpus.map((gpu) => gpu.afterMiB));
  const each = new Set(rows.map((row) => (row.totalMiB === null ? null : row.totalMiB / row.gpus)));
  const [total] = each;
  const size = each.size === 1 && total !== null && total !== undefined ? ` of ${thousands(total)} each` : '';
  const change =
    before === null || after === null
      ? 'change unknown'
      : after <= before
        ? `${thousands(before - after)} less`
        : `${thousands(after - before)} more`;
  return `MiB in use${size}; ${change} in all`;
}

function tallRow(row: PictureRow, y: number, full: number): readonly string[] {
  const nameWidth = row.name.length * 8.6 + 8;
  return [
    words(EDGE, y + 14, row.name, {size: 15, bold: true}),
    words(EDGE + nameWidth, y + 14, stateWords(row), {size: 14, fill: STATE_INK[row.state]}),
    words(WIDTH - EDGE, y + 14, figures(row), {size: 15, anchor: 'end'}),
    ...bar(row, EDGE, y + 20, WIDTH - 2 * EDGE, 16, full),
  ];
}

function flatRow(row: PictureRow, y: number, full: number): readonly string[] {
  return [
    words(EDGE, y + 15, shortName(row), {size: 13, bold: true}),
    ...bar(row, 92, y + 3, 110, 15, full),
    words(210, y + 15, stateWords(row), {size: 13, fill: STATE_INK[row.state]}),
    words(WIDTH - EDGE, y + 15, figures(row), {size: 13, anchor: 'end'}),
  ];
}

/** Many ranges take more room than there is; how many GPUs they are does not. */
function shortName(row: PictureRow): string {
  return row.name.length <= 10 ? row.name : `${row.gpus} GPUs`;
}

function bar(row: PictureRow, x: number, y: number, width: number, height: number, full: number): readonly string[] {
  const at = (MiB: number): number => (MiB / full) * width;
  const {beforeMiB, afterMiB, unexplainedMiB} = row;
  const parts = [box(x, y, width, height, `fill="${TRACK}"`, 2)];
  if (afterMiB === null) {
    parts.push(box(x, y, width, height, 'fill="url(#unknown)"', 2));
  } else {
    const gone = Math.max(0, (beforeMiB ?? 0) - afterMiB);
    if (gone > 0)
      parts.push(box(x + at(afterMiB), y, at(gone), height, `fill="url(#freed)" stroke="${GREEN}" stroke-width="1"`));
    const explained = afterMiB - unexplainedMiB;
    if (at(explained) >= 0.5) parts.push(box(x, y, at(explained), height, `fill="${BLUE}"`));
    if (unexplainedMiB > 0)
      parts.push(
        box(
          x + at(explained),
          y,
          at(unexplainedMiB),
          height,
          `fill="url(#nobody)" stroke="${ORANGE}" stroke-width="1"`,
        ),
      );
  }
  if (beforeMiB !== null) {
    const mark = Math.min(x + width - 1, Math.max(x + 1, x + at(beforeMiB)));
    parts.push(line(mark, y - 3, mark, y + height + 3, `stroke="${INK}" stroke-width="2"`));
  }
  return parts;
}

const STATE_INK: Readonly<Record<RowState, string>> = {free: GREEN, held: BLUE, unexplained: ORANGE, unknown: PURPLE};

function stateWords(row: PictureRow): string {
  switch (row.state) {
    case 'free':
      return row.holders === '' ? 'free' : `free, ${row.holders}`;
    case 'held':
      return row.holders === '' ? 'in use' : row.holders;
    case 'unexplained':
      return 'no process';
    case 'unknown':
      return 'unknown';
  }
}

function figures(row: PictureRow): string {
  return `${figure(row.beforeMiB)} to ${figure(row.afterMiB)}`;
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}

function fact(row: PictureRow): string {
  const of = row.totalMiB === null ? '' : ` of ${thousands(row.totalMiB)}`;
  const nobody = row.unexplainedMiB > 0 ? `, ${thousands(row.unexplainedMiB)} that no process explains` : '';
  const state = row.state === 'unexplained' ? '' : `, ${stateWords(row)}`;
  return `${row.name}: ${figures(row)}${of}${state}${nobody}.`;
}

interface Key {
  readonly swatch: string;
  readonly text: string;
}

function legend(rows: readonly PictureRow[], y: number): readonly string[] {
  const some = (has: (row: PictureRow) => boolean): boolean => rows.some(has);
  const keys: readonly Key[] = [
    ...(some((row) => (row.afterMiB ?? 0) - row.unexplainedMiB > 0 && row.state !== 'free')
      ? [{swatch: `fill="${BLUE}"`, text: 'in use'}]
      : []),
    ...(some((row) => row.afterMiB !== null && (row.beforeMiB ?? 0) > row.afterMiB)
      ? [{swatch: `fill="url(#freed)" stroke="${GREEN}"`, text: 'freed'}]
      : []),
    ...(some((row) => row.unexplainedMiB > 0)
      ? [{swatch: `fill="url(#nobody)" stroke="${ORANGE}"`, text: 'no process'}]
      : []),
    ...(some((row) => row.afterMiB === null) ? [{swatch: 'fill="url(#unknown)"', text: 'unknown'}] : []),
  ];
  const parts: string[] = [];
  let x = EDGE;
  for (const {swatch, text} of keys) {
    parts.push(box(x, y + 1, 16, 12, swatch), words(x + 22, y + 12, text, {size: 13, fill: FAINT}));
    x += 34 + text.length * 6.4;
  }
  if (!some((row) => row.beforeMiB !== null)) return parts;
  parts.push(
    line(x + 3, y - 1, x + 3, y + 15, `stroke="${INK}" stroke-width="2"`),
    words(x + 11, y + 12, 'before', {size: 13, fill: FAINT}),
  );
  return parts;
}

/** Hatched, crossed, dotted: told apart without any colour. */
const PATTERNS = [
  `<pattern id="freed" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h6v6H0z" fill="#d9f0e8"/><path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="${GREEN}" stroke-width="1.4"/></pattern>`,
  `<pattern id="nobody" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h6v6H0z" fill="#ffe3cc"/><path d="M0 0L6 6M6 0L0 6" stroke="${ORANGE}" stroke-width="1.2"/></pattern>`,
  `<pattern id="unknown" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h6v6H0z" fill="#efe6ee"/><circle cx="3" cy="3" r="1.2" fill="${PURPLE}"/></pattern>`,
].join('');

function sum(values: readonly (number | null)[]): number | null {
  return values.reduce((total, value) => (total === null || value === null ? null : total + value), 0);
}
