/**
 * Says what Slack would refuse in a message or a view, before it is sent. Reads any JSON: what we build, and what a
 * stand-in for Slack is sent.
 */
import {checkBlock} from './check-block.ts';
import type {Report} from './check-text.ts';
import {isRecord, LIMITS, lengthOf, textIn} from './limits.ts';

/** A message as it would be sent, whoever made it: parsed JSON will do. */
export interface Sendable {
  readonly text?: string | undefined;
  readonly blocks: readonly unknown[];
}

/** Every limit broken, each as "where: what"; empty if Slack would take it. */
export function checkBlocks(message: Sendable): readonly string[] {
  const broken: string[] = [];
  const say: Report = (where, what) => broken.push(`${where}: ${what}`);
  const {text = '', blocks} = message;
  if (text.trim() === '') say('text', 'is empty');
  if (lengthOf(text) > LIMITS.message.text) say('text', `${lengthOf(text)} characters, at most ${LIMITS.message.text}`);
  if (blocks.length > LIMITS.message.blocks) say('blocks', `${blocks.length} blocks, at most ${LIMITS.message.blocks}`);
  const all = allText(blocks);
  if (all > LIMITS.message.allBlocks) say('blocks', `${all} characters together, at most ${LIMITS.message.allBlocks}`);
  const tables = blocks.filter((block) => isRecord(block) && block['type'] === 'table').length;
  if (tables > LIMITS.message.tables) say('blocks', `${tables} tables, at most ${LIMITS.message.tables}`);
  checkEach(blocks, say);
  return broken;
}

/** The same for a modal or a home view. */
export function checkView(view: unknown): readonly string[] {
  const broken: string[] = [];
  const say: Report = (where, what) => broken.push(`${where}: ${what}`);
  if (!isRecord(view)) return ['view: is no object'];
  const blocks = Array.isArray(view['blocks']) ? (view['blocks'] as readonly unknown[]) : [];
  if (blocks.length > LIMITS.view.blocks) say('blocks', `${blocks.length} blocks, at most ${LIMITS.view.blocks}`);
  for (const part of ['title', 'submit', 'close'] as const) {
    const text = textIn(view[part]);
    if (view[part] !== undefined && text === '') say(part, 'is empty');
    if (lengthOf(text) > LIMITS.view[part]) say(part, `${lengthOf(text)} characters, at most ${LIMITS.view[part]}`);
  }
  if (view['type'] === 'modal' && view['title'] === undefined) say('title', 'is missing');
  if (view['submit'] === undefined && blocks.some((block) => isRecord(block) && block['type'] === 'input'))
    say('submit', 'is missing, but there are inputs');
  const own = [
    ['private_metadata', LIMITS.view.privateMetadata],
    ['callback_id', LIMITS.view.callbackId],
  ] as const;
  for (const [part, most] of own) {
    const value = view[part];
    if (typeof value === 'string' && lengthOf(value) > most)
      say(part, `${lengthOf(value)} characters, at most ${most}`);
  }
  checkEach(blocks, say);
  return broken;
}

function checkEach(blocks: readonly unknown[], say: Report): void {
  const ids = new Set<string>();
  for (const [at, block] of blocks.entries()) {
    const where = `blocks[${at}]`;
    if (!isRecord(block)) {
      say(where, 'is no object');
      continue;
    }
    const id = block['block_id'];
    if (typeof id === 'string') {
      if (ids.has(id)) say(where, `block_id ${id} stands twice`);
      if (lengthOf(id) > LIMITS.blockId)
        say(where, `block_id has ${lengthOf(id)} characters, at most ${LIMITS.blockId}`);
      ids.add(id);
    }
    checkBlock(block, where, say);
  }
}

/** Characters of every string in it, at any depth. */
function allText(value: unknown): number {
  if (typeof value === 'string') return lengthOf(value);
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + allText(one), 0);
  return isRecord(value) ? Object.values(value).reduce((sum: number, one) => sum + allText(one), 0) : 0;
}
