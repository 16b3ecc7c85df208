/** Tables as Slack's own block; as monospace lines where it would be too heavy, or where Slack refuses it. */
import type {types} from '@slack/bolt';
import {type Cell, cellText, type Table, tableLines} from '../../report/table.ts';
import {plain} from '../escape.ts';
import {LIMITS, lengthOf} from '../limits.ts';
import {codeSections, type KnownBlock, type Message} from './message.ts';

/** What one table may weigh in a message, so that the rest of it fits beside it. */
const MOST_WEIGHT = 9_000;
const MOST_CELL = 200;

/** One table a message; Slack shows it below all else. `narrow`: its lines where it is too heavy, if not all of its columns. */
export function tableBlocks(table: Table, narrow: readonly string[] = tableLines(table)): readonly KnownBlock[] {
  const block = native(table);
  return fits(block) ? [block] : codeSections(narrow);
}

/** The longest of these tables that Slack takes as one; `make` counts in a last row what it leaves out. */
export function tableOfMost(make: (rows: number) => Table, most: number): readonly KnownBlock[] {
  for (let rows = Math.min(most, LIMITS.table.rows - 1); rows > 0; rows -= 3) {
    const block = native(make(rows));
    if (fits(block)) return [block];
  }
  return codeSections(tableLines(make(most)));
}

/** The same message for a Slack that takes no table; null where there is none in it. */
export function withoutTable({text, blocks}: Message): Message | null {
  if (!blocks.some(({type}) => type === 'table')) return null;
  return {text, blocks: blocks.flatMap((block) => (block.type === 'table' ? codeSections(linesOf(block)) : [block]))};
}

function native({columns, rows}: Table): types.TableBlock {
  return {
    type: 'table',
    column_settings: columns.map(({side}) => ({align: side, is_wrapped: side === 'left'})),
    rows: [columns.map(({head}) => textCell(head)), ...rows.map((row) => row.map(cellOf))],
  };
}

function cellOf(cell: Cell): types.RawTextElement | types.RawNumberElement {
  return typeof cell === 'number' ? {type: 'raw_number', value: cell, text: cellText(cell)} : textCell(cell);
}

/** An empty cell would be refused. */
function textCell(text: string): types.RawTextElement {
  const safe = plain(text, MOST_CELL);
  return {type: 'raw_text', text: safe === '' ? ' ' : safe};
}

function fits(block: types.TableBlock): boolean {
  const texts = block.rows.flat().reduce((sum, cell) => sum + ('text' in cell ? lengthOf(cell.text) : 0), 0);
  const most = LIMITS.table;
  return block.rows.length <= most.rows && texts <= most.text && lengthOf(JSON.stringify(block)) <= MOST_WEIGHT;
}

function linesOf(block: types.TableBlock): readonly string[] {
  const [head = [], ...rows] = block.rows.map((row) => row.map((cell) => ('text' in cell ? cell.text.trim() : '')));
  return tableLines({
    columns: head.map((text, at) => ({
      head: text,
      side: block.column_settings?.[at]?.align === 'right' ? 'right' : 'left',
    })),
    rows,
  });
}
