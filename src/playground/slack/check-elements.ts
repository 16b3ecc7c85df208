/** The parts that blocks are made of: texts, lists, interactive elements, and their limits. */

export type Json = Readonly<Record<string, unknown>>;

export interface Limit {
  readonly most: number;
  readonly least?: number;
  readonly at: string;
}

export function checkElement(element: Json, at: string): readonly string[] {
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

export function checkList(
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

export function checkTextObject(value: unknown, limit: Limit & {readonly plain?: true}): readonly string[] {
  if (!isObject(value)) return [`missing required field [json-pointer:${limit.at}]`];
  const type = value['type'];
  if (type !== 'plain_text' && (type !== 'mrkdwn' || limit.plain === true))
    return [`unsupported type: ${String(type)} [json-pointer:${limit.at}/type]`];
  return checkText(value['text'], {...limit, at: `${limit.at}/text`});
}

export function optionalText(value: unknown, limit: Limit): readonly string[] {
  return value === undefined ? [] : checkText(value, limit);
}

export function checkText(value: unknown, limit: Limit): readonly string[] {
  if (typeof value !== 'string') return [`must be a string [json-pointer:${limit.at}]`];
  const length = lengthOf(value);
  if (length < (limit.least ?? 1)) return [`must be more than 0 characters [json-pointer:${limit.at}]`];
  return length > limit.most ? [`must be less than ${limit.most + 1} characters [json-pointer:${limit.at}]`] : [];
}

export function lengthOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
