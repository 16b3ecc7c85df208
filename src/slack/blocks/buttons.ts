/** The buttons of a root card. Each carries run and plan; those that signal are a verb with a number, and ask once more with the host. */
import type {types} from '@slack/bolt';
import {owedLooks} from '../../domain/later-look.ts';
import type {Plan} from '../../domain/plan.ts';
import type {Run} from '../../domain/run.ts';
import {outcomeOf, planOf} from '../../domain/run-state.ts';
import {plural, ranges, roughMemory, thousands} from '../../report/amounts.ts';
import {freesMiB} from '../../report/plan-card.ts';
import {graceWords} from '../../report/writing-words.ts';
import {plain} from '../escape.ts';
import {ACTION, type ActionId, buttonValue} from '../ids.ts';
import {LIMITS} from '../limits.ts';

/** For a run that waits: go, half a go, choose, leave. None where no plan waits. */
export function goButtons(run: Run): readonly types.ActionsBlock[] {
  const shown = planOf(run);
  if (shown === null) return [];
  const {plan, digest} = shown;
  const value = buttonValue({runId: run.id, digest});
  return [
    {
      type: 'actions',
      elements: [
        ...signalButtons(plan, value),
        {
          ...button(ACTION.choose, 'Choose…', value),
          accessibility_label: label(`Choose which processes on ${plan.host}; signals nothing`),
        },
        {
          ...button(ACTION.leave, 'Leave it', value),
          accessibility_label: label(`Leave ${plan.host} as it is; signals nothing`),
        },
      ],
    },
  ];
}

/** None where nobody would be signalled; no half a go where it would reach nobody. */
function signalButtons(plan: Plan, value: string): readonly types.Button[] {
  const count = plan.targets.length;
  if (count === 0) return [];
  const processes = plural(count, 'process', 'processes');
  const deaf = plan.targets.filter((target) => !target.takesTerm).length;
  const all = deaf === count && plan.stops.length === 0;
  const go = all ? `Kill -9 ${processes}` : `Terminate ${thousands(count)}, then kill -9`;
  const grace = graceWords(plan);
  const how = all
    ? 'kill -9 at once, since none of them takes SIGTERM'
    : `SIGTERM first${deafWords(deaf)}; kill -9 after ${grace}${grace.includes(',') ? ',' : ''} for those that are left`;
  return [
    {
      ...button(ACTION.terminateThenKill, go, value),
      style: 'danger',
      accessibility_label: label(`${go} on ${plan.host}${all ? '' : `: ${processes}`}`),
      confirm: confirm(
        `kill -9 ${processes} on ${plan.host}?`,
        `${scope(plan)}. ${how}. Nothing else is signalled.`,
        go,
        'danger',
      ),
    },
    ...(all
      ? []
      : [
          {
            ...button(ACTION.terminateOnly, `Terminate ${thousands(count - deaf)} only`, value),
            accessibility_label: label(`SIGTERM only: ${plural(count - deaf, 'process', 'processes')} on ${plan.host}`),
            confirm: confirm(
              `SIGTERM to ${plural(count - deaf, 'process', 'processes')} on ${plan.host}?`,
              `${scope(plan)}. SIGTERM only${deafWords(deaf)}; no kill -9 follows. Nothing else is signalled.`,
              `Terminate ${thousands(count - deaf)} only`,
              'primary',
            ),
          },
        ]),
  ];
}

/** For a run that works: anybody may stop it before its next signal. */
export function stopButton(run: Run): readonly types.ActionsBlock[] {
  const digest = planOf(run)?.digest ?? null;
  return [
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.stop, 'Stop', buttonValue({runId: run.id, digest})),
          accessibility_label: label(`Stop the run on ${run.host} before its next signal`),
        },
      ],
    },
  ];
}

/** For a run that is over: end the looks that are still owed, and ask for the same again where something was left undone. */
export function closedButtons(run: Run): readonly types.ActionsBlock[] {
  const value = buttonValue({runId: run.id, digest: null});
  const elements = [
    ...(owedLooks(run).length === 0
      ? []
      : [
          {
            ...button(ACTION.stopLooking, 'Stop looking', value),
            accessibility_label: label(`Look no more at ${run.host} for this run`),
          },
        ]),
    ...(asksAgain(run)
      ? [
          {
            ...button(ACTION.askAgain, 'Look again, new plan', value),
            accessibility_label: label(`The same request for ${run.host}: a new card, signals nothing`),
          },
        ]
      : []),
  ];
  return elements.length === 0 ? [] : [{type: 'actions', elements}];
}

/** Where a fresh look is the next step. */
function asksAgain(run: Run): boolean {
  switch (outcomeOf(run)?.word) {
    case 'stood-down':
    case 'expired':
    case 'interrupted':
    case 'failed':
    case 'unknown':
    case 'partly':
    case 'nothing-freed':
      return true;
    default:
      return false;
  }
}

export function button(actionId: ActionId, text: string, value: string): types.Button {
  return {type: 'button', action_id: actionId, text: {type: 'plain_text', text}, value};
}

export function label(text: string): string {
  return plain(text, LIMITS.button.accessibilityLabel);
}

/** "3 processes on gpu-07, GPU 0-3, ~378 GiB" */
function scope(plan: Plan): string {
  const uuids = new Set(plan.targets.flatMap((target) => target.gpuUuids));
  const indexes = plan.gpus.flatMap((gpu) => (uuids.has(gpu.gpuUuid) && gpu.index !== null ? [gpu.index] : []));
  const gpus = indexes.length === 0 ? '' : `, GPU ${ranges(indexes)}`;
  return `${plural(plan.targets.length, 'process', 'processes')} on ${plain(plan.host, 60)}${gpus}, ~${roughMemory(freesMiB(plan))}`;
}

function deafWords(deaf: number): string {
  return deaf === 0 ? '' : ` (${deaf} of them cannot take it)`;
}

function confirm(title: string, text: string, go: string, style: 'danger' | 'primary'): types.ConfirmationDialog {
  return {
    title: {type: 'plain_text', text: plain(title, LIMITS.confirm.title)},
    text: {type: 'plain_text', text: plain(text, LIMITS.confirm.text)},
    confirm: {type: 'plain_text', text: plain(go, LIMITS.confirm.confirm)},
    deny: {type: 'plain_text', text: 'Go back'},
    style,
  };
}
