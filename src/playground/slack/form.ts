/** What a person fills into a modal, in the shape in which Slack hands it over. */
import type {ViewOutput, ViewStateValue} from '@slack/bolt';
import {elementsOf, optionsOf, type Placed} from './blocks.ts';
import {isObject, type Json} from './check-elements.ts';

/**
 * Answers by `block_id/action_id`, or by either alone where that names one: a text, the value of an option, or a list of
 * values. What isn't answered keeps its initial value.
 */
export type Answers = Readonly<Record<string, string | readonly string[] | null>>;

type Values = Record<string, Record<string, ViewStateValue>>;

/** The state of the whole form. Throws if an answer names no field or no option: nobody can tick what isn't there. */
export function fillIn(view: ViewOutput, answers: Answers): Values {
  const fields = elementsOf(view.blocks as unknown as readonly Json[]).filter(
    ({element}) => element['type'] !== 'button',
  );
  const unused = new Set(Object.keys(answers));
  const values: Values = {};
  for (const field of fields) {
    const actionId = String(field.element['action_id']);
    const key = [`${field.blockId}/${actionId}`, actionId, field.blockId].find((name) => answers[name] !== undefined);
    if (key !== undefined) unused.delete(key);
    const given = key === undefined ? undefined : answers[key];
    const inBlock = values[field.blockId] ?? {};
    inBlock[actionId] = given === undefined ? initialValue(field.element) : answered(field.element, given);
    values[field.blockId] = inBlock;
  }
  if (unused.size > 0)
    throw new Error(
      `No such field in the modal: ${[...unused].join(', ')}; there are ${fields.map(nameOf).join(', ')}`,
    );
  return values;
}

/** Slack's own client refuses these before the app hears of it: required, and empty. */
export function missingIn(view: ViewOutput, values: Values): Readonly<Record<string, string>> {
  const missing = elementsOf(view.blocks as unknown as readonly Json[]).filter(
    ({optional, blockId, element}) => !optional && isEmpty(values[blockId]?.[String(element['action_id'])]),
  );
  return Object.fromEntries(missing.map(({blockId}) => [blockId, 'Please complete this required field.']));
}

/** Where the answer of an element without options stands, by Slack's own name for it. */
const FIELD: Readonly<Record<string, string>> = {
  users_select: 'selected_user',
  channels_select: 'selected_channel',
  conversations_select: 'selected_conversation',
  datepicker: 'selected_date',
  timepicker: 'selected_time',
  datetimepicker: 'selected_date_time',
};
const INITIAL: Readonly<Record<string, string>> = {
  users_select: 'initial_user',
  channels_select: 'initial_channel',
  conversations_select: 'initial_conversation',
  datepicker: 'initial_date',
  timepicker: 'initial_time',
  datetimepicker: 'initial_date_time',
};

/** What a person chose outside a form, in the shape of its element; nothing for a button. */
export function pickedIn(element: Json, given: string | readonly string[] | null | undefined): Json {
  const type = String(element['type']);
  if (type === 'button' || type === 'workflow_button') return {};
  // A text that tells the app of Enter.
  if (type.endsWith('_input')) return {value: typeof given === 'string' ? given : null};
  const field = FIELD[type];
  if (field !== undefined) return {[field]: typedFor(type, given ?? null)};
  const chosen = given === undefined ? [] : chosenIn(element, given);
  return type === 'checkboxes' || type === 'multi_static_select'
    ? {selected_options: chosen}
    : {selected_option: chosen[0] ?? null};
}

/** A moment is a number of seconds; everything else is a text. */
function typedFor(type: string, given: string | readonly string[] | null): string | number | null {
  if (typeof given !== 'string' || given === '') return null;
  return type === 'datetimepicker' ? Number(given) : given;
}

export function chosenIn(element: Json, given: string | readonly string[] | null): readonly Json[] {
  const wanted = given === null ? [] : typeof given === 'string' ? [given] : given;
  const options = optionsOf(element);
  return wanted.map((value) => {
    const found = options.find((option) => option['value'] === value);
    if (found === undefined)
      throw new Error(`No option "${value}"; there are ${options.map((one) => String(one['value'])).join(', ')}`);
    return found;
  });
}

function answered(element: Json, given: string | readonly string[] | null): ViewStateValue {
  const type = String(element['type']);
  switch (type) {
    case 'checkboxes':
    case 'multi_static_select':
      return {type, selected_options: chosenIn(element, given).map(option)};
    case 'radio_buttons':
    case 'static_select':
      return {type, selected_option: chosenIn(element, given).map(option)[0] ?? null};
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return {type, [FIELD[type] ?? '']: typedFor(type, given)};
    default:
      return {type, value: typeof given === 'string' && given !== '' ? given : null};
  }
}

function initialValue(element: Json): ViewStateValue {
  const type = String(element['type']);
  const {initial_options: many, initial_option: one, initial_value: text} = element;
  switch (type) {
    case 'checkboxes':
    case 'multi_static_select':
      return {type, selected_options: Array.isArray(many) ? many.filter(isObject).map(option) : []};
    case 'radio_buttons':
    case 'static_select':
      return {type, selected_option: isObject(one) ? option(one) : null};
    case 'users_select':
    case 'channels_select':
    case 'conversations_select':
    case 'datepicker':
    case 'timepicker':
    case 'datetimepicker':
      return {type, [FIELD[type] ?? '']: element[INITIAL[type] ?? ''] ?? null};
    default:
      return {type, value: typeof text === 'string' && text !== '' ? text : null};
  }
}

function option(one: Json): {text: {type: 'plain_text'; text: string}; value: string} {
  return one as {text: {type: 'plain_text'; text: string}; value: string};
}

function isEmpty(value: ViewStateValue | undefined): boolean {
  if (value === undefined) return true;
  if (value.selected_options !== undefined) return value.selected_options.length === 0;
  const {type: _type, ...rest} = value;
  return Object.values(rest).every((one) => (one ?? null) === null);
}

function nameOf(field: Placed): string {
  return `${field.blockId}/${String(field.element['action_id'])}`;
}
