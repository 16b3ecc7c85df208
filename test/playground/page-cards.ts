/** Cards of the shape that the real bot sends, for a look at how the page draws them. */
import type {types} from '@slack/bolt';

/** A process title as somebody would write it who wants to be read by a browser, or to call the whole channel. */
export const HOSTILE = '<img src=x onerror="window.hacked=1"> <!everyone> *`';

const plain = (text: string): types.PlainTextElement => ({type: 'plain_text', text});

export function planCard(count: number, requester: string): {text: string; blocks: types.KnownBlock[]} {
  const what = `kill -9 ${count} process${count === 1 ? '' : 'es'}? ~378 GiB`;
  return {
    text: `⏳ lab-1: ${what}`,
    blocks: [
      {type: 'header', text: plain(`⏳ lab-1: ${what}`)},
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: 'Nothing matches "vllm"; 1 ghost found.\n*☑ PID 244199* `python3` · ghost\n387,376 MiB on GPU 0-3, sole holder\nroot · up 3 h 12 m · owner unknown',
        },
      },
      {
        type: 'section',
        fields: [
          {type: 'mrkdwn', text: '*Host*\nlab-1'},
          {type: 'mrkdwn', text: '*After*\n7 of 8 free'},
          {type: 'mrkdwn', text: `*Asked by*\n<@${requester}>`},
          {type: 'mrkdwn', text: '*Grace*\n30 s'},
        ],
      },
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: '```\n· billed to 4 dead PIDs; seen 22:40 as\n  VLLM::Worker_TP0-3\n· no CPU in 2 s, no port, no writes\n```',
        },
      },
      {type: 'divider'},
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'kill',
            style: 'danger',
            text: plain('Terminate, then kill -9'),
            value: 'run-7f3a',
            confirm: {
              title: plain(`Kill ${count} process${count === 1 ? '' : 'es'}?`),
              text: {type: 'mrkdwn', text: 'On *lab-1*: SIGTERM, 30 s, then kill -9.'},
              confirm: plain('Kill'),
              deny: plain('Back'),
              style: 'danger',
            },
          },
          {type: 'button', action_id: 'choose', text: plain('Choose…'), value: 'run-7f3a'},
          {type: 'button', action_id: 'leave', text: plain('Leave it'), value: 'run-7f3a'},
        ],
      },
      {
        type: 'context',
        elements: [
          {type: 'mrkdwn', text: 'Until <!date^1796112000^{date_short} {time_secs}|02:18 UTC>'},
          {type: 'mrkdwn', text: 'looked 02:03:04 · run `7f3a`'},
        ],
      },
    ],
  };
}

export function shownInModal(ts: string): types.ModalView {
  return {
    type: 'modal',
    callback_id: 'choice',
    private_metadata: ts,
    title: plain('Choose processes'),
    submit: plain('Use these'),
    close: plain('Back'),
    blocks: [
      {type: 'section', text: {type: 'mrkdwn', text: 'What is ticked is signalled on *lab-1*; the rest stays.'}},
      {
        type: 'input',
        block_id: 'who',
        optional: true,
        label: plain('Processes'),
        element: {
          type: 'checkboxes',
          action_id: 'pids',
          options: [
            {
              text: {type: 'mrkdwn', text: '*PID 244199* python3'},
              description: plain('ghost · 387,376 MiB on GPU 0-3'),
              value: '244199',
            },
            {
              text: {type: 'mrkdwn', text: '*PID 250331* train.py'},
              description: plain('in use, kept · bo · GPU 6, 21,630 MiB'),
              value: '250331',
            },
          ],
          initial_options: [
            {
              text: {type: 'mrkdwn', text: '*PID 244199* python3'},
              description: plain('ghost · 387,376 MiB on GPU 0-3'),
              value: '244199',
            },
          ],
        },
      },
      {
        type: 'input',
        block_id: 'how',
        label: plain('How'),
        element: {
          type: 'radio_buttons',
          action_id: 'ladder',
          options: [
            {text: plain('Terminate, then kill -9'), value: 'kill'},
            {text: plain('Terminate only'), value: 'term'},
          ],
          initial_option: {text: plain('Terminate, then kill -9'), value: 'kill'},
        },
      },
      {
        type: 'input',
        block_id: 'grace',
        label: plain('Grace'),
        element: {
          type: 'static_select',
          action_id: 'grace',
          options: ['10 s', '30 s', '2 min'].map((text) => ({text: plain(text), value: text})),
          initial_option: {text: plain('30 s'), value: '30 s'},
        },
      },
      {
        type: 'input',
        block_id: 'why',
        label: plain('Reason'),
        hint: plain('Shown in the thread.'),
        element: {type: 'plain_text_input', action_id: 'reason'},
      },
      {type: 'section', text: {type: 'mrkdwn', text: '🔒 nvidia-persistenced, nv-hostengine: never signalled'}},
    ],
  };
}

export function reportBlocks(): types.KnownBlock[] {
  const rows = [
    ['GPU', 'before', 'after', 'MiB'],
    ['0', '96,844', '4', 'free'],
    ['1', '96,844', '4', 'free'],
    ['2', '96,844', '4', 'free'],
    ['3', '96,844', '4', 'free'],
    ['6', '21,630', '21,630', 'bo, kept'],
    ['sum', '409,006', '21,646', '-387,360'],
  ];
  const text = rows
    .map(([gpu = '', before = '', after = '', note = '']) =>
      `${gpu.padEnd(4)} ${before.padStart(8)} ${after.padStart(8)}  ${note}`.trimEnd(),
    )
    .join('\n');
  return [
    {type: 'section', text: {type: 'mrkdwn', text: `\`\`\`\n${text}\n\`\`\``}},
    {
      type: 'rich_text',
      elements: [
        {type: 'rich_text_preformatted', elements: [{type: 'text', text: 'Sent: kill -9 244199, gone in 92 ms'}]},
      ],
    },
    {type: 'section', text: {type: 'mrkdwn', text: 'Surviving targets: none\nKept alive: 250331 (bo), 2 protected'}},
    {
      type: 'table',
      column_settings: [{align: 'right'}, {align: 'right'}],
      rows: rows.map((cells) => cells.map((cell) => ({type: 'raw_text' as const, text: cell}))),
    },
  ];
}
