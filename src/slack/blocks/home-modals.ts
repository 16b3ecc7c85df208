/** The forms that App Home opens: which host to look at, what to reclaim, which report to schedule. Pure. */
import type {types} from '@slack/bolt';
import type {Host} from '../../domain/host.ts';
import {choiceWords} from '../../domain/report-words.ts';
import type {NewSchedule} from '../../domain/schedule.ts';
import {whenPhrase} from '../../domain/schedule-phrase.ts';
import {mrkdwn, plain} from '../escape.ts';
import {CALLBACK, type CallbackId} from '../ids.ts';
import {LIMITS} from '../limits.ts';
import type {ViewState} from '../view-state.ts';
import {cutBlock} from './fit.ts';
import {context, type Message, section} from './message.ts';
import {dated} from './people.ts';

/** Blocks of the forms, each with one input that is called the same. */
export const FIELD = {
  host: 'host',
  gpus: 'gpus',
  match: 'match',
  user: 'user',
  reason: 'reason',
  hosts: 'hosts',
  when: 'when',
  channel: 'channel',
  quiet: 'quiet',
} as const;
export type Field = (typeof FIELD)[keyof typeof FIELD];

export function diagnoseModal(hosts: readonly Host[]): types.ModalView {
  return form(CALLBACK.homeDiagnose, 'Diagnose a host', 'Look', '', [
    hostInput(hosts),
    context('One read-only look; the answer is shown here. Nothing is signalled.'),
  ]);
}

export function proposeModal(hosts: readonly Host[], channel: string): types.ModalView {
  const acting = hosts.filter(({mode}) => mode === 'act');
  return form(CALLBACK.homePropose, 'Propose a reclaim', 'Make the plan', '', [
    hostInput(acting.length === 0 ? hosts : acting),
    textInput(FIELD.gpus, 'GPUs', 'Such as 0-3; empty: all of them.', '0-3'),
    textInput(
      FIELD.match,
      'Match',
      'Part of a command line, 3 characters at least; empty: whatever is proven.',
      'vllm',
    ),
    textInput(FIELD.user, 'User', 'Login name on the host; empty: everybody’s.', 'anna'),
    textInput(FIELD.reason, 'Reason', 'Stands on the card.', 'prod starts at 6'),
    context(`Opens a card in <#${channel}> that asks for a go. Nothing is signalled before one.`),
  ]);
}

/** `metadata` comes back with the form. */
export function reportModal(hosts: readonly Host[], zone: string, channel: string, metadata: string): types.ModalView {
  return form(CALLBACK.homeReport, 'Add a report', 'Show its times', metadata, [
    hostsInput(hosts),
    {
      ...textInput(
        FIELD.when,
        'When',
        `now, in 2h, every weekday 18:00, every 4h, when idle 20m. Times are ${plain(zone, 60)}; another zone may stand at the end.`,
        'every weekday 18:00',
      ),
      optional: false,
    },
    {
      type: 'input',
      block_id: FIELD.channel,
      label: {type: 'plain_text', text: 'Told in'},
      element: {
        type: 'conversations_select',
        action_id: FIELD.channel,
        initial_conversation: channel,
        filter: {include: ['public', 'private'], exclude_bot_users: true},
      },
    },
    {
      type: 'input',
      block_id: FIELD.quiet,
      optional: true,
      label: {type: 'plain_text', text: 'Where nothing changed'},
      element: {
        type: 'checkboxes',
        action_id: FIELD.quiet,
        options: [QUIET],
        initial_options: [QUIET],
      },
    },
    context('A report looks and tells; it never signals.'),
  ]);
}

const QUIET = {
  text: {type: 'plain_text' as const, text: 'only move the last report’s time, post nothing new'},
  value: 'quiet',
};

/** Before it is kept: what was understood, and when it would come. `timesMs` is empty where looks decide. */
export function reportSureModal(asked: NewSchedule, timesMs: readonly number[], metadata: string): types.ModalView {
  const {hosts, when, zone, channel, quiet} = asked;
  const times =
    when.kind === 'now'
      ? 'Made at once.'
      : timesMs.length === 0
        ? 'It waits for that by looks, from the moment it is added.'
        : [
            `Next ${timesMs.length === 1 ? 'and only time' : 'times'}:`,
            ...timesMs.map((atMs) => `• ${dated(atMs)}`),
          ].join('\n');
  return form(CALLBACK.homeReportSure, 'Add this report?', 'Add it', metadata, [
    section(
      [
        `*${mrkdwn(choiceWords(hosts), 300)}* ${mrkdwn(whenPhrase(when), 100)} (${mrkdwn(zone, 60)}${quiet ? ', quiet' : ''})`,
        `Told in <#${channel ?? ''}>.`,
        times,
      ].join('\n'),
    ),
    context('A report looks and tells; it never signals.'),
  ]);
}

/** While a host is asked; the same view then shows the answer. */
export function lookingModal(host: string): types.ModalView {
  return bare('Diagnosis', [section(`⏳ Looking at ${mrkdwn(host, 60)}; nothing is signalled by that.`)]);
}

/** While a plan is made; the same view then shows where its card is. */
export function planningModal(host: string): types.ModalView {
  return bare('Reclaim', [
    section(`⏳ Looking at ${mrkdwn(host, 60)} for a plan; nothing is signalled before a go on its card.`),
  ]);
}

/** An answer as a form that has nothing to submit. */
export function answerModal(title: string, message: Message): types.ModalView {
  return bare(title, message.blocks.map(cutBlock));
}

/** What was filled in; empty where nothing was. */
export function typedIn(state: ViewState, field: Field): string {
  const input = state.values[field]?.[field];
  return (input?.value ?? input?.selected_option?.value ?? input?.selected_conversation ?? '').trim();
}

export function chosenHostWords(state: ViewState): readonly string[] {
  const input = state.values[FIELD.hosts]?.[FIELD.hosts];
  if (input?.selected_options !== undefined) return input.selected_options.flatMap(({value}) => value ?? []);
  return (input?.value ?? '').split(/[\s,]+/).filter((word) => word !== '');
}

export function isQuiet(state: ViewState): boolean {
  return state.values[FIELD.quiet]?.[FIELD.quiet]?.selected_options?.some(({value}) => value === 'quiet') ?? false;
}

/** One host; typed where there are more than a list may hold. */
function hostInput(hosts: readonly Host[]): types.InputBlock {
  const names = hosts.map(({name}) => name);
  const base = {type: 'input' as const, block_id: FIELD.host, label: {type: 'plain_text' as const, text: 'Host'}};
  if (names.length === 0 || names.length > LIMITS.selectOptions)
    return {...base, element: {type: 'plain_text_input', action_id: FIELD.host, max_length: 63}};
  return {
    ...base,
    element: {type: 'static_select', action_id: FIELD.host, options: names.map((name) => option(name, name))},
  };
}

/** Everything, groups, hosts; typed where there are more than a list may hold. */
function hostsInput(hosts: readonly Host[]): types.InputBlock {
  const groups = [...new Set(hosts.flatMap((host) => host.groups))].toSorted();
  const base = {type: 'input' as const, block_id: FIELD.hosts, label: {type: 'plain_text' as const, text: 'Hosts'}};
  const all = [
    option('all', 'all hosts'),
    ...groups.map((group) => option(group, `group ${group}`)),
    ...hosts.map(({name}) => option(name, name)),
  ];
  // A group may be called as a host is: the first of a name counts, in the command too.
  const options = all.filter(({value}, at) => all.findIndex((one) => one.value === value) === at);
  if (options.length > LIMITS.selectOptions)
    return {
      ...base,
      hint: {type: 'plain_text', text: 'Hosts, groups, patterns such as gpu-1*, or all.'},
      element: {type: 'plain_text_input', action_id: FIELD.hosts, max_length: 500, initial_value: 'all'},
    };
  return {...base, element: {type: 'multi_static_select', action_id: FIELD.hosts, options}};
}

function option(value: string, text: string): types.PlainTextOption {
  return {text: {type: 'plain_text', text: plain(text, LIMITS.option.text)}, value};
}

function textInput(field: Field, text: string, hint: string, example: string): types.InputBlock {
  return {
    type: 'input',
    block_id: field,
    optional: true,
    label: {type: 'plain_text', text},
    hint: {type: 'plain_text', text: hint},
    element: {
      type: 'plain_text_input',
      action_id: field,
      max_length: 200,
      placeholder: {type: 'plain_text', text: example},
    },
  };
}

function form(
  callbackId: CallbackId,
  title: string,
  submit: string,
  metadata: string,
  blocks: types.ModalView['blocks'],
): types.ModalView {
  return {
    type: 'modal',
    callback_id: callbackId,
    private_metadata: metadata,
    title: {type: 'plain_text', text: title},
    submit: {type: 'plain_text', text: submit},
    close: {type: 'plain_text', text: 'Back'},
    blocks,
  };
}

function bare(title: string, blocks: types.ModalView['blocks']): types.ModalView {
  return {
    type: 'modal',
    callback_id: CALLBACK.homeAnswer,
    title: {type: 'plain_text', text: title},
    close: {type: 'plain_text', text: 'Close'},
    blocks,
  };
}
