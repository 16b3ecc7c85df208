import {describe, expect, it} from 'vitest';
import {messageOf, section} from '../../src/slack/blocks/message.ts';
import {checkBlocks, checkView} from '../../src/slack/check-blocks.ts';
import {LIMITS} from '../../src/slack/limits.ts';
import {expectSafe} from './blocks-hostile-text.ts';

const long = (length: number) => 'x'.repeat(length);
const text = (length: number) => ({type: 'plain_text', text: long(length)});
const marked = (length: number) => ({type: 'mrkdwn', text: long(length)});
const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({length: count}, (_, at) => make(at));
const actions = (element: object) => ({type: 'actions', elements: [element]});
const button = (change: object = {}) => ({type: 'button', action_id: 'a', text: text(5), ...change});
const option = (at: number, change: object = {}) => ({text: text(5), value: `${at}`, ...change});
const boxes = (options: readonly object[], change: object = {}) => ({
  type: 'checkboxes',
  action_id: 'c',
  options,
  ...change,
});
const input = (element: object) => ({type: 'input', label: text(5), element});
const confirm = (change: object) => ({title: text(5), text: text(5), confirm: text(2), deny: text(2), ...change});
const table = (rows: readonly (readonly object[])[]) => ({type: 'table', rows});
const cell = (length: number) => ({type: 'raw_text', text: long(length)});

/** One block at a limit, and the same one past it. */
const TABLE: readonly (readonly [string, (over: number) => object, string])[] = [
  ['section text', (over) => ({type: 'section', text: marked(LIMITS.section.text + over)}), '3001 characters'],
  [
    'section fields',
    (over) => ({type: 'section', fields: many(LIMITS.section.fields + over, () => marked(3))}),
    '11 fields',
  ],
  ['field text', (over) => ({type: 'section', fields: [marked(LIMITS.section.field + over)]}), '2001 characters'],
  ['header', (over) => ({type: 'header', text: text(LIMITS.header + over)}), '151 characters'],
  [
    'context elements',
    (over) => ({type: 'context', elements: many(LIMITS.context.elements + over, () => marked(3))}),
    '11 elements',
  ],
  [
    'action elements',
    (over) => ({type: 'actions', elements: many(LIMITS.actions + over, (at) => button({action_id: `${at}`}))}),
    '26 elements',
  ],
  ['button text', (over) => actions(button({text: text(LIMITS.button.text + over)})), '76 characters'],
  ['button value', (over) => actions(button({value: long(LIMITS.button.value + over)})), '2001 characters'],
  ['button url', (over) => actions(button({url: long(LIMITS.button.url + over)})), '3001 characters'],
  [
    'button label',
    (over) => actions(button({accessibility_label: long(LIMITS.button.accessibilityLabel + over)})),
    '76 characters',
  ],
  ['action id', (over) => actions(button({action_id: long(LIMITS.actionId + over)})), '256 characters'],
  ['block id', (over) => ({type: 'divider', block_id: long(LIMITS.blockId + over)}), '256 characters'],
  ['confirm title', (over) => actions(button({confirm: confirm({title: text(100 + over)})})), '101 characters'],
  ['confirm text', (over) => actions(button({confirm: confirm({text: text(300 + over)})})), '301 characters'],
  ['confirm go', (over) => actions(button({confirm: confirm({confirm: text(30 + over)})})), '31 characters'],
  ['confirm no', (over) => actions(button({confirm: confirm({deny: text(30 + over)})})), '31 characters'],
  ['checkbox options', (over) => input(boxes(many(LIMITS.checkboxes + over, option))), '11 options'],
  ['option text', (over) => input(boxes([option(1, {text: text(LIMITS.option.text + over)})])), '76 characters'],
  [
    'option description',
    (over) => input(boxes([option(1, {description: text(LIMITS.option.description + over)})])),
    '76 characters',
  ],
  ['option value', (over) => input(boxes([option(1, {value: long(LIMITS.option.value + over)})])), '151 characters'],
  [
    'select options',
    (over) => input({type: 'static_select', options: many(LIMITS.selectOptions + over, option)}),
    '101 options',
  ],
  [
    'overflow options',
    (over) => actions({type: 'overflow', action_id: 'o', options: many(LIMITS.overflow.most + over, option)}),
    '6 options',
  ],
  [
    'input label',
    (over) => ({...input(boxes([option(1)])), label: text(LIMITS.input.label + over)}),
    '2001 characters',
  ],
  [
    'typed length',
    (over) => input({type: 'plain_text_input', max_length: LIMITS.input.textLength + over}),
    '3001, from 1 to 3000',
  ],
  [
    'image text',
    (over) => ({type: 'image', image_url: 'https://x', alt_text: long(LIMITS.image.alt + over)}),
    '2001 characters',
  ],
  ['markdown', (over) => ({type: 'markdown', text: long(LIMITS.markdown + over)}), '12001 characters'],
  ['table rows', (over) => table(many(LIMITS.table.rows + over, () => [cell(1)])), '101 rows'],
  ['table cells', (over) => table([many(LIMITS.table.cells + over, () => cell(1))]), '21 cells'],
  ['table text', (over) => table([[cell(LIMITS.table.text + over)]]), '10001 characters'],
];

describe('a block', () => {
  it.each(TABLE)('with %s at its limit is taken, and one more is named', (_what, block, broken) => {
    expect(checkBlocks({text: 'x', blocks: [block(0)]})).toEqual([]);
    expect(checkBlocks({text: 'x', blocks: [block(1)]}).join()).toContain(broken);
  });

  it.each([
    ['an empty section', {type: 'section'}, 'neither text nor fields'],
    ['an empty text', {type: 'section', text: marked(0)}, 'is empty'],
    ['an empty option list', input(boxes([])), 'no options'],
    ['a tick that is no option', input(boxes([option(1)], {initial_options: [option(2)]})), 'holds what is no option'],
    ['no tick, said as a list', input(boxes([option(1)], {initial_options: []})), 'is empty'],
    ['one value twice', input(boxes([option(1), option(1)])), 'stands twice'],
    ['one action id twice', {type: 'actions', elements: [button(), button()]}, 'stands twice'],
    ['an unknown style', actions(button({style: 'loud'})), 'neither primary nor danger'],
    ['an empty cell', table([[cell(0)]]), 'a cell is empty'],
    ['mrkdwn on a button', actions(button({text: marked(3)})), 'must be plain_text'],
    ['mrkdwn in a header', {type: 'header', text: marked(3)}, 'must be plain_text'],
    ['an overflow of one', actions({type: 'overflow', options: [option(1)]}), 'fewer than two'],
    ['a type nobody knows', {type: 'sektion'}, 'unknown'],
    ['no object at all', 'section', 'is no object'],
  ])('with %s is refused', (_what, block, broken) => {
    expect(checkBlocks({text: 'x', blocks: [block]}).join()).toContain(broken);
  });

  it('counts characters, not bytes or halves of them', () => {
    expect(
      checkBlocks({text: 'x', blocks: [{type: 'header', text: {type: 'plain_text', text: '😀'.repeat(150)}}]}),
    ).toEqual([]);
  });
});

describe('a message', () => {
  it.each([
    ['without text', {text: ' ', blocks: []}, 'text: is empty'],
    ['with too much text', {text: long(40_001), blocks: []}, '40001 characters'],
    ['with 51 blocks', {text: 'x', blocks: many(51, () => ({type: 'divider'}))}, '51 blocks'],
    ['with blocks that are too long together', {text: 'x', blocks: many(5, () => section(long(2_700)))}, 'together'],
    ['with two tables', {text: 'x', blocks: many(2, () => table([[cell(1)]]))}, '2 tables'],
    ['with one block id twice', {text: 'x', blocks: many(2, () => ({type: 'divider', block_id: 'b'}))}, 'stands twice'],
  ])('%s is refused', (_what, message, broken) => {
    expect(checkBlocks(message).join()).toContain(broken);
  });

  it('that is made too long is shortened, keeps its head and its buttons, and says what is left out', () => {
    const head = section('*head*');
    const buttons = {
      type: 'actions',
      elements: [{type: 'button', action_id: 'a', text: {type: 'plain_text', text: 'Go'}}],
    } as const;
    const message = messageOf([
      head,
      ...many(40, (at) => section(`${at} ${long(900)}`)),
      {...buttons, elements: [...buttons.elements]},
    ]);
    expectSafe(message);
    expect(message.blocks[0]).toEqual(head);
    expect(message.blocks.at(-1)).toMatchObject({type: 'actions'});
    const kept = message.blocks.length - 3;
    expect(JSON.stringify(message.blocks)).toContain(`(truncated: ${40 - kept} more parts left out`);
    expect(kept).toBeGreaterThan(8);
  });

  it('with one text that is too long is cut there, in the open', () => {
    const message = messageOf([section(long(5_000))]);
    expect(checkBlocks(message)).toEqual([]);
    expect(JSON.stringify(message.blocks)).toContain('(truncated)');
    expect(message.text).toBe(long(5_000));
  });
});

describe('a modal', () => {
  const modal = (change: object) => ({type: 'modal', title: text(5), blocks: [section('x')], ...change});

  it.each([
    ['title', (over: number) => modal({title: text(LIMITS.view.title + over)}), '25 characters'],
    ['submit', (over: number) => modal({submit: text(LIMITS.view.submit + over)}), '25 characters'],
    ['close', (over: number) => modal({close: text(LIMITS.view.close + over)}), '25 characters'],
    [
      'metadata',
      (over: number) => modal({private_metadata: long(LIMITS.view.privateMetadata + over)}),
      '3001 characters',
    ],
    ['callback id', (over: number) => modal({callback_id: long(LIMITS.view.callbackId + over)}), '256 characters'],
    [
      'blocks',
      (over: number) => modal({blocks: many(LIMITS.view.blocks + over, () => ({type: 'divider'}))}),
      '101 blocks',
    ],
  ])('with %s at its limit is taken, and one more is named', (_what, view, broken) => {
    expect(checkView(view(0))).toEqual([]);
    expect(checkView(view(1)).join()).toContain(broken);
  });

  it('with inputs needs something to submit them with', () => {
    expect(checkView(modal({blocks: [input(boxes([option(1)]))]}))).toEqual([
      'submit: is missing, but there are inputs',
    ]);
  });
});
