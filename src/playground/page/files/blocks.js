/** Block Kit to elements. `context` = {names, onAction(element, block, choice), keyed}. */
import {el} from './dom.js';
import {field} from './fields.js';
import {decode, mrkdwn, plain, textObject} from './mrkdwn.js';

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
      return el('div', {class: 'block row'}, ...block.elements.map((one) => field(one, block, context)));
    case 'input':
      return input(block, context);
    case 'markdown':
      return el('div', {class: 'block'}, ...mrkdwn(block.text.replaceAll('**', '*'), names));
    case 'rich_text':
      return el('div', {class: 'block'}, ...block.elements.map((one) => richPart(one, names)));
    case 'table':
      return table(block, names);
    case 'image':
      return el('p', {class: 'block quiet'}, `Picture: ${block.alt_text}`);
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

function input(block, context) {
  const {element} = block;
  const id = `${block.block_id}/${element.action_id}`;
  const group = element.type === 'checkboxes' || element.type === 'radio_buttons';
  const optional = block.optional === true ? el('span', {class: 'quiet'}, ' (optional)') : null;
  const error = context.errors?.[block.block_id];
  return el(
    group ? 'fieldset' : 'div',
    {class: 'block input', 'aria-invalid': error === undefined ? undefined : 'true'},
    group
      ? el('legend', {}, plain(block.label.text), optional)
      : el('label', {for: id}, plain(block.label.text), optional),
    field(element, block, context),
    block.hint === undefined ? null : el('p', {class: 'hint quiet'}, plain(block.hint.text)),
    error === undefined ? null : el('p', {class: 'error', role: 'alert', id: `${id}-error`}, error),
  );
}

function contextual(one, names) {
  return one.type === 'image' ? [one.alt_text] : textObject(one, names);
}

function richPart(part, names) {
  switch (part.type) {
    case 'rich_text_preformatted':
      return el('pre', {tabindex: '0'}, ...part.elements.map((one) => richLeaf(one, names)));
    case 'rich_text_quote':
      return el('blockquote', {}, ...part.elements.map((one) => richLeaf(one, names)));
    case 'rich_text_list':
      return el(
        part.style === 'ordered' ? 'ol' : 'ul',
        {},
        ...part.elements.map((one) => el('li', {}, richPart(one, names))),
      );
    default:
      return el('div', {class: 'rich'}, ...(part.elements ?? []).map((one) => richLeaf(one, names)));
  }
}

function richLeaf(leaf, names) {
  const words = {
    text: leaf.text,
    link: leaf.text ?? leaf.url,
    user: `@${names.users.get(leaf.user_id) ?? leaf.user_id}`,
    channel: `#${names.channels.get(leaf.channel_id) ?? leaf.channel_id}`,
    emoji: plain(`:${leaf.name}:`),
  }[leaf.type];
  const {bold, italic, strike, code} = leaf.style ?? {};
  const tags = [bold && 'strong', italic && 'em', strike && 's', code && 'code'].filter(Boolean);
  return tags.reduce((inside, tag) => el(tag, {}, inside), words ?? '');
}

function table(block, names) {
  const cell = (one) => {
    if (one.type === 'rich_text') return one.elements.map((part) => richPart(part, names));
    return [one.type === 'raw_number' ? String(one.text ?? one.value) : decode(one.text)];
  };
  const align = (index) => block.column_settings?.[index]?.align;
  const [head, ...rows] = block.rows;
  const row = (cells, tag) =>
    el('tr', {}, ...cells.map((one, index) => el(tag, {class: `to-${align(index) ?? 'left'}`}, ...cell(one))));
  return el(
    'div',
    {class: 'block scroll', tabindex: '0'},
    el('table', {}, el('thead', {}, row(head, 'th')), el('tbody', {}, ...rows.map((one) => row(one, 'td')))),
  );
}
