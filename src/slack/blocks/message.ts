/** A message and its parts. Its `text` is made from its blocks, so that no fact stands in one and not in the other. */
import type {types} from '@slack/bolt';
import {code, mrkdwn} from '../escape.ts';
import {LIMITS, lengthOf} from '../limits.ts';
import {fitted} from './fit.ts';

export type KnownBlock = types.KnownBlock;

export interface Message {
  /** Holds every fact of the blocks: notifications, screen readers and logs have nothing else. */
  readonly text: string;
  readonly blocks: readonly KnownBlock[];
}

/** A whole message of these blocks, within every limit. */
export function messageOf(blocks: readonly KnownBlock[]): Message {
  return fitted({text: twinOf(blocks), blocks});
}

/**
 * `text` is mrkdwn, hostile parts escaped already. Verbatim: Slack then makes no links and mentions of its own. Text that
 * is all blank would be refused.
 */
export function section(text: string): types.SectionBlock {
  return {type: 'section', text: {type: 'mrkdwn', text: text.trim() === '' ? '(empty)' : text, verbatim: true}};
}

/** Short facts side by side, mrkdwn each; at most ten, and none blank. */
export function fields(texts: readonly string[]): types.SectionBlock {
  return {type: 'section', fields: texts.map((text) => ({type: 'mrkdwn', text, verbatim: true}))};
}

export function context(...texts: readonly string[]): types.ContextBlock {
  return {type: 'context', elements: texts.map((text) => ({type: 'mrkdwn', text, verbatim: true}))};
}

/** Raw lines, escaped here, as monospace blocks of whole lines; as many blocks as they need. */
export function codeSections(lines: readonly string[]): readonly KnownBlock[] {
  const room = LIMITS.section.text - 20;
  const chunks: string[] = [];
  for (const line of lines) {
    const safe = codeLine(line);
    const last = chunks.at(-1);
    if (last === undefined || lengthOf(last) + lengthOf(safe) + 1 > room) chunks.push(safe);
    else chunks[chunks.length - 1] = `${last}\n${safe}`;
  }
  return chunks.map((chunk) => section(`\`\`\`\n${chunk}\n\`\`\``));
}

/** Leading blanks are the line's indent: they stay. */
function codeLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  // Columns are two or more blanks wide, and a safe line would fold them.
  return (
    indent +
    line
      .slice(indent.length)
      .split(/( {2,})/)
      .map((part) => (part.trim() === '' ? part : edges(part)))
      .join('')
  );
}

function edges(part: string): string {
  const [, before = '', inner = '', after = ''] = /^( *)(.*?)( *)$/su.exec(part) ?? [];
  return `${before}${code(inner)}${after}`;
}

/** The blocks as text, block by block: what is monospace there is plain lines here. */
export function twinOf(blocks: readonly KnownBlock[]): string {
  return blocks
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');
}

function textOf(block: KnownBlock): string {
  switch (block.type) {
    case 'section':
      return [block.text?.text ?? '', ...(block.fields ?? []).map((field) => field.text)]
        .filter((text) => text !== '')
        .join('\n')
        .replaceAll(/```\n?|\n```/g, '')
        .trimEnd();
    case 'context':
      return block.elements
        .map((element) => ('text' in element && typeof element.text === 'string' ? element.text : ''))
        .join('\n');
    case 'header':
      return block.text.text;
    case 'actions':
      return block.elements
        .map((element) => (element.type === 'button' ? `[${element.text.text}]` : ''))
        .join(' ')
        .trim();
    case 'table':
      return block.rows.map(rowText).join('\n');
    case 'image':
      return mrkdwn(block.alt_text, LIMITS.image.alt);
    default:
      return '';
  }
}

/** Cells of one row; empty ones at its end go without saying. */
function rowText(row: types.TableBlock['rows'][number]): string {
  return row
    .map((cell) => ('text' in cell ? mrkdwn(cell.text.trim(), LIMITS.section.text) : ''))
    .join(' · ')
    .replace(/[ ·]+$/, '');
}
