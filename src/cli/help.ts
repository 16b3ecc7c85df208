/** What may be typed, with examples to copy and the policy in force; or one verb with all its arguments. */
import {approverName, isApprover} from '../domain/authority.ts';
import {accessOf} from '../domain/grammar/access.ts';
import type {Verb} from '../domain/grammar/rules.ts';
import {ruleOf, VERB_RULES} from '../domain/grammar/verb-table.ts';
import type {Host} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import {
  accessSentence,
  examplesOf,
  type HelpView,
  hereSentence,
  overviewLines,
  policySentences,
  usageOf,
  verbLines,
} from '../report/verb-help.ts';
import {type CliContext, printJson} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';

const FIRST =
  'gpu-reclaim looks first, shows a plan, asks a human, signals only what was approved, and proves the result.';
const LAST = [
  'Arguments in any order: gpus=0-3, --gpus 0-3 or gpus 0-3. --json answers as JSON, everywhere.',
  'One verb with all its arguments: gpu-reclaim help reclaim',
];
/** As wide as a terminal is at least. */
const COLUMNS = 80;

export function help(context: CliContext, about: Verb | null): ExitCode {
  const view = viewOf([...context.hosts.values()], context.policy, isApprover(context.person, context.policy));
  if (context.json) printJson(context, {ok: true, verbs: verbsJson(about, view)});
  else context.terminal.print(...(about === null ? overview(view) : ofVerb(about, view)), ...inForce(view));
  return EXIT.done;
}

function verbsJson(about: Verb | null, view: HelpView): readonly Readonly<Record<string, unknown>>[] {
  return VERB_RULES.filter(({verb}) => about === null || verb === about).map((rule) => ({
    verb: rule.verb,
    forms: rule.forms.map((form) => ({
      usage: usageOf(rule, form, view, 'full'),
      meaning: form.meaning,
      access: accessOf(rule, form, view),
      options: form.options.map(({name, kind, meaning}) => ({name, kind, meaning})),
    })),
  }));
}

/** What can be said before there is a configuration. */
export function bareHelp(about: Verb | null, policy: Policy): readonly string[] {
  const view = viewOf([], policy, false);
  return about === null ? [FIRST, '', ...overviewLines(view), '', ...LAST] : verbLines(ruleOf(about), view);
}

function overview(view: HelpView): readonly string[] {
  return [
    FIRST,
    '',
    ...overviewLines(view),
    '',
    ...LAST,
    ...examplesOf(ruleOf('reclaim'), view).map((line, nth) => (nth === 0 ? `Examples: ${line}` : `          ${line}`)),
  ];
}

function ofVerb(about: Verb, view: HelpView): readonly string[] {
  const rule = ruleOf(about);
  return [
    ...verbLines(rule, view),
    '',
    ...examplesOf(rule, view).map((line, nth) => (nth === 0 ? `Examples: ${line}` : `          ${line}`)),
    accessSentence(rule, view),
  ];
}

function inForce(view: HelpView): readonly string[] {
  const {policy} = view;
  const approvers = policy.approvers.map(approverName);
  return [
    '',
    hereSentence(view),
    `Go by: ${approvers.length === 0 ? 'nobody is listed' : approvers.join(', ')}${policy.breakGlass ? '; at a terminal anybody with a typed reason (break-glass)' : ''}.`,
    ...policySentences(policy),
  ];
}

function viewOf(hosts: readonly Host[], policy: Policy, approves: boolean): HelpView {
  return {
    command: 'gpu-reclaim',
    door: 'terminal',
    hosts,
    policy,
    isApprover: approves,
    place: 'here',
    columns: COLUMNS,
  };
}
