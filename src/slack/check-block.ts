/** What Slack would refuse in one block. Types that we never send are only known by name. */
import {checkElement} from './check-element.ts';
import {checkCount, checkLength, checkText, type Report} from './check-text.ts';
import {isRecord, type Json, LIMITS, lengthOf} from './limits.ts';

const OTHER_TYPES: ReadonlySet<string> = new Set([
  ...['alert', 'call', 'card', 'carousel', 'container', 'context_actions', 'data_table', 'data_visualization'],
  ...['file', 'plan', 'rich_text', 'task_card', 'video'],
]);

export function checkBlock(block: Json, where: string, say: Report): void {
  const list = (name: string): readonly unknown[] =>
    Array.isArray(block[name]) ? (block[name] as readonly unknown[]) : [];
  switch (block['type']) {
    case 'section':
      checkSection(block, list('fields'), where, say);
      break;
    case 'header':
      checkText(block['text'], LIMITS.header, `${where}.text`, say, 'plain_text');
      break;
    case 'context':
      checkContext(list('elements'), where, say);
      break;
    case 'actions':
      checkActions(list('elements'), where, say);
      break;
    case 'input':
      checkText(block['label'], LIMITS.input.label, `${where}.label`, say, 'plain_text');
      if (block['hint'] !== undefined) checkText(block['hint'], LIMITS.input.hint, `${where}.hint`, say, 'plain_text');
      checkElement(block['element'], `${where}.element`, say);
      break;
    case 'image':
      checkImage(block, where, say);
      break;
    case 'markdown':
      checkLength(String(block['text'] ?? ''), LIMITS.markdown, where, say);
      break;
    case 'table':
      checkTable(list('rows'), where, say);
      break;
    case 'divider':
      break;
    default:
      if (!OTHER_TYPES.has(String(block['type']))) say(where, `type ${String(block['type'])} is unknown`);
  }
}

function checkSection(block: Json, fields: readonly unknown[], where: string, say: Report): void {
  if (block['text'] === undefined && fields.length === 0) say(where, 'has neither text nor fields');
  if (block['text'] !== undefined) checkText(block['text'], LIMITS.section.text, `${where}.text`, say);
  if (fields.length > LIMITS.section.fields) say(where, `${fields.length} fields, at most ${LIMITS.section.fields}`);
  for (const [at, field] of fields.entries()) checkText(field, LIMITS.section.field, `${where}.fields[${at}]`, say);
  if (block['accessory'] !== undefined) checkElement(block['accessory'], `${where}.accessory`, say);
}

function checkContext(elements: readonly unknown[], where: string, say: Report): void {
  checkCount(elements.length, LIMITS.context.elements, 'elements', where, say);
  for (const [at, element] of elements.entries()) {
    if (isRecord(element) && element['type'] === 'image') checkImage(element, `${where}.elements[${at}]`, say);
    else checkText(element, LIMITS.context.text, `${where}.elements[${at}]`, say);
  }
}

function checkActions(elements: readonly unknown[], where: string, say: Report): void {
  checkCount(elements.length, LIMITS.actions, 'elements', where, say);
  const ids = new Set<unknown>();
  for (const [at, element] of elements.entries()) {
    checkElement(element, `${where}.elements[${at}]`, say);
    const id = isRecord(element) ? element['action_id'] : undefined;
    if (id !== undefined && ids.has(id)) say(where, `action_id ${String(id)} stands twice`);
    ids.add(id);
  }
}

function checkImage(image: Json, where: string, say: Report): void {
  if (image['image_url'] === undefined && image['slack_file'] === undefined) say(where, 'has no source');
  if (typeof image['image_url'] === 'string') checkLength(image['image_url'], LIMITS.image.url, where, say);
  checkLength(String(image['alt_text'] ?? ''), LIMITS.image.alt, `${where}.alt_text`, say);
  if (image['title'] !== undefined) checkText(image['title'], LIMITS.image.title, `${where}.title`, say, 'plain_text');
}

function checkTable(rows: readonly unknown[], where: string, say: Report): void {
  checkCount(rows.length, LIMITS.table.rows, 'rows', where, say);
  let characters = 0;
  for (const [at, row] of rows.entries()) {
    const cells: readonly unknown[] = Array.isArray(row) ? row : [];
    checkCount(cells.length, LIMITS.table.cells, 'cells', `${where}.rows[${at}]`, say);
    for (const cell of cells) {
      const raw = isRecord(cell) && (cell['type'] === 'raw_text' || cell['type'] === 'raw_number');
      const text = isRecord(cell) && raw ? String(cell['text'] ?? cell['value'] ?? '') : ' ';
      if (text === '') say(`${where}.rows[${at}]`, 'a cell is empty');
      characters += lengthOf(text);
    }
  }
  if (characters > LIMITS.table.text) say(where, `${characters} characters, at most ${LIMITS.table.text}`);
}
