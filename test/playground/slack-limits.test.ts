/** The limits of Slack's block reference, each at its edge: what just fits is taken, one more is refused where it stands. */
import {describe, expect, it} from 'vitest';
import {charactersOf, checkBlocks, checkView} from '../../src/playground/slack/check-blocks.ts';
import {startLocalSlack} from '../../src/playground/slack/local-slack.ts';
import {elementAction} from '../../src/playground/slack/payloads.ts';

const x = (count: number): string => '\u{1f4a5}'.repeat(count);
const plain = (text: string) => ({type: 'plain_text', text});
const many = <T>(count: number, one: T): T[] => Array.from({length: count}, () => one);
const section = (text: string) => ({type: 'section', text: {type: 'mrkdwn', text}});
const button = (more: object = {}) => ({type: 'button', action_id: 'a', text: plain('b'), ...more});
const actions = (...elements: object[]) => ({type: 'actions', elements});
const confirm = (more: object) => ({
  confirm: {title: plain('t'), text: plain('t'), confirm: plain('y'), deny: plain('n'), ...more},
});
const option = (more: object = {}) => ({text: plain('o'), value: 'v', ...more});
const ticks = (options: object[]) => actions({type: 'checkboxes', action_id: 'a', options});
const select = (options: object[]) => actions({type: 'static_select', action_id: 'a', options});

describe('a message', () => {
  it.each<[string, number, (size: number) => object[], string]>([
    ['blocks', 50, (size) => many(size, {type: 'divider'}), '/blocks]'],
    ['section text', 3000, (size) => [section(x(size))], '/blocks/0/text/text'],
    ['fields', 10, (size) => [{type: 'section', fields: many(size, plain('f'))}], '/blocks/0/fields'],
    ['field text', 2000, (size) => [{type: 'section', fields: [plain(x(size))]}], '/blocks/0/fields/0/text'],
    ['header', 150, (size) => [{type: 'header', text: plain(x(size))}], '/blocks/0/text/text'],
    ['context elements', 10, (size) => [{type: 'context', elements: many(size, plain('c'))}], '/blocks/0/elements'],
    ['buttons in a row', 25, (size) => [actions(...many(size, button()))], '/blocks/0/elements'],
    ['button text', 75, (size) => [actions(button({text: plain(x(size))}))], '/elements/0/text/text'],
    ['button value', 2000, (size) => [actions(button({value: x(size)}))], '/elements/0/value'],
    ['action_id', 255, (size) => [actions(button({action_id: x(size)}))], '/elements/0/action_id'],
    ['accessibility label', 75, (size) => [actions(button({accessibility_label: x(size)}))], 'accessibility_label'],
    ['block_id', 255, (size) => [{type: 'divider', block_id: x(size)}], '/blocks/0/block_id'],
    ['dialog title', 100, (size) => [actions(button(confirm({title: plain(x(size))})))], '/confirm/title/text'],
    ['dialog text', 300, (size) => [actions(button(confirm({text: plain(x(size))})))], '/confirm/text/text'],
    ['dialog yes', 30, (size) => [actions(button(confirm({confirm: plain(x(size))})))], '/confirm/confirm/text'],
    ['dialog no', 30, (size) => [actions(button(confirm({deny: plain(x(size))})))], '/confirm/deny/text'],
    ['ticks', 10, (size) => [ticks(many(size, option()))], '/elements/0/options'],
    ['options', 100, (size) => [select(many(size, option()))], '/elements/0/options'],
    ['option text', 75, (size) => [ticks([option({text: plain(x(size))})])], '/options/0/text/text'],
    ['option value', 150, (size) => [ticks([option({value: x(size)})])], '/options/0/value'],
    ['description', 75, (size) => [ticks([option({description: plain(x(size))})])], '/options/0/description/text'],
    ['rows', 100, (size) => [{type: 'table', rows: many(size, [{type: 'raw_text', text: 'c'}])}], '/blocks/0/rows'],
    ['cells', 20, (size) => [{type: 'table', rows: [many(size, {type: 'raw_text', text: 'c'})]}], '/blocks/0/rows/0'],
    ['tables', 1, (size) => many(size, {type: 'table', rows: [[{type: 'raw_text', text: 'c'}]]}), 'only_one_table'],
  ])('takes %s up to %i', (_what, most, blocks, at) => {
    expect(checkBlocks(blocks(most), 'message')).toEqual([]);
    expect(checkBlocks(blocks(most + 1), 'message').join()).toContain(at);
  });

  it.each<[string, object[], string]>([
    ['an empty text', [section('')], '/blocks/0/text/text'],
    ['an empty list of options', [ticks([])], '/elements/0/options'],
    ['markdown in a header', [{type: 'header', text: {type: 'mrkdwn', text: 'h'}}], '/blocks/0/text/type'],
    ['one block_id twice', many(2, {type: 'divider', block_id: 'same'}), '/blocks/1/block_id'],
    ['a section of nothing', [{type: 'section'}], '/blocks/0'],
    ['a style that there is not', [actions(button({style: 'loud'}))], '/elements/0/style'],
  ])('is refused for %s', (_what, blocks, at) => {
    expect(checkBlocks(blocks, 'message').join()).toContain(at);
  });

  it('counts characters over all its texts', () => {
    expect(charactersOf([section('abc'), actions(button({text: plain('de')}))])).toBe(5);
  });
});

describe('a view', () => {
  const view = (more: object) => ({type: 'modal', title: plain('t'), blocks: [{type: 'divider'}], ...more});
  it.each<[string, number, (size: number) => object, string]>([
    ['blocks', 100, (size) => ({blocks: many(size, {type: 'divider'})}), '/view/blocks]'],
    ['title', 24, (size) => ({title: plain(x(size))}), '/view/title/text'],
    ['submit', 24, (size) => ({submit: plain(x(size))}), '/view/submit/text'],
    ['private_metadata', 3000, (size) => ({private_metadata: x(size)}), '/view/private_metadata'],
    ['callback_id', 255, (size) => ({callback_id: x(size)}), '/view/callback_id'],
  ])('takes %s up to %i', (_what, most, more, at) => {
    expect(checkView(view(more(most)), 'modal')).toEqual([]);
    expect(checkView(view(more(most + 1)), 'modal').join()).toContain(at);
  });

  it('with an input needs a submit', () => {
    const input = {type: 'input', label: plain('l'), element: {type: 'plain_text_input', action_id: 'a'}};
    expect(checkView(view({blocks: [input]}), 'modal').join()).toContain('/view/submit');
    expect(checkView(view({blocks: [input], submit: plain('ok')}), 'modal')).toEqual([]);
  });
});

it('clicks are told apart by action_ts, however quick they are', () => {
  const stamps = Array.from({length: 500}, () => elementAction(button(), 'b', {}).action_ts);
  expect(new Set(stamps).size).toBe(500);
});

it('a port that is taken is said, and nothing stays behind', async () => {
  const first = await startLocalSlack();
  const port = Number(new URL(first.url).port);
  await expect(startLocalSlack({port})).rejects.toThrow('EADDRINUSE');
  await first.close();
});
