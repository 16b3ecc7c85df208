/** Tables: Slack's own where it takes one, monospace lines where not, and nothing lost on the way from one to the other. */
import {describe, expect, it} from 'vitest';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import {type Table, tableLines} from '../../src/report/table.ts';
import {messageOf, section} from '../../src/slack/blocks/message.ts';
import {tableBlocks, tableOfMost, withoutTable} from '../../src/slack/blocks/table.ts';
import {checkBlocks} from '../../src/slack/check-blocks.ts';
import {lookOnly, unreachable} from '../doubles/look-only.ts';
import {codeLinesIn, expectSafe} from './blocks-hostile-text.ts';
import {startRig} from './rig.ts';

const SILENT: RemoteHosts = {
  host: (name) => lookOnly(name, async () => unreachable(name)),
  close: async () => undefined,
};

const COLUMNS: Table['columns'] = [
  {head: 'GPU', side: 'left'},
  {head: 'MiB', side: 'right'},
  {head: 'now', side: 'left'},
];

function rows(count: number, now = 'free'): Table {
  return {columns: COLUMNS, rows: Array.from({length: count}, (_, at) => [`${at}`, 96_844 + at, now])};
}

describe('a table', () => {
  it('has numbers as numbers, to the right, and no empty cell', () => {
    const [block] = tableBlocks({columns: COLUMNS, rows: [['0', 96_844, '']]});
    expect(block).toEqual({
      type: 'table',
      column_settings: [
        {align: 'left', is_wrapped: true},
        {align: 'right', is_wrapped: false},
        {align: 'left', is_wrapped: true},
      ],
      rows: [
        ['GPU', 'MiB', 'now'].map((text) => ({type: 'raw_text', text})),
        [
          {type: 'raw_text', text: '0'},
          {type: 'raw_number', value: 96_844, text: '96,844'},
          {type: 'raw_text', text: ' '},
        ],
      ],
    });
  });

  it('is lines where it would be too heavy, whole ones of a phone’s width', () => {
    const message = messageOf([section('*head*'), ...tableBlocks(rows(99))]);
    expectSafe(message);
    expect(message.blocks.some(({type}) => type === 'table')).toBe(false);
    expect(codeLinesIn(message)).toHaveLength(100);
    expect(codeLinesIn(message).every((line) => [...line].length <= 42)).toBe(true);
  });

  it('is as long as Slack takes it, where its last row may count the rest', () => {
    const blocks = tableOfMost((most) => rows(Math.min(most, 300)), 300);
    expect(blocks.map(({type}) => type)).toEqual(['table']);
    expect(checkBlocks({text: 'x', blocks})).toEqual([]);
    expect(tableOfMost((most) => rows(most), 1).map(({type}) => type)).toEqual(['table']);
  });

  it('goes on below a row that is too wide, and cuts nothing', () => {
    const lines = tableLines(rows(2, 'train.py of bo, who also uses all of the other seven GPUs'));
    expect(lines.slice(0, 4)).toEqual([
      'GPU    MiB now',
      '0   96,844',
      '  train.py of bo, who also uses all of the',
      '    other seven GPUs',
    ]);
  });

  it('is the same for a Slack that takes none', () => {
    const message = messageOf([section('*head*'), ...tableBlocks(rows(3))]);
    const bare = withoutTable(message);
    expect(bare?.text).toBe(message.text);
    expect(bare === null ? [] : codeLinesIn(bare)).toEqual([
      'GPU    MiB now',
      '0   96,844 free',
      '1   96,845 free',
      '2   96,846 free',
    ]);
    expect(withoutTable(messageOf([section('*head*')]))).toBeNull();
  });
});

describe('a message with a table', () => {
  it.each(['only_one_table_allowed', 'invalid_attachments'])(
    'that Slack answers with %s arrives with lines in its place',
    async (error) => {
      const rig = await startRig({remote: SILENT});
      const {slack} = rig;
      slack.setFault({kind: 'refuse', method: 'chat.postMessage', error});
      await slack.type(slack.users.requester, '/gpu report gpu-07');
      const post = await slack.nextPost();
      expect(JSON.stringify(post.blocks)).not.toContain('"type":"table"');
      expect(JSON.stringify(post.blocks)).toMatch(/```\\nHost +State +Used, MiB/);
    },
  );

  it('is what `status` answers for many hosts', async () => {
    const rig = await startRig({hosts: ['gpu-07', 'gpu-08']});
    const {slack} = rig;
    await slack.type(slack.users.stranger, '/gpu status');
    const told = await slack.nextEphemeral();
    expect(JSON.stringify(told.blocks)).toContain('"type":"table"');
    expect(told.text).toContain('gpu-07 · ');
  });
});
