/** "Choose…": the waiting plan as ticks, with evidence, and locks with their reasons. */
import type {types} from '@slack/bolt';
import type {Kept, Plan, Target} from '../../domain/plan.ts';
import type {Run} from '../../domain/run.ts';
import {planOf} from '../../domain/run-state.ts';
import {plural, span, thousands} from '../../report/amounts.ts';
import {evidenceEntry} from '../../report/plan-evidence.ts';
import {FINDING_WORD, KEPT_WORD} from '../../report/wording.ts';
import {gpuWords, whose, workloadName, workloadsOf} from '../../report/workload-words.ts';
import {type Entry, moreLine, shortened} from '../../report/wrapped.ts';
import {mrkdwn, plain} from '../escape.ts';
import {CALLBACK} from '../ids.ts';
import {LIMITS} from '../limits.ts';
import {codeSections, section} from './message.ts';

/** What a submitted view says of its inputs, as Slack sends it. */
export interface ViewState {
  readonly values: Readonly<Record<string, Readonly<Record<string, InputState>>>>;
}

export interface InputState {
  readonly selected_options?: readonly {readonly value?: string | undefined}[] | undefined;
  readonly selected_option?: {readonly value?: string | undefined} | null | undefined;
  readonly selected_conversation?: string | null | undefined;
  readonly value?: string | null | undefined;
}

/** A ticked process: its whole identity, and the version of the plan that it was ticked in. */
export interface Ticked {
  readonly planVersion: number;
  readonly pid: number;
  readonly startTicks: string;
  readonly uid: number;
  readonly executable: string;
}

/** A form with more is nobody's to read; the rest is counted, and named by `pid=` in the command. */
const MOST_OPTIONS = 100;
const EVIDENCE_LINES_PER_GROUP = 40;
const LOCKED_LINES = 40;
const TICKS = 'ticks';

type Choosable = Target | Kept;

/** `metadata` comes back with the submission, at most 3,000 characters. */
export function chooseModal(run: Run, metadata: string): types.ModalView {
  const plan = planOf(run)?.plan ?? null;
  const choosable = plan === null ? [] : choosableOf(plan);
  return {
    type: 'modal',
    callback_id: CALLBACK.choose,
    private_metadata: metadata,
    title: {type: 'plain_text', text: 'Choose processes'},
    close: {type: 'plain_text', text: 'Back'},
    ...(choosable.length === 0 ? {} : {submit: {type: 'plain_text', text: 'Make this the plan'}}),
    blocks: plan === null ? [section('No plan waits here.')] : formOf(plan, choosable),
  };
}

/** PIDs that are ticked, in any group. Values that no option of ours ever had are left out. */
export function readChoice(state: ViewState): readonly number[] {
  return readTicks(state).map((one) => one.pid);
}

/** The same with everything that an option carries. */
export function readTicks(state: ViewState): readonly Ticked[] {
  return Object.entries(state.values)
    .filter(([block]) => block.startsWith(TICKS))
    .flatMap(([, inputs]) => Object.values(inputs))
    .flatMap((input) => input.selected_options ?? [])
    .flatMap((option) => readTick(option.value ?? ''));
}

function readTick(value: string): readonly Ticked[] {
  const [, pid, startTicks, uid, executable, version] =
    /^(\d{1,10}):(\d{1,20}):(\d{1,10}):([\d:]{1,60}):v(\d{1,6})$/.exec(value) ?? [];
  if (pid === undefined || startTicks === undefined || executable === undefined) return [];
  return [{planVersion: Number(version), pid: Number(pid), startTicks, uid: Number(uid), executable}];
}

function formOf(plan: Plan, choosable: readonly Choosable[]): types.KnownBlock[] {
  const shown = choosable.slice(0, MOST_OPTIONS);
  const rest = choosable.slice(MOST_OPTIONS);
  const lockedOnes = plan.kept.filter((one) => !one.choosable || one.identity === null);
  const locked = lockedOnes.map((one) => evidenceEntry(one, plan));
  return [
    section(
      `*${mrkdwn(plan.host, 100)}*, version ${plan.version} of the plan. What is ticked would be signalled after a new go; nothing is signalled by this form.`,
    ),
    ...(shown.length === 0
      ? [section('Nobody can be chosen here.')]
      : groupsOf(shown).flatMap((group, at) => groupBlocks(group, at, plan))),
    ...(rest.length === 0
      ? []
      : [
          section(
            `${mrkdwn(moreLine(rest.map((one) => ({MiB: one.chargedMiB}))))}: not listed here, and left out of a plan that is chosen here. Name them with pid= in a new command.`,
          ),
        ]),
    ...(locked.length === 0
      ? []
      : [
          section(`*Locked*: ${plural(locked.length, 'process', 'processes')}`),
          ...codeSections(shortened(locked, LOCKED_LINES)),
        ]),
  ];
}

/** Targets first: they are what is ticked. Workload by workload, as the card has them. */
function choosableOf(plan: Plan): readonly Choosable[] {
  return [
    ...workloadsOf(plan.targets).flatMap((workload) => workload.targets),
    ...plan.kept.filter((one) => one.choosable && one.identity !== null),
  ];
}

function groupsOf(shown: readonly Choosable[]): readonly (readonly Choosable[])[] {
  const groups: (readonly Choosable[])[] = [];
  for (let at = 0; at < shown.length; at += LIMITS.checkboxes) groups.push(shown.slice(at, at + LIMITS.checkboxes));
  return groups;
}

function groupBlocks(group: readonly Choosable[], at: number, plan: Plan): types.KnownBlock[] {
  const options = group.map((one) => optionOf(one, plan));
  const ticked = options.filter((_, index) => isTarget(group[index]));
  const first = at * LIMITS.checkboxes + 1;
  const evidence: readonly Entry[] = group.map((one) => evidenceEntry(one, plan));
  return [
    {
      type: 'input',
      // A new version is a new form: Slack would keep the ticks of the old one.
      block_id: `${TICKS}_${plan.version}_${at}`,
      optional: true,
      label: {type: 'plain_text', text: plain(groupLabel(group, first, plan), LIMITS.input.label)},
      element: {
        type: 'checkboxes',
        action_id: TICKS,
        options,
        ...(ticked.length === 0 ? {} : {initial_options: ticked}),
      },
    },
    ...codeSections(shortened(evidence, EVIDENCE_LINES_PER_GROUP)),
  ];
}

/** "Processes 1 to 10: vLLM, 1 server + 8 workers": the workloads that stand in this group, whole or in part. */
function groupLabel(group: readonly Choosable[], first: number, plan: Plan): string {
  const names = workloadsOf(plan.targets)
    .filter((workload) => workload.as === 'family' && workload.targets.some((target) => group.includes(target)))
    .map(workloadName);
  return `Processes ${first} to ${first + group.length - 1}${names.length === 0 ? '' : `: ${names.join('; ')}`}`;
}

function optionOf(one: Choosable, plan: Plan): types.PlainTextOption {
  const pid = isTarget(one) ? one.identity.pid : one.pid;
  const what = isTarget(one)
    ? one.findings
        .slice(0, 2)
        .map((kind) => FINDING_WORD[kind])
        .join(', ')
    : KEPT_WORD[one.why];
  const gpus = gpuWords(one.gpuUuids, plan);
  const memory = one.chargedMiB === null ? '' : `${thousands(one.chargedMiB)} MiB`;
  const facts = [`${gpus} ${memory}`.trim(), whose(one.ownership), `up ${span(one.ageMs)}`].filter(
    (part) => part !== '',
  );
  return {
    text: {type: 'plain_text', text: plain(`PID ${pid} ${one.name} · ${what}`, LIMITS.option.text)},
    description: {type: 'plain_text', text: plain(facts.join(' · '), LIMITS.option.description)},
    value: carriedBy(one, plan),
  };
}

function carriedBy(one: Choosable, plan: Plan): string {
  const {identity} = one;
  if (identity === null) throw new Error('Internal error: an option without identity');
  const value = `${identity.pid}:${identity.startTicks}:${identity.uid}:${identity.executable}:v${plan.version}`;
  return [...value].slice(0, LIMITS.option.value).join('');
}

function isTarget(one: Choosable | undefined): one is Target {
  return one !== undefined && 'role' in one;
}
