/** Buttons, ticks, selects and inputs; and reading a filled form back by `block_id/action_id`. */
import {el} from './dom.js';
import {plain, textObject} from './mrkdwn.js';

export function field(element, block, context) {
  const key = `${block.block_id}/${element.action_id}`;
  // In an input block the app hears of it with the submission; elsewhere at once.
  const onchange =
    block.type === 'input' ? undefined : (event) => context.onAction(element, block, chosen(event.currentTarget));
  switch (element.type) {
    case 'button':
      return button(element, block, context, key);
    case 'checkboxes':
    case 'radio_buttons':
      return ticks(element, key, onchange, context.names);
    case 'static_select':
    case 'multi_static_select':
      return select(element, key, onchange);
    case 'plain_text_input':
      return words(element, key, block.optional !== true);
    case 'overflow':
      return el('span', {}, ...element.options.map((one) => overflowButton(one, element, block, context)));
    case 'image':
      return el('span', {class: 'quiet'}, element.alt_text);
    default:
      return el('span', {class: 'quiet'}, `(${element.type})`);
  }
}

/** Everything filled into the form, in the shape that /submit takes. */
export function answersIn(form) {
  const answers = {};
  for (const node of form.querySelectorAll('[data-field]')) answers[node.dataset.field] = chosen(node);
  return answers;
}

/** Puts answers back after a redraw, as far as the same options are still there. */
export function putBack(form, answers) {
  for (const node of form.querySelectorAll('[data-field]')) {
    const given = answers[node.dataset.field];
    if (given === undefined) continue;
    if (node.dataset.kind === 'ticks') {
      const values = Array.isArray(given) ? given : [given];
      for (const tick of node.querySelectorAll('input')) tick.checked = values.includes(tick.value);
    } else if (node.multiple) {
      for (const option of node.options) option.selected = given.includes(option.value);
    } else node.value = given ?? '';
  }
}

function chosen(node) {
  if (node.dataset.kind === 'ticks') {
    const values = [...node.querySelectorAll('input:checked')].map((tick) => tick.value);
    return node.dataset.single === undefined ? values : (values[0] ?? null);
  }
  if (node.multiple) return [...node.selectedOptions].map((option) => option.value);
  return node.value === '' ? null : node.value;
}

function button(element, block, context, key) {
  return el(
    'button',
    {
      type: 'button',
      class: element.style,
      'data-key': key,
      'aria-label': element.accessibility_label,
      onclick: () => context.onAction(element, block, undefined),
    },
    plain(element.text.text),
  );
}

function overflowButton(option, element, block, context) {
  return el(
    'button',
    {type: 'button', onclick: () => context.onAction(element, block, option.value)},
    plain(option.text.text),
  );
}

function ticks(element, key, onchange, names) {
  const single = element.type === 'radio_buttons';
  const initial = single ? [element.initial_option?.value] : (element.initial_options ?? []).map((one) => one.value);
  return el(
    'div',
    {class: 'ticks', 'data-field': key, 'data-kind': 'ticks', 'data-single': single || undefined, onchange},
    ...element.options.map((option) =>
      el(
        'label',
        {},
        el('input', {
          type: single ? 'radio' : 'checkbox',
          name: key,
          value: option.value,
          checked: initial.includes(option.value),
        }),
        el(
          'span',
          {},
          ...textObject(option.text, names),
          option.description === undefined
            ? null
            : el('span', {class: 'describe quiet'}, ...textObject(option.description, names)),
        ),
      ),
    ),
  );
}

function select(element, key, onchange) {
  const many = element.type === 'multi_static_select';
  const initial = many ? (element.initial_options ?? []).map((one) => one.value) : [element.initial_option?.value];
  const options = (list) =>
    list.map((one) => el('option', {value: one.value, selected: initial.includes(one.value)}, plain(one.text.text)));
  const empty = many ? [] : [el('option', {value: ''}, element.placeholder?.text ?? 'Choose…')];
  return el(
    'select',
    {id: key, 'data-field': key, multiple: many, onchange},
    ...empty,
    ...(element.option_groups === undefined
      ? options(element.options)
      : element.option_groups.map((group) => el('optgroup', {label: group.label.text}, ...options(group.options)))),
  );
}

function words(element, key, required) {
  const shared = {
    id: key,
    'data-field': key,
    placeholder: element.placeholder?.text,
    maxlength: element.max_length ?? 3000,
    autocomplete: 'off',
    'aria-required': required ? 'true' : undefined,
  };
  const value = element.initial_value ?? '';
  if (element.multiline === true) return el('textarea', {...shared, rows: 3}, value);
  return el('input', {...shared, type: 'text', value});
}
