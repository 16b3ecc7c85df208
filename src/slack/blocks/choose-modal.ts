/** "Choose…": who may be ticked, page by page, with evidence; what has changed since the card; locks with their reasons. */
import type {types} from '@slack/bolt';
import {type Choosable, choosableIn, type Offer} from '../../domain/offer.ts';
import type {Plan} from '../../domain/plan.ts';
import {plural, thousands} from '../../report/amounts.ts';
import {choiceFacts, choiceName} from '../../report/choice-groups.ts';
import {driftNames, driftSummary, staleSentence} from '../../report/drift-since.ts';
import {evidenceEntry} from '../../report/plan-evidence.ts';
import {type Entry, shortened} from '../../report/wrapped.ts';
import {type ChoiceState, TICKS, tickValue, writeChoice} from '../choice-state.ts';
import {cutMrkdwn, mrkdwn, plain} from '../escape.ts';
import {ACTION, CALLBACK} from '../ids.ts';
import {LIMITS} from '../limits.ts';
import {narrowBlocks} from './choose-narrow.ts';
import {type ChoicePage, type Chunk, choicePage, isNarrowed, lockedIn} from './choose-page.ts';
import {failureText} from './failure-text.ts';
import {codeSections, context, section} from './message.ts';
import {timed} from './people.ts';

/** Evidence of one group, and of the locked, in lines: the first of these that one block holds. */
const EVIDENCE_LINES = [40, 20, 10];
const LOCKED_LINES = [60, 40, 20, 10];

export interface ChooseForm {
  readonly offer: Offer;
  /** The plan on the card. */
  readonly was: Plan;
  readonly state: ChoiceState;
  /** Why what was just submitted was refused; null: nothing was. */
  readonly problem: string | null;
}

/** The form as it stands on its page. Signals nothing: its submission makes another plan, which waits for a go. */
export function chooseModal(form: ChooseForm): types.ModalView {
  const {offer, was, state} = form;
  const everybody = choosableIn(offer.plan);
  const page = choicePage(offer, was, state);
  const mayChoose = everybody.length > 0 && offer.stale?.why !== 'machine-changed';
  return {
    type: 'modal',
    callback_id: CALLBACK.choose,
    private_metadata: writeChoice({...state, page: page.page}),
    title: {type: 'plain_text', text: 'Choose processes'},
    close: {type: 'plain_text', text: 'Close'},
    ...(mayChoose ? {submit: {type: 'plain_text', text: 'Make this the plan'}} : {}),
    blocks: [
      ...(form.problem === null ? [] : [within(`⚠ ${form.problem}`)]),
      within(headOf(form)),
      ...(mayChoose ? bodyOf(form, everybody, page) : []),
      ...lockedBlocks(offer, state, page, mayChoose),
      turnButtons(page, mayChoose, 'bottom'),
    ],
  };
}

/** One thing to say, and nothing to choose. `text` is mrkdwn. */
export function chooseEnd(text: string, metadata: string): types.ModalView {
  return {
    type: 'modal',
    callback_id: CALLBACK.choose,
    private_metadata: metadata,
    title: {type: 'plain_text', text: 'Choose processes'},
    close: {type: 'plain_text', text: 'Close'},
    blocks: [within(text)],
  };
}

/** The checkboxes in which this process stands on the page; else the first there are; null on a page without. */
export function blockOf(form: ChooseForm, pid: number | null): string | null {
  const everybody = choosableIn(form.offer.plan);
  const {chunks} = choicePage(form.offer, form.was, form.state);
  const at = chunks.findIndex((chunk) => chunk.places.some((place) => everybody[place]?.identity.pid === pid));
  return chunks.length === 0 ? null : blockId(form.state, Math.max(0, at));
}

function headOf({offer, was}: ChooseForm): string {
  const host = `*${mrkdwn(offer.plan.host, 100)}*`;
  if (offer.stale === null) {
    const names = driftNames(was, offer).map((line) => `• ${mrkdwn(line, 200)}`);
    return [
      `${host}, looked at again ${timed(offer.plan.madeAtMs)}. Since the card: *${mrkdwn(driftSummary(was, offer), 400)}*.`,
      ...names,
    ].join('\n');
  }
  const {stale} = offer;
  const failed = stale.why === 'no-look' ? failureText(stale.failure, 400) : '';
  return [
    `⚠ ${stale.why === 'no-look' ? failed : mrkdwn(staleSentence(stale, ''), 400)}`,
    ...(stale.why === 'machine-changed'
      ? []
      : [
          `This is the plan of ${host} as it was ${timed(offer.plan.madeAtMs)}. Choosing from it is possible: at the go the host is looked at again, and who is not the same any more is left alone.`,
        ]),
  ].join('\n');
}

function bodyOf(form: ChooseForm, everybody: readonly Choosable[], page: ChoicePage): types.KnownBlock[] {
  const {offer, state} = form;
  return [
    section(countsOf(everybody, page, state)),
    ...narrowBlocks(offer, state, everybody.length),
    ...(page.pages > 1 ? [turnButtons(page, true, 'top')] : []),
    ...(page.listed > 0 || state.show === 'locked'
      ? page.chunks.flatMap((chunk, at) => chunkBlocks(chunk, at, form, page.evidence))
      : [section('Nobody is listed: no process fits what the list is narrowed to.')]),
  ];
}

/** Numbers that no tick on this page changes, since Slack says nothing of those before the form is submitted. */
function countsOf(everybody: readonly Choosable[], page: ChoicePage, state: ChoiceState): string {
  const sum = (places: readonly number[]): string => {
    const MiB = places.reduce((total, at) => total + (everybody[at]?.chargedMiB ?? 0), 0);
    return `${thousands(places.length)}, ${thousands(MiB)} MiB`;
  };
  const narrowed = isNarrowed(state);
  return [
    'Ticked is who would be signalled after a new go. This form signals nothing.',
    `${plural(everybody.length, 'process', 'processes')} can be chosen${narrowed ? `, ${thousands(page.listed)} listed` : ''}.${
      page.pages > 1
        ? ` Page ${page.page + 1} of ${page.pages}: ${page.first} to ${page.first + page.shown.length - 1}.`
        : ''
    }`,
    ...(page.evidence === 'elsewhere'
      ? ['Narrowed to a few, the list shows the evidence of each; the thread of the card has it too.']
      : []),
    ...(page.elsewhere.length > 0 ? [`Ticked on other pages: ${sum(page.elsewhere)}. They stay ticked.`] : []),
    ...(page.hidden.length > 0
      ? [`Ticked and not listed now: ${sum(page.hidden)}. Narrowing hides them; they stay ticked.`]
      : []),
  ].join('\n');
}

function chunkBlocks(
  {group, places, first, of, whole}: Chunk,
  at: number,
  {offer, was, state}: ChooseForm,
  evidence: ChoicePage['evidence'],
): types.KnownBlock[] {
  const {plan} = offer;
  const everybody = choosableIn(plan);
  const members = places.flatMap((place) => {
    const one = everybody[place];
    return one === undefined ? [] : [{place, one, option: optionOf(one, plan, was)}];
  });
  const ticked = members.filter(({place}) => state.ticks.has(place)).map(({option}) => option);
  const part = partWords({first, count: places.length, of, all: group.members.length});
  return [
    ...(whole === null ? [] : [wholeBlock(group, whole, state)]),
    {
      type: 'input',
      block_id: blockId(state, at),
      optional: true,
      // The line above it says the rest; a label makes sense without that line, too.
      label: {
        type: 'plain_text',
        text: plain(`${whole === null ? group.title : `Processes of ${group.short}`}${part}`, 300),
      },
      element: {
        type: 'checkboxes',
        action_id: TICKS,
        options: members.map(({option}) => option),
        ...(ticked.length === 0 ? {} : {initial_options: ticked}),
      },
    },
    ...(evidence === 'elsewhere'
      ? []
      : inOneBlock(
          members.map(({one}) => unsigned(evidenceEntry(one, plan))),
          EVIDENCE_LINES,
        )),
  ];
}

/** " (11 to 20 of 65 listed, 70 in all)", as far as there is something to say. */
function partWords(part: {
  readonly first: number;
  readonly count: number;
  readonly of: number;
  readonly all: number;
}): string {
  const {first, count, of, all} = part;
  const isPart = count < of;
  if (of === all) return isPart ? ` (${first} to ${first + count - 1} of ${of})` : '';
  return isPart ? ` (${first} to ${first + count - 1} of ${of} listed, ${all} in all)` : ` (${of} of ${all} listed)`;
}

/** Without the tick before its name: the boxes above say who is ticked, and change. */
function unsigned(entry: Entry): Entry {
  return {...entry, lines: () => entry.lines().map((line, at) => (at === 0 ? line.replace(/^[☑☐] /u, '') : line))};
}

/** A button rather than a tick: it means what it says whatever was ticked below it since. */
function wholeBlock(group: Chunk['group'], whole: readonly number[], state: ChoiceState): types.KnownBlock {
  const all = whole.every((place) => state.ticks.has(place));
  const name = plain(group.short, 40);
  return {
    type: 'section',
    block_id: `whole_${group.members[0] ?? 0}`,
    text: {type: 'mrkdwn', text: `*${mrkdwn(group.title, 300)}*`, verbatim: true},
    accessory: {
      type: 'button',
      action_id: ACTION.chooseWhole,
      text: {type: 'plain_text', text: `${all ? 'Untick' : 'Tick'} all ${thousands(whole.length)}`},
      value: `${all ? 'untick' : 'tick'}:${group.members[0] ?? 0}`,
      accessibility_label: plain(`${all ? 'Untick' : 'Tick'} all ${whole.length} of ${name}`, 75),
    },
  };
}

function optionOf(one: Choosable, plan: Plan, was: Plan): types.PlainTextOption {
  return {
    text: {type: 'plain_text', text: plain(choiceName(one, was), LIMITS.option.text)},
    description: {type: 'plain_text', text: plain(choiceFacts(one, plan), LIMITS.option.description)},
    value: tickValue(one.identity, plan),
  };
}

/** On the last page, and wherever they are asked for. */
function lockedBlocks(offer: Offer, state: ChoiceState, page: ChoicePage, mayChoose: boolean): types.KnownBlock[] {
  if (offer.stale?.why === 'machine-changed') return [];
  const locked = lockedIn(offer, state);
  const here = state.show === 'locked' || (state.show === 'all' && page.page === page.pages - 1);
  if (!here || (locked.length === 0 && state.show !== 'locked' && mayChoose)) return [];
  if (locked.length === 0)
    return [section(mayChoose ? 'Nobody who is listed is locked.' : 'Nobody can be chosen here.')];
  return [
    section(
      `${mayChoose ? '' : 'Nobody can be chosen here. '}*Locked*: ${plural(locked.length, 'process', 'processes')}, never signalled`,
    ),
    ...inOneBlock(
      locked.map((one) => evidenceEntry(one, offer.plan)),
      LOCKED_LINES,
    ),
  ];
}

/** Both above the list and below it: whoever turns a page begins at its top. */
function turnButtons(page: ChoicePage, mayChoose: boolean, where: 'top' | 'bottom'): types.KnownBlock {
  const button = (action_id: string, text: string, label: string): types.Button => ({
    type: 'button',
    action_id,
    text: {type: 'plain_text', text},
    accessibility_label: label,
  });
  const now = page.page + 1;
  const to = (at: number): string => `page ${at} of ${page.pages}; ticks are kept`;
  return {
    type: 'actions',
    block_id: `turn_${where}`,
    elements: [
      ...(mayChoose && page.page > 0
        ? [button(ACTION.chooseBack, `Back to page ${now - 1}`, `Back to ${to(now - 1)}`)]
        : []),
      ...(mayChoose && now < page.pages
        ? [button(ACTION.chooseNext, `Next: page ${now + 1}`, `Next: ${to(now + 1)}`)]
        : []),
      ...(where === 'top'
        ? []
        : [button(ACTION.chooseLook, 'Look again', 'Look at the host again; ticks are kept, nothing is signalled')]),
    ],
  };
}

/** Escaped text may be five times as long as what it was. */
function within(text: string): types.SectionBlock {
  return section(cutMrkdwn(text, LIMITS.section.text));
}

function blockId(state: ChoiceState, at: number): string {
  return `${TICKS}_${state.turn}_${at}`;
}

/** As many whole entries as one block holds; the rest is counted. */
function inOneBlock(entries: readonly Entry[], tries: readonly number[]): readonly types.KnownBlock[] {
  let blocks: readonly types.KnownBlock[] = [];
  for (const lines of tries) {
    blocks = codeSections(shortened(entries, lines));
    if (blocks.length <= 1) break;
  }
  return blocks.slice(0, 1);
}

/** What stands in the form while the host is looked at. */
export function lookingModal(host: string, metadata: string, note = ''): types.ModalView {
  return {
    ...chooseEnd(`Looking at *${mrkdwn(host, 100)}* again; nothing is signalled.${note}`, metadata),
    blocks: [
      section(`Looking at *${mrkdwn(host, 100)}* again; nothing is signalled.${note}`),
      context('The list comes by itself. Should it not within two minutes, close this and press the button again.'),
    ],
  };
}
