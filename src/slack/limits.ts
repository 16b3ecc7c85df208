/**
 * Everything Slack refuses when it is too long or too many (docs.slack.dev/reference/block-kit). Lengths are in code
 * points of the text as it is sent, entities included.
 */
export const LIMITS = {
  message: {
    blocks: 50,
    /** Above it Slack cuts the text without a word. */
    text: 40_000,
    /** All blocks together, else `msg_blocks_too_long`; not documented, as people have measured it. */
    allBlocks: 13_200,
    tables: 1,
  },
  view: {blocks: 100, title: 24, submit: 24, close: 24, privateMetadata: 3_000, callbackId: 255},
  blockId: 255,
  actionId: 255,
  section: {text: 3_000, fields: 10, field: 2_000},
  header: 150,
  context: {elements: 10, text: 3_000},
  actions: 25,
  button: {text: 75, value: 2_000, url: 3_000, accessibilityLabel: 75},
  confirm: {title: 100, text: 300, confirm: 30, deny: 30},
  option: {text: 75, description: 75, value: 150},
  checkboxes: 10,
  radioButtons: 10,
  selectOptions: 100,
  overflow: {least: 2, most: 5},
  input: {label: 2_000, hint: 2_000, textLength: 3_000, placeholder: 150},
  image: {url: 3_000, alt: 2_000, title: 2_000},
  markdown: 12_000,
  table: {rows: 100, cells: 20, text: 10_000},
} as const;

/** What a finished message may weigh as JSON, code points: under `allBlocks` whatever of it Slack counts. */
export const MESSAGE_BUDGET = 13_000;

/** Length as Slack counts it. */
export function lengthOf(text: string): number {
  return [...text].length;
}

export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a text object; empty for anything else. */
export function textIn(value: unknown): string {
  return isRecord(value) && typeof value['text'] === 'string' ? value['text'] : '';
}
