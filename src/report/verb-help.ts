/** What may be typed, as lines for a screen of any width: made of the command table and of the policy in force. */
import {type Access, accessOf, type Viewer} from '../domain/grammar/access.ts';
import type {Form, OptionRule, Place, Usual, VerbRule} from '../domain/grammar/rules.ts';
import {isAt, VERB_RULES} from '../domain/grammar/verb-table.ts';
import type {Host} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import {plural, span} from './amounts.ts';
import {wrapped} from './wrapped.ts';

export interface HelpView extends Viewer {
  /** `/gpu`, `gpu-reclaim`. */
  readonly command: string;
  readonly hosts: readonly Host[];
  readonly policy: Policy;
  readonly columns: number;
}

const ACCESS_NOTE: Readonly<Record<Access, string>> = {
  yes: '',
  'other-door': 'for the terminal',
  elsewhere: 'in a channel',
  'approvers-only': 'for approvers',
  'holder-or-approver': 'by its holder, or an approver',
  'no-approver': 'dry-run only: no approver is listed',
  'no-act-host': 'dry-run only: every host is in observe mode',
  'no-host': 'no host is in the hosts file',
};

/** `full`: `reclaim HOST [gpus=0-3] [dry-run]`; `short`: `reclaim HOST […]`; `bare`: `reclaim HOST`. */
export function usageOf(
  {verb}: Pick<VerbRule, 'verb'>,
  form: Form,
  viewer: Pick<Viewer, 'door'>,
  size: 'bare' | 'short' | 'full',
): string {
  const asked = form.options.filter(({need}) => need === 'required').map(typed);
  const free = optionsOf(form, viewer.door).map((one) => `[${one}]`);
  const isText = ({kind}: Place): boolean => kind === 'text';
  return [
    verb,
    ...(form.sub === null ? [] : [form.sub]),
    ...form.places.filter((place) => !isText(place)).map(({shown}) => shown),
    ...asked,
    ...form.places.filter(isText).map(({shown}) => shown),
    ...(size === 'full' ? free : size === 'short' && free.length > 0 ? ['[…]'] : []),
  ].join(' ');
}

/** What may be left out, as it is typed. */
export function optionsOf(form: Form, door: Viewer['door']): readonly string[] {
  return form.options.filter((one) => isAt(one, door) && one.need === 'optional').map(typed);
}

/** What it does, and who may where that is not everybody. */
export function meaningOf({meaning, who}: Form): string {
  switch (who) {
    case 'anyone':
      return meaning;
    case 'approver':
      return `${meaning} (${ACCESS_NOTE['approvers-only']})`;
    case 'holder-or-approver':
      return `${meaning} (${ACCESS_NOTE[who]})`;
  }
}

/** Every verb of this door in one or two lines, with what keeps this reader from it. */
export function overviewLines(view: HelpView): readonly string[] {
  const forms = VERB_RULES.filter((rule) => isAt(rule, view.door)).flatMap((rule) =>
    rule.forms.map((form) => ({rule, form, access: accessOf(rule, form, view)})),
  );
  // Alone with the bot only what answers there; in a channel that is not its own, what it can do elsewhere.
  const shown = view.place === 'alone' ? forms.filter(({access}) => access !== 'elsewhere') : forms;
  return shown.flatMap(({rule, form, access}) => {
    // What is true of every verb is said once, below them.
    const note = access === 'elsewhere' || access === 'no-host' ? '' : ACCESS_NOTE[access];
    const text = `${form.meaning}${note === '' ? '' : ` (${note})`}`;
    return beside(OVERVIEW_WIDTH, `${view.command} ${usageOf(rule, form, view, 'short')}`, text, view.columns);
  });
}

/** One verb with every argument, what holds where it is left out, and who may. */
export function verbLines(rule: VerbRule, view: HelpView): readonly string[] {
  return rule.forms.flatMap((form, nth) => [
    ...(nth === 0 ? [] : ['']),
    ...hanging(`${view.command} ${usageOf(rule, form, view, 'full')}`, view.columns),
    ...indented(form.meaning, 3, view.columns),
    ...argumentsOf(form, view).flatMap(({key, meaning, usual}) =>
      beside(
        ARGUMENT_WIDTH,
        `  ${key}`,
        usual === null ? `${meaning}; must be said` : `${meaning}; left out: ${usual}`,
        view.columns,
      ),
    ),
  ]);
}

interface Argument {
  readonly key: string;
  readonly meaning: string;
  /** What holds where it is left out; null: it must be said. */
  readonly usual: string | null;
}

function argumentsOf(form: Form, view: HelpView): readonly Argument[] {
  const options = form.options.filter((one) => isAt(one, view.door));
  return [
    ...form.places.map(({shown, meaning, usual}) => ({key: shown, meaning, usual})),
    ...options.map((one) => ({
      key: typed(one),
      meaning: one.meaning,
      usual: one.need === 'required' ? null : usualWords(one.usual, view.policy),
    })),
  ];
}

/** The verbs of a door in one line, each with what must stand behind it. */
export function hintOf(door: Viewer['door']): string {
  return VERB_RULES.filter((rule) => isAt(rule, door))
    .map((rule) => {
      const [first] = rule.forms;
      const subs = rule.forms.flatMap(({sub}) => sub ?? []);
      return first.sub === null ? usageOf(rule, first, {door}, 'short') : `${rule.verb} ${subs.join('|')}`;
    })
    .join(' | ');
}

/** Whether this reader may run it here, as a sentence. */
export function accessSentence(rule: VerbRule, view: HelpView): string {
  const worst = rule.forms.map((form) => accessOf(rule, form, view)).find((access) => access !== 'yes') ?? 'yes';
  switch (worst) {
    case 'yes':
      if (rule.ends !== 'plan' || view.isApprover) return 'You may run it here.';
      return view.door === 'terminal' && view.policy.breakGlass
        ? 'You may run it here; you are no approver, so a go of yours is break-glass and needs a typed reason.'
        : 'You may run it here; the go for its plan is for approvers.';
    case 'approvers-only':
      return 'Only approvers may run it, and you are none.';
    case 'holder-or-approver':
      return 'You may run it here; a hold of somebody else is ended by them, or by an approver.';
    case 'other-door':
      return `It is for the terminal: gpu-reclaim ${rule.verb}. ${rule.instead ?? ''}`.trim();
    case 'elsewhere':
      return view.place === 'alone' ? 'It runs in a channel, where others see it.' : 'It does not run in this channel.';
    case 'no-approver':
      return 'You may run it as dry-run only: no approver is listed in the policy file, so nobody could give the go.';
    case 'no-act-host':
      return 'You may run it as dry-run only: no host of the hosts file has "mode: act".';
    case 'no-host':
      return 'No host is in the hosts file yet, so there is nothing to run it on.';
  }
}

/** What this site has to be done with: hosts, and what the reader may. */
export function hereSentence(view: HelpView): string {
  const acting = view.hosts.filter(({mode}) => mode === 'act').length;
  return `Here: ${plural(view.hosts.length, 'host', 'hosts')}, ${acting} of them may be signalled after a go.`;
}

/** The policy's numbers, without its names. */
export function policySentences(policy: Policy): readonly string[] {
  return [
    `Requesters who are approvers go alone for ${policy.selfGo ? 'ghosts and their own processes' : 'nothing'}.`,
    `SIGTERM, then kill -9 after ${span(policy.graceMs)} (${span(policy.profilerGraceMs)} with a profiler); a plan waits ${span(policy.approvalMs)} for its go.`,
  ];
}

/** Commands to copy, with this site's own names in them; those for which it has none are left out. */
export function examplesOf(rule: VerbRule, view: HelpView): readonly string[] {
  const host = (view.hosts.find(({mode}) => mode === 'act') ?? view.hosts[0])?.name;
  const group = view.hosts.flatMap(({groups}) => groups)[0];
  return rule.forms
    .flatMap(({examples}) => examples)
    .filter((one) => (host !== undefined || !/\bHOST\b/.test(one)) && (group !== undefined || !/\bGROUP\b/.test(one)))
    .map((one) => (isDry(rule, view) && !one.includes('dry-run') ? `${one} dry-run` : one))
    .map((one) => `${view.command} ${one.replace(/\bHOST\b/, host ?? '').replace(/\bGROUP\b/, group ?? '')}`);
}

/** Nobody could give the go, so only a dry run comes to an end. */
function isDry(rule: VerbRule, view: HelpView): boolean {
  return ['no-act-host', 'no-approver'].includes(accessOf(rule, rule.forms[0], view));
}

function usualWords(usual: Usual, policy: Policy): string {
  if ('say' in usual) return usual.say;
  return `${span(policy.graceMs)}, ${span(policy.profilerGraceMs)} with a profiler or a report being written`;
}

function typed({name, kind, example, door}: OptionRule): string {
  const dashes = door === 'terminal' ? '--' : '';
  if (kind === 'flag') return dashes + name;
  return dashes === '' ? `${name}=${example}` : `${dashes}${name} ${example}`;
}

const OVERVIEW_WIDTH = 42;
const ARGUMENT_WIDTH = 24;

/** Beside each other on a wide screen, below each other on a narrow one; `width`: of the left side with its gap. */
function beside(width: number, left: string, right: string, columns: number): readonly string[] {
  if (columns < 80) return [...hanging(left, columns), ...indented(right, left.startsWith(' ') ? 5 : 3, columns)];
  const lines = wrapped(right, columns - width - 2).map((line) => ' '.repeat(width) + line.trimStart());
  const [first = '', ...more] = lines;
  return left.length < width - 1 ? [left.padEnd(width) + first.trimStart(), ...more] : [left, ...lines];
}

function hanging(text: string, columns: number): readonly string[] {
  return wrapped(text, columns - 1).map((line, nth) => (nth === 0 ? line : ` ${line}`));
}

function indented(text: string, by: number, columns: number): readonly string[] {
  return wrapped(text, columns - by).map((line) => ' '.repeat(by) + line.trimStart());
}
