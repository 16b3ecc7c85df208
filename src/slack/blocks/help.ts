/** `/gpu help`: what you may run here, with examples to copy, and the policy in force; `/gpu help VERB`: one verb, whole. */
import type {Verb} from '../../domain/grammar/rules.ts';
import {ruleOf} from '../../domain/grammar/verb-table.ts';
import type {Host} from '../../domain/host.ts';
import type {Policy} from '../../domain/policy.ts';
import {
  accessSentence,
  examplesOf,
  type HelpView,
  hereSentence,
  overviewLines,
  policySentences,
  verbLines,
} from '../../report/verb-help.ts';
import {PHONE_COLUMNS} from '../../report/wrapped.ts';
import {code} from '../escape.ts';
import {codeSections, type Message, messageOf, section} from './message.ts';
import {mentions} from './people.ts';

/** What help must know of who asks, and where. */
export interface HelpContext {
  /** The slash command itself, e.g. "/gpu". */
  readonly command: string;
  readonly hosts: readonly Host[];
  readonly policy: Policy;
  /** Mention-ready. */
  readonly approvers: readonly string[];
  readonly isApprover: boolean;
  readonly place: HelpView['place'];
  /** Ids of the channels in which everything else does. */
  readonly channels: readonly string[];
}

export function helpMessage(help: HelpContext, about: Verb | null): Message {
  const view = viewOf(help);
  if (about !== null) return ofVerb(help, view, about);
  const tries = help.place === 'alone' ? (['status', 'diagnose'] as const) : (['diagnose', 'reclaim'] as const);
  return messageOf([
    section(
      '*gpu-reclaim* looks first, shows a plan, asks a human, signals only what was approved, and proves the result.',
    ),
    ...codeSections(overviewLines(view)),
    section(
      [
        `${hereSentence(view)} ${youMay(help)}`,
        `Try: ${copied(tries.flatMap((verb) => examplesOf(ruleOf(verb), view)))}`,
        `One verb with all its arguments: ${copied([`${help.command} help reclaim`])}`,
      ].join('\n'),
    ),
    section(policyLines(help).join('\n')),
  ]);
}

function ofVerb(help: HelpContext, view: HelpView, about: Verb): Message {
  const rule = ruleOf(about);
  const examples = examplesOf(rule, view);
  return messageOf([
    ...codeSections(verbLines(rule, view)),
    section(
      [
        `${accessSentence(rule, view)}${help.place === 'here' ? '' : ` ${elsewhere(help)}`}`,
        ...(examples.length === 0 ? [] : [`Try: ${copied(examples)}`]),
      ].join('\n'),
    ),
    ...(rule.ends === 'plan' ? [section(policyLines(help).join('\n'))] : []),
  ]);
}

function viewOf(help: HelpContext): HelpView {
  const {command, hosts, policy, isApprover} = help;
  return {command, door: 'slack', hosts, policy, isApprover, place: help.place, columns: PHONE_COLUMNS};
}

function copied(commands: readonly string[]): string {
  return commands.map((one) => `\`${code(one, 120)}\``).join(', ');
}

function youMay({isApprover, place, ...help}: HelpContext): string {
  if (place === 'elsewhere') return `In this channel only help answers. ${elsewhere(help)}`;
  if (place === 'alone') return `With me alone you may look and read. ${elsewhere(help)}`;
  return `You may look, ask for a reclaim, pause and stop${isApprover ? ', and give the go' : '; the go is for approvers'}.`;
}

function elsewhere({channels}: Pick<HelpContext, 'channels'>): string {
  const known = channels.filter((id) => /^[CGD][A-Z0-9]+$/.test(id)).map((id) => `<#${id}>`);
  return known.length === 0 ? '' : `Everything else is for ${known.join(', ')}.`;
}

function policyLines({policy, approvers}: HelpContext): readonly string[] {
  const names = policy.protectedList.map((entry) => entry.name);
  const shown = names
    .slice(0, 12)
    .map((name) => code(name, 40))
    .join(', ');
  return [
    `Go by: ${mentions(approvers)}${policy.breakGlass ? '; an approver alone with a typed reason (break-glass), announced to all' : ''}.`,
    ...policySentences(policy),
    `Never signalled: ${shown}${names.length > 12 ? ` and ${names.length - 12} more` : ''}.`,
  ];
}
