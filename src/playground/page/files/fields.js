/** Buttons, ticks, selects and inputs; and reading a filled form back by `block_id/action_id`. */
import {el} from './dom.js';
import {menu} from './menu.js';
import {plain, textObject} from './mrkdwn.js';

/** More options than this get a line to look one up. */
const MANY = 8;

export function field(element, block, context) {
  const key = `${block.block_id}/${element.action_id}`;
  // In an input block the app hears of it with the submission; elsewhere at once.
  const onchange =
    block.type === 'input' ? undefined : (event) => context.onAction(element, block, chosen(event.currentTarget));
  const how = {key, onchange, about: context.about, inInput: block.type === 'input'};
  // A field that tells the app of Enter: there it is no submission.
  if (block.dispatch_action === true)
    how.onkeydown = (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      void context.onAction(element, block, chosen(event.currentTarget));
    };
  const required = block.type === 'input' && block.optional !== true;
  switch (element.type) {
    case 'button':
    case 'workflow_button':
      return button(element, block, context, key);
    case 'checkboxes':
    case 'radio_buttons':
      return ticks(element, how, context.names);
    case 'multi_static_select':
      return manyOf(element, how, context.names);
    case 'static_select':
      return select(element, how);
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
      return select({...element, ...known(element, context.names)}, how);
    case 'plain_text_input':
    case 'number_input':
    case 'email_text_input':
    case 'url_text_input':
      return words(element, how, required);
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return clock(element, how, required);
    case 'overflow':
      return menu(
        element.options,
        key,
        (value) => context.onAction(element, block, value),
        element.accessibility_label,
      );
    case 'image':
      return el('span', {class: 'quiet'}, element.alt_text);
    default:
      return el('span', {class: 'quiet'}, `(a ${element.type}, which this stand-in does not draw)`);
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
      for (const tick of node.querySelectorAll('[name]')) tick.checked = values.includes(tick.value);
    } else node.value = given ?? '';
  }
}

function chosen(node) {
  if (node.dataset.kind === 'ticks') {
    const values = [...node.querySelectorAll('[name]:checked')].map((tick) => tick.value);
    return node.dataset.single === undefined ? values : (values[0] ?? null);
  }
  if (node.dataset.kind === 'moment') {
    const seconds = Math.floor(new Date(node.value).getTime() / 1000);
    return Number.isNaN(seconds) ? null : String(seconds);
  }
  return node.value === '' ? null : node.value;
}

function button(element, block, context, key) {
  const press = async (event) => {
    const {currentTarget} = event;
    currentTarget.setAttribute('aria-busy', 'true');
    try {
      await context.onAction(element, block, undefined);
    } finally {
      currentTarget.removeAttribute('aria-busy');
    }
  };
  return el(
    'button',
    {
      type: 'button',
      class: element.style,
      'data-key': key,
      'aria-label': element.accessibility_label,
      onclick: (event) => void press(event),
    },
    plain(element.text.text),
  );
}

function ticks(element, {key, onchange}, names) {
  const single = element.type === 'radio_buttons';
  const initial = single ? [element.initial_option?.value] : (element.initial_options ?? []).map((one) => one.value);
  return el(
    'div',
    {class: 'ticks', 'data-field': key, 'data-kind': 'ticks', 'data-single': single || undefined, onchange},
    ...element.options.map((option) => tick(option, {key, single, initial, names})),
  );
}

function tick(option, {key, single, initial, names}) {
  return el(
    'label',
    {},
    el('input', {
      type: single ? 'radio' : 'checkbox',
      name: key,
      value: option.value,
      'data-key': `${key}/${option.value}`,
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
  );
}

/** A choice of many, as ticks in a box of its own: a list that is chosen from with Ctrl held is nobody's to guess. */
function manyOf(element, {key, onchange}, names) {
  const initial = (element.initial_options ?? []).map((one) => one.value);
  const groups = element.option_groups ?? [{options: element.options}];
  const count = groups.reduce((sum, {options}) => sum + options.length, 0);
  const list = el(
    'div',
    {class: 'ticks many', 'data-field': key, 'data-kind': 'ticks', onchange},
    ...groups.flatMap((group) => [
      group.label === undefined ? null : el('strong', {}, plain(group.label.text)),
      ...group.options.map((option) => tick(option, {key, single: false, initial, names})),
    ]),
  );
  if (count <= MANY) return list;
  const narrow = (event) => {
    const wanted = event.currentTarget.value.toLowerCase();
    for (const one of list.querySelectorAll('label')) one.hidden = !one.textContent.toLowerCase().includes(wanted);
  };
  const look = element.placeholder?.text ?? `Look among ${count}`;
  return el(
    'div',
    {},
    el('input', {
      type: 'text',
      class: 'narrow',
      placeholder: look,
      'aria-label': look,
      autocomplete: 'off',
      oninput: narrow,
    }),
    list,
  );
}

function select(element, {key, onchange, about, inInput}) {
  const initial = element.initial_option?.value;
  const options = (list) =>
    list.map((one) => el('option', {value: one.value, selected: one.value === initial}, plain(one.text.text)));
  return el(
    'select',
    {
      id: key,
      'data-field': key,
      'data-key': key,
      onchange,
      'aria-describedby': about,
      'aria-label': inInput ? undefined : (element.placeholder?.text ?? 'Choose'),
    },
    el('option', {value: ''}, element.placeholder?.text ?? 'Choose…'),
    ...(element.option_groups === undefined
      ? options(element.options)
      : element.option_groups.map((group) => el('optgroup', {label: group.label.text}, ...options(group.options)))),
  );
}

/** People and places as options: Slack offers those itself. */
function known(element, {users, channels}) {
  const map = element.type === 'users_select' ? users : channels;
  const sign = element.type === 'users_select' ? '@' : '#';
  const options = [...map].map(([value, name]) => ({value, text: {text: `${sign}${name}`}}));
  const initial = element.initial_user ?? element.initial_channel ?? element.initial_conversation;
  return {options, initial_option: options.find(({value}) => value === initial)};
}

const INPUT = {number_input: 'number', email_text_input: 'email', url_text_input: 'url'};

function words(element, {key, about, onkeydown}, required) {
  const shared = {
    onkeydown,
    id: key,
    'data-field': key,
    'data-key': key,
    placeholder: element.placeholder?.text,
    maxlength: element.max_length ?? 3000,
    autocomplete: 'off',
    'aria-required': required ? 'true' : undefined,
    'aria-describedby': about,
    'aria-invalid': about?.includes('-error') ? 'true' : undefined,
  };
  const value = element.initial_value ?? '';
  if (element.multiline === true) return el('textarea', {...shared, rows: 3}, value);
  return el('input', {...shared, type: INPUT[element.type] ?? 'text', value});
}

function clock(element, {key, onchange, about, inInput}, required) {
  const shared = {
    id: key,
    'data-field': key,
    'data-key': key,
    onchange,
    'aria-required': required ? 'true' : undefined,
    'aria-describedby': about,
    'aria-label': inInput ? undefined : (element.placeholder?.text ?? 'When'),
  };
  if (element.type === 'datepicker') return el('input', {...shared, type: 'date', value: element.initial_date});
  if (element.type === 'timepicker') return el('input', {...shared, type: 'time', value: element.initial_time});
  const moment = element.initial_date_time === undefined ? undefined : localMinute(element.initial_date_time);
  return el('input', {...shared, type: 'datetime-local', 'data-kind': 'moment', value: moment});
}

function localMinute(seconds) {
  const there = new Date(seconds * 1000);
  return new Date(there.getTime() - there.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
