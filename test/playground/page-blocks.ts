/** One of each block and element that a bot may send, for the page to draw. */
import type {types} from '@slack/bolt';

const plain = (text: string): types.PlainTextElement => ({type: 'plain_text', text});
const option = (text: string, value = text) => ({text: plain(text), value});

/** The smallest picture there is: one black point. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

export function everyBlock(): types.KnownBlock[] {
  return [
    {type: 'header', text: plain('A header')},
    {
      type: 'section',
      text: {type: 'mrkdwn', text: 'A section with *bold*, _slanted_, `code` and <https://example.com|a link>'},
      fields: [
        {type: 'mrkdwn', text: '*Host*\ngpu-07'},
        {type: 'mrkdwn', text: '*After*\n7 of 8 free'},
      ],
      accessory: {type: 'overflow', action_id: 'more', options: [option('Show all', 'all'), option('Mute', 'mute')]},
    },
    {type: 'context', elements: [{type: 'mrkdwn', text: 'Looked <!date^1796112000^{date_short} {time}|02:00 UTC>'}]},
    {type: 'divider'},
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_list',
          style: 'bullet',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                {type: 'text', text: 'deaf', style: {bold: true}},
                {type: 'text', text: ' to SIGTERM'},
              ],
            },
          ],
        },
        {type: 'rich_text_quote', elements: [{type: 'text', text: 'left as it is'}]},
        {type: 'rich_text_preformatted', elements: [{type: 'text', text: 'kill -9 244199'}]},
      ],
    },
    {
      type: 'table',
      column_settings: [{align: 'right'}, {is_wrapped: true}],
      rows: [
        [
          {type: 'raw_text', text: 'GPU'},
          {type: 'raw_text', text: 'MiB'},
        ],
        [
          {type: 'raw_text', text: '0'},
          {type: 'raw_number', value: 96_844},
        ],
      ],
    } as unknown as types.KnownBlock,
    {type: 'image', image_url: 'https://elsewhere.example/curve.png', alt_text: 'free after 0.4 s'},
    {
      type: 'plan',
      title: 'The ladder',
      tasks: [
        {task_id: 'term', title: 'SIGTERM', status: 'complete'},
        {task_id: 'kill', title: 'kill -9', status: 'in_progress'},
      ],
    } as unknown as types.KnownBlock,
    {
      type: 'actions',
      elements: [
        {type: 'button', action_id: 'go', style: 'primary', text: plain('Go'), accessibility_label: 'Go: 3 processes'},
        {type: 'button', action_id: 'kill', style: 'danger', text: plain('Kill 3')},
        {
          type: 'static_select',
          action_id: 'grace',
          placeholder: plain('Grace'),
          options: [option('10 s'), option('30 s')],
        },
        {type: 'users_select', action_id: 'who', placeholder: plain('Who')},
        {type: 'datepicker', action_id: 'day', placeholder: plain('Day')},
      ],
    },
  ];
}

/** A card with one button that opens a form. */
export function opener(text: string): {text: string; blocks: types.KnownBlock[]} {
  const button: types.Button = {type: 'button', action_id: 'open', text: plain('Open it')};
  return {
    text,
    blocks: [
      {type: 'section', text: {type: 'mrkdwn', text}},
      {type: 'actions', block_id: 'door', elements: [button]},
    ],
  };
}

export function everyField(): types.ModalView {
  const groups = Array.from({length: 12}, (_, index) => option(`gpu-${index}`));
  return {
    type: 'modal',
    callback_id: 'fields',
    title: plain('Every field'),
    submit: plain('Take it'),
    blocks: [
      input('text', {type: 'plain_text_input', action_id: 'a'}, 'Required, of one line'),
      input('hosts', {type: 'multi_static_select', action_id: 'a', options: groups}, 'Hosts'),
      input('what', {type: 'radio_buttons', action_id: 'a', options: [option('term'), option('kill')]}, 'What'),
      input('grace', {type: 'static_select', action_id: 'a', options: [option('10 s'), option('30 s')]}, 'Grace'),
      input('who', {type: 'users_select', action_id: 'a'}, 'Who'),
      input('where', {type: 'conversations_select', action_id: 'a'}, 'Where'),
      input('day', {type: 'datepicker', action_id: 'a', initial_date: '2026-12-01'}, 'Day'),
      input('time', {type: 'timepicker', action_id: 'a'}, 'Time'),
      input('count', {type: 'number_input', action_id: 'a', is_decimal_allowed: false}, 'How many'),
    ],
  };
}

function input(id: string, element: types.InputBlock['element'], label: string): types.InputBlock {
  return {type: 'input', block_id: id, label: plain(label), element, ...(id === 'text' ? {} : {optional: true})};
}
