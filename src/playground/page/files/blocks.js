/** Block Kit to elements. `context` = {names, onAction(element, block, choice), errors}. */
import {el} from './dom.js';
import {field} from './fields.js';
import {isOurs, picture} from './files.js';
import {decode, mrkdwn, plain, textObject} from './mrkdwn.js';
import {richPart, richText} from './rich.js';
import {plan, taskCard} from './tasks.js';

export function renderBlocks(blocks, context) {
  return blocks.map((block) => renderBlock(block, context));
}

function renderBlock(block, context) {
  const {names} = context;
  switch (block.type) {
    case 'section':
      return section(block, context);
    case 'header':
      return el('h3', {class: 'block'}, plain(block.text.text));
    case 'divider':
      return el('hr');
    case 'context':
      return el(
        'div',
        {class: 'block context'},
        ...block.elements.map((one) => el('span', {}, ...contextual(one, names))),
      );
    case 'actions':
    case 'context_actions':
      return el(
        'div',
        {class: 'block row', role: 'group', 'aria-label': 'Actions'},
        ...block.elements.map((one) => field(one, block, context)),
      );
    case 'input':
      return input(block, context);
    case 'markdown':
      return el('div', {class: 'block'}, ...mrkdwn(block.text.replaceAll('**', '*'), names));
    case 'rich_text':
      return el('div', {class: 'block'}, ...richText(block, names));
    case 'table':
    case 'data_table':
      return table(block, names);
    case 'image':
      return image(block);
    case 'plan':
      return plan(block, names);
    case 'task_card':
      return taskCard(block, names);
    case 'alert':
      return el('div', {class: `block alert ${block.level ?? ''}`, role: 'note'}, ...textObject(block.text, names));
    default:
      return el('p', {class: 'block quiet'}, `(a ${block.type} block, which this stand-in does not draw)`);
  }
}

function section(block, context) {
  const {names} = context;
  const words = el('div', {class: 'words'});
  if (block.text !== undefined) words.append(el('div', {}, ...textObject(block.text, names)));
  if (block.fields !== undefined)
    words.append(el('div', {class: 'fields'}, ...block.fields.map((one) => el('div', {}, ...textObject(one, names)))));
  const accessory = block.accessory === undefined ? null : field(block.accessory, block, context);
  return el('div', {class: 'block section'}, words, accessory);
}

const GROUPS = new Set(['checkboxes', 'radio_buttons', 'multi_static_select']);

function input(block, context) {
  const {element} = block;
  const id = `${block.block_id}/${element.action_id}`;
  const group = GROUPS.has(element.type);
  const optional = block.optional === true ? el('span', {class: 'quiet'}, ' (optional)') : null;
  const error = context.errors?.[block.block_id];
  const hint =
    block.hint === undefined ? null : el('p', {class: 'hint quiet', id: `${id}-hint`}, plain(block.hint.text));
  const about = [error === undefined ? '' : `${id}-error`, hint === null ? '' : `${id}-hint`].join(' ').trim();
  const body = field(element, block, {...context, about: about === '' ? undefined : about});
  return el(
    group ? 'fieldset' : 'div',
    {
      class: `block input ${error === undefined ? '' : 'wrong'}`,
      'aria-invalid': group && error !== undefined ? 'true' : undefined,
      'aria-describedby': group && about !== '' ? about : undefined,
    },
    group
      ? el('legend', {}, plain(block.label.text), optional)
      : el('label', {for: id}, plain(block.label.text), optional),
    body,
    error === undefined ? null : el('p', {class: 'error', role: 'alert', id: `${id}-error`}, error),
    hint,
  );
}

function contextual(one, names) {
  return one.type === 'image' ? [one.alt_text] : textObject(one, names);
}

/** A picture that this Slack keeps is drawn; of one from elsewhere its words and its address are shown. */
function image(block) {
  const url = block.slack_file?.url ?? block.image_url ?? '';
  const title = block.title === undefined ? null : el('strong', {}, plain(block.title.text));
  if (url.startsWith('data:image/') || isOurs(url))
    return el(
      'div',
      {class: 'block'},
      title,
      picture(url, block.alt_text, el('figcaption', {class: 'quiet'}, block.alt_text)),
    );
  const from = block.slack_file?.id ?? url;
  return el('div', {class: 'block'}, title, el('p', {class: 'quiet'}, `Picture (${from}): ${block.alt_text}`));
}

function table(block, names) {
  const cell = (one) => {
    if (one.type === 'rich_text') return one.elements.map((part) => richPart(part, names));
    if (one.type !== 'raw_number') return [decode(one.text)];
    return [one.text ?? (typeof one.value === 'number' ? one.value.toLocaleString('en') : String(one.value ?? ''))];
  };
  const align = (index, one) => block.column_settings?.[index]?.align ?? (one.type === 'raw_number' ? 'right' : 'left');
  const wraps = (index) => block.column_settings?.[index]?.is_wrapped === true;
  const [head, ...rows] = block.rows;
  const row = (cells, tag) =>
    el(
      'tr',
      {},
      ...cells.map((one, index) =>
        el(
          tag,
          {
            class: `to-${align(index, one)} ${wraps(index) ? 'wraps' : ''}`,
            scope: tag === 'th' ? 'col' : undefined,
          },
          ...cell(one),
        ),
      ),
    );
  return el(
    'div',
    {class: 'block scroll'},
    el(
      'table',
      {'aria-label': block.caption ?? 'Table'},
      block.caption === undefined ? null : el('caption', {}, plain(block.caption)),
      el('thead', {}, row(head, 'th')),
      el('tbody', {}, ...rows.map((one) => row(one, 'td'))),
    ),
  );
}
