/**
 * What Slack refuses: the published limits of blocks, views and texts, answered in Slack's own form ("… [json-pointer:/…]").
 * Source: Slack's Block Kit reference; lengths count code points. Types that the bot doesn't use are refused by name only
 * if Slack has no such block.
 */
import {
  checkElement,
  checkList,
  checkText,
  checkTextObject,
  isObject,
  type Json,
  lengthOf,
  optionalText,
} from './check-elements.ts';

/** All blocks of one message together: above this Slack answers msg_blocks_too_long. Seen in the field, not documented. */
export const MESSAGE_CHARACTERS = 13_200;

const KNOWN = new Set(
  (
    'actions alert card carousel container context context_actions data_table divider file header image input ' +
    'markdown rich_text section table task_card plan video'
  ).split(' '),
);

/** The complaints, none if Slack would take it. */
export function checkBlocks(blocks: unknown, surface: 'message' | 'view', at = '/blocks'): readonly string[] {
  if (!Array.isArray(blocks)) return [`must be an array [json-pointer:${at}]`];
  const found: string[] = [];
  const most = surface === 'message' ? 50 : 100;
  if (blocks.length > most) found.push(`no more than ${most} items allowed [json-pointer:${at}]`);
  const ids = new Set<unknown>();
  let tables = 0;
  for (const [index, block] of blocks.entries()) {
    const here = `${at}/${index}`;
    if (!isObject(block)) {
      found.push(`must be an object [json-pointer:${here}]`);
      continue;
    }
    const id = block['block_id'];
    if (id !== undefined) {
      if (ids.has(id)) found.push(`block_id "${String(id)}" already exists [json-pointer:${here}/block_id]`);
      ids.add(id);
      found.push(...checkText(id, {most: 255, at: `${here}/block_id`}));
    }
    if (block['type'] === 'table') tables += 1;
    found.push(...checkBlock(block, surface, here));
  }
  if (tables > 1) found.push(`only_one_table_allowed [json-pointer:${at}]`);
  return found;
}

export function checkView(view: unknown, type: 'modal' | 'home'): readonly string[] {
  if (!isObject(view)) return ['must be an object [json-pointer:/view]'];
  if (view['type'] !== type) return [`must be "${type}" [json-pointer:/view/type]`];
  const found = [...checkBlocks(view['blocks'], 'view', '/view/blocks')];
  for (const key of ['title', 'submit', 'close']) {
    if (view[key] !== undefined || (key === 'title' && type === 'modal'))
      found.push(...checkTextObject(view[key], {most: 24, at: `/view/${key}`, plain: true}));
  }
  found.push(...optionalText(view['private_metadata'], {most: 3000, least: 0, at: '/view/private_metadata'}));
  found.push(...optionalText(view['callback_id'], {most: 255, least: 0, at: '/view/callback_id'}));
  const hasInput =
    Array.isArray(view['blocks']) && view['blocks'].some((one) => isObject(one) && one['type'] === 'input');
  if (type === 'modal' && hasInput && view['submit'] === undefined)
    found.push('missing required field: submit [json-pointer:/view/submit]');
  return found;
}

/** Characters of all texts in the blocks of one message. */
export function charactersOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + charactersOf(one), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [key, one]) => sum + (key === 'text' && typeof one === 'string' ? lengthOf(one) : charactersOf(one)),
    0,
  );
}

function checkBlock(block: Json, surface: 'message' | 'view', at: string): readonly string[] {
  const type = block['type'];
  switch (type) {
    case 'section':
      return checkSection(block, surface, at);
    case 'header':
      return checkTextObject(block['text'], {most: 150, at: `${at}/text`, plain: true});
    case 'context':
      return checkList(block['elements'], {least: 1, most: 10, at: `${at}/elements`}, (element, here) =>
        element['type'] === 'image' ? [] : checkTextObject(element, {most: 3000, at: here}),
      );
    case 'actions':
      return checkList(block['elements'], {least: 1, most: 25, at: `${at}/elements`}, checkElement);
    case 'input':
      return [
        ...(surface === 'message' ? [`unsupported type: input [json-pointer:${at}/type]`] : []),
        ...checkTextObject(block['label'], {most: 2000, at: `${at}/label`, plain: true}),
        ...(block['hint'] === undefined
          ? []
          : checkTextObject(block['hint'], {most: 2000, at: `${at}/hint`, plain: true})),
        ...(isObject(block['element'])
          ? checkElement(block['element'], `${at}/element`)
          : [`missing required field: element [json-pointer:${at}/element]`]),
      ];
    case 'markdown':
      return checkText(block['text'], {most: 12_000, at: `${at}/text`});
    case 'table':
      return checkTable(block, at);
    case 'image':
      return [
        ...checkText(block['alt_text'], {most: 2000, at: `${at}/alt_text`}),
        ...optionalText(block['image_url'], {most: 3000, at: `${at}/image_url`}),
      ];
    default:
      return typeof type === 'string' && KNOWN.has(type)
        ? []
        : [`unsupported type: ${String(type)} [json-pointer:${at}/type]`];
  }
}

function checkSection(block: Json, surface: 'message' | 'view', at: string): readonly string[] {
  const {text, fields, accessory} = block;
  if (text === undefined && fields === undefined)
    return [`missing required field: text or fields [json-pointer:${at}]`];
  return [
    ...(text === undefined ? [] : checkTextObject(text, {most: 3000, at: `${at}/text`})),
    ...(fields === undefined
      ? []
      : checkList(fields, {least: 1, most: 10, at: `${at}/fields`}, (one, here) =>
          checkTextObject(one, {most: 2000, at: here}),
        )),
    ...(isObject(accessory) ? checkElement(accessory, `${at}/accessory`) : []),
    ...(isObject(accessory) && accessory['type'] === 'plain_text_input' && surface === 'message'
      ? [`unsupported type: plain_text_input [json-pointer:${at}/accessory/type]`]
      : []),
  ];
}

function checkTable(block: Json, at: string): readonly string[] {
  const rows = block['rows'];
  if (!Array.isArray(rows)) return [`missing required field: rows [json-pointer:${at}/rows]`];
  const found: string[] = [];
  if (rows.length < 1 || rows.length > 100) found.push(`must have 1 to 100 items [json-pointer:${at}/rows]`);
  for (const [index, row] of rows.entries()) {
    const here = `${at}/rows/${index}`;
    found.push(
      ...checkList(row, {least: 1, most: 20, at: here}, (cell, where) =>
        cell['type'] === 'raw_text' ? checkText(cell['text'], {most: 10_000, at: `${where}/text`}) : [],
      ),
    );
  }
  if (charactersOf(rows) > 10_000) found.push(`must be less than 10001 characters [json-pointer:${at}/rows]`);
  return found;
}
