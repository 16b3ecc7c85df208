/** What narrows the list of the form behind "Choose…": GPU, owner, kind, text. None of it ticks or unticks anybody. */
import type {types} from '@slack/bolt';
import type {Offer} from '../../domain/offer.ts';
import {type ChoiceState, FIND, MOST_TEXT, type Shown} from '../choice-state.ts';
import {plain} from '../escape.ts';
import {ACTION} from '../ids.ts';
import {LIMITS} from '../limits.ts';
import {isNarrowed, ownersIn} from './choose-page.ts';

/** A list as short as one set of checkboxes needs no narrowing. */
const FEW = 10;

const SHOW_WORDS: Readonly<Record<Shown, string>> = {
  all: 'Show: everybody',
  ticked: 'Show: only ticked',
  unticked: 'Show: only not ticked',
  new: 'Show: only new since the card',
  locked: 'Show: only locked',
};

export function narrowBlocks(offer: Offer, state: ChoiceState, count: number): readonly types.KnownBlock[] {
  if (count <= FEW && !isNarrowed(state)) return [];
  return [
    {
      type: 'actions',
      block_id: `narrow_${state.resets}`,
      elements: [
        select(ACTION.chooseGpu, 'Narrow by GPU', gpuOptions(offer), state.gpu === null ? 'any' : `is:${state.gpu}`),
        select(ACTION.chooseOwner, 'Narrow by owner', ownerOptions(offer), ownerValue(offer, state)),
        select(
          ACTION.chooseShow,
          'Narrow by kind',
          Object.entries(SHOW_WORDS).map(([value, text]) => option(text, value)),
          state.show,
        ),
      ],
    },
    {
      type: 'input',
      block_id: `${FIND}_${state.resets}`,
      optional: true,
      dispatch_action: true,
      label: {type: 'plain_text', text: 'Only processes whose name, PID or facts contain'},
      hint: {type: 'plain_text', text: 'Enter or "Find" narrows the list. Ticks stay as they are.'},
      element: {
        type: 'plain_text_input',
        action_id: ACTION.chooseFind,
        max_length: MOST_TEXT,
        dispatch_action_config: {trigger_actions_on: ['on_enter_pressed']},
        ...(state.text === '' ? {} : {initial_value: state.text}),
      },
    },
    {
      type: 'actions',
      block_id: 'find_it',
      elements: [
        button(ACTION.chooseFindNow, 'Find', 'Find: narrow the list to the text above'),
        ...(isNarrowed(state)
          ? [button(ACTION.chooseClear, 'Show everybody', 'Show everybody again; ticks are kept')]
          : []),
      ],
    },
  ];
}

/** The number that an option of ours carries; null for "any" and for whatever no option of ours ever had. */
export function gpuIn(value: string): number | null {
  const [, index] = /^is:(\d{1,4})$/.exec(value) ?? [];
  return index === undefined ? null : Number(index);
}

/** The owner whose place in the list an option carries. */
export function ownerIn(offer: Offer, value: string): string | null {
  return ownersIn(offer)[gpuIn(value) ?? -1] ?? null;
}

function ownerValue(offer: Offer, {owner}: ChoiceState): string {
  return owner === null ? 'any' : `is:${ownersIn(offer).indexOf(owner)}`;
}

function gpuOptions({plan}: Offer): readonly types.PlainTextOption[] {
  const indexes = plan.gpus.flatMap((gpu) => gpu.index ?? []).slice(0, LIMITS.selectOptions - 1);
  return [option('GPU: any', 'any'), ...indexes.map((index) => option(`GPU ${index}`, `is:${index}`))];
}

function ownerOptions(offer: Offer): readonly types.PlainTextOption[] {
  const owners = ownersIn(offer).slice(0, LIMITS.selectOptions - 1);
  return [option('Owner: any', 'any'), ...owners.map((owner, at) => option(`Owner: ${owner}`, `is:${at}`))];
}

function option(text: string, value: string): types.PlainTextOption {
  return {text: {type: 'plain_text', text: plain(text, LIMITS.option.text)}, value};
}

/** An owner who is gone, or past the hundredth, is no option: then the list says what it is narrowed to by its first. */
function select(
  action_id: string,
  label: string,
  options: readonly types.PlainTextOption[],
  value: string,
): types.StaticSelect {
  const chosen = options.find((one) => one.value === value) ?? options[0];
  return {
    type: 'static_select',
    action_id,
    placeholder: {type: 'plain_text', text: label},
    options: [...options],
    ...(chosen === undefined ? {} : {initial_option: chosen}),
  };
}

function button(action_id: string, text: string, accessibility_label: string): types.Button {
  return {type: 'button', action_id, text: {type: 'plain_text', text}, accessibility_label};
}
