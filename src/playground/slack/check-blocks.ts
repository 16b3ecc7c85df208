/**
 * What Slack refuses: the published limits of blocks, views and texts, answered in Slack's own form ("… [json-pointer:/…]").
 * Source: Slack's Block Kit reference; lengths count code points. Types that the bot doesn't use are refused by name only
 * if Slack has no such block.
 */

export type Json = Readonly<Record<string, unknown>>;

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

export function checkView(view: unknown): readonly string[] {
  if (!isObject(view)) return ['must be an object [json-pointer:/view]'];
  const found = [...checkBlocks(view['blocks'], 'view', '/view/blocks')];
  for (const key of ['title', 'submit', 'close']) {
    if (view[key] !== undefined || (key === 'title' && view['type'] === 'modal'))
      found.push(...checkTextObject(view[key], {most: 24, at: `/view/${key}`, plain: true}));
  }
  found.push(...optionalText(view['private_metadata'], {most: 3000, least: 0, at: '/view/private_metadata'}));
  found.push(...optionalText(view['callback_id'], {most: 255, least: 0, at: '/view/callback_id'}));
  const hasInput =
    Array.isArray(view['blocks']) && view['blocks'].some((one) => isObject(one) && one['type'] === 'input');
  if (hasInput && view['submit'] === undefined)
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

interface Limit {
  readonly most: number;
  readonly least?: number;
  readonly at: string;
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

function checkElement(element: Json, at: string): readonly string[] {
  const found = [...optionalText(element['action_id'], {most: 255, at: `${at}/action_id`})];
  if (isObject(element['confirm'])) found.push(...checkConfirm(element['confirm'], `${at}/confirm`));
  const options = (most: number): readonly string[] =>
    checkList(element['options'], {least: 1, most, at: `${at}/options`}, checkOption);
  switch (element['type']) {
    case 'button':
      found.push(...checkTextObject(element['text'], {most: 75, at: `${at}/text`, plain: true}));
      found.push(...optionalText(element['value'], {most: 2000, at: `${at}/value`}));
      found.push(...optionalText(element['url'], {most: 3000, at: `${at}/url`}));
      found.push(...optionalText(element['accessibility_label'], {most: 75, at: `${at}/accessibility_label`}));
      if (element['style'] !== undefined && element['style'] !== 'primary' && element['style'] !== 'danger')
        found.push(`unsupported value: ${String(element['style'])} [json-pointer:${at}/style]`);
      return found;
    case 'checkboxes':
    case 'radio_buttons':
      return [...found, ...options(10)];
    case 'overflow':
      return [...found, ...options(5)];
    case 'static_select':
    case 'multi_static_select': {
      const groups = element['option_groups'];
      if (groups === undefined) return [...found, ...options(100)];
      return [
        ...found,
        ...checkList(groups, {least: 1, most: 100, at: `${at}/option_groups`}, (group, here) => [
          ...checkTextObject(group['label'], {most: 75, at: `${here}/label`, plain: true}),
          ...checkList(group['options'], {least: 1, most: 100, at: `${here}/options`}, checkOption),
        ]),
      ];
    }
    case 'plain_text_input': {
      const most = element['max_length'];
      if (typeof most === 'number' && (most < 1 || most > 3000))
        found.push(`must be between 1 and 3000 [json-pointer:${at}/max_length]`);
      return found;
    }
    default:
      return typeof element['type'] === 'string'
        ? found
        : [...found, `missing required field: type [json-pointer:${at}/type]`];
  }
}

function checkOption(option: Json, at: string): readonly string[] {
  return [
    ...checkTextObject(option['text'], {most: 75, at: `${at}/text`}),
    ...checkText(option['value'], {most: 150, at: `${at}/value`}),
    ...(option['description'] === undefined
      ? []
      : checkTextObject(option['description'], {most: 75, at: `${at}/description`})),
  ];
}

function checkConfirm(confirm: Json, at: string): readonly string[] {
  return [
    ...checkTextObject(confirm['title'], {most: 100, at: `${at}/title`, plain: true}),
    ...checkTextObject(confirm['text'], {most: 300, at: `${at}/text`}),
    ...checkTextObject(confirm['confirm'], {most: 30, at: `${at}/confirm`, plain: true}),
    ...checkTextObject(confirm['deny'], {most: 30, at: `${at}/deny`, plain: true}),
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

function checkList(
  value: unknown,
  limit: Limit,
  check: (one: Json, at: string) => readonly string[],
): readonly string[] {
  if (!Array.isArray(value)) return [`missing required field or no array [json-pointer:${limit.at}]`];
  const found: string[] = [];
  if (value.length < (limit.least ?? 0))
    found.push(`must have at least ${limit.least} items [json-pointer:${limit.at}]`);
  if (value.length > limit.most) found.push(`no more than ${limit.most} items allowed [json-pointer:${limit.at}]`);
  for (const [index, one] of value.entries()) {
    const at = `${limit.at}/${index}`;
    found.push(...(isObject(one) ? check(one, at) : [`must be an object [json-pointer:${at}]`]));
  }
  return found;
}

function checkTextObject(value: unknown, limit: Limit & {readonly plain?: true}): readonly string[] {
  if (!isObject(value)) return [`missing required field [json-pointer:${limit.at}]`];
  const type = value['type'];
  if (type !== 'plain_text' && (type !== 'mrkdwn' || limit.plain === true))
    return [`unsupported type: ${String(type)} [json-pointer:${limit.at}/type]`];
  return checkText(value['text'], {...limit, at: `${limit.at}/text`});
}

function optionalText(value: unknown, limit: Limit): readonly string[] {
  return value === undefined ? [] : checkText(value, limit);
}

function checkText(value: unknown, limit: Limit): readonly string[] {
  if (typeof value !== 'string') return [`must be a string [json-pointer:${limit.at}]`];
  const length = lengthOf(value);
  if (length < (limit.least ?? 1)) return [`must be more than 0 characters [json-pointer:${limit.at}]`];
  return length > limit.most ? [`must be less than ${limit.most + 1} characters [json-pointer:${limit.at}]`] : [];
}

function lengthOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
