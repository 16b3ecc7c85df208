/** Reading and completing stored blocks: ids that Slack deals out itself, and the element that somebody clicks. */
import {randomBytes} from 'node:crypto';
import {isObject, type Json} from './check-elements.ts';

export interface Placed {
  readonly blockId: string;
  readonly blockType: string;
  readonly element: Json;
  /** Only for an element of an input block. */
  readonly optional: boolean;
}

/** Slack gives a `block_id` to every block and an `action_id` to every interactive element that comes without. */
export function withIds(blocks: unknown): readonly Json[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.filter(isObject).map((block) => {
    const named: Json = {...block, block_id: block['block_id'] ?? randomId()};
    if (isObject(block['accessory'])) return {...named, accessory: withActionId(block['accessory'])};
    if (isObject(block['element'])) return {...named, element: withActionId(block['element'])};
    if (block['type'] === 'actions' && Array.isArray(block['elements']))
      return {...named, elements: block['elements'].filter(isObject).map(withActionId)};
    return named;
  });
}

/** Every interactive element with the block it stands in, top to bottom. */
export function elementsOf(blocks: readonly Json[]): readonly Placed[] {
  return blocks.flatMap((block) => {
    const place = (element: unknown): readonly Placed[] =>
      isObject(element) && typeof element['action_id'] === 'string'
        ? [
            {
              blockId: String(block['block_id']),
              blockType: String(block['type']),
              element,
              optional: block['type'] !== 'input' || block['optional'] === true,
            },
          ]
        : [];
    const inside = block['type'] === 'actions' && Array.isArray(block['elements']) ? block['elements'] : [];
    return [...place(block['accessory']), ...place(block['element']), ...inside.flatMap(place)];
  });
}

/** The text of a confirm dialog, as the user reads it. */
export interface ConfirmText {
  readonly title: string;
  readonly text: string;
  readonly confirm: string;
  readonly deny: string;
}

export function confirmOf(element: Json): ConfirmText | null {
  const confirm = element['confirm'];
  if (!isObject(confirm)) return null;
  return {
    title: textOf(confirm['title']),
    text: textOf(confirm['text']),
    confirm: textOf(confirm['confirm']),
    deny: textOf(confirm['deny']),
  };
}

export function optionsOf(element: Json): readonly Json[] {
  const groups = element['option_groups'];
  const plain = element['options'];
  const lists = Array.isArray(groups) ? groups.filter(isObject).map((group) => group['options']) : [plain];
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
}

function withActionId(element: Json): Json {
  return element['type'] === 'image' ? element : {...element, action_id: element['action_id'] ?? randomId()};
}

function textOf(value: unknown): string {
  return isObject(value) && typeof value['text'] === 'string' ? value['text'] : '';
}

function randomId(): string {
  return randomBytes(4).toString('base64url').slice(0, 5);
}
