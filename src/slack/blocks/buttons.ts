/** The buttons of a root card. Each carries run and plan; the two that signal ask once more, with verb, number and host. */
import type {types} from '@slack/bolt';
import {owedLooks} from '../../domain/later-look.ts';
import type {Plan} from '../../domain/plan.ts';
import type {Run} from '../../domain/run.ts';
import {planOf} from '../../domain/run-state.ts';
import {plural, ranges, roughMemory} from '../../report/amounts.ts';
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
  const processes = plural(plan.targets.length, 'process', 'processes');
  return [
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.terminateThenKill, 'Terminate, then kill -9', value),
          style: 'danger',
          accessibility_label: label(`Terminate, then kill -9: ${processes} on ${plan.host}`),
          confirm: confirm(
            `kill -9 ${processes} on ${plan.host}?`,
            `${scope(plan)}. SIGTERM first${deafWords(plan)}; kill -9 after ${graceWords(plan)} for those that are left. Nothing else is signalled.`,
            'Terminate, then kill -9',
            'danger',
          ),
        },
        {
          ...button(ACTION.terminateOnly, 'Terminate only', value),
          accessibility_label: label(`SIGTERM only: ${processes} on ${plan.host}`),
          confirm: confirm(
            `SIGTERM to ${processes} on ${plan.host}?`,
            `${scope(plan)}. SIGTERM only${deafWords(plan)}; no kill -9 follows. Nothing else is signalled.`,
            'Terminate only',
            'primary',
          ),
        },
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

/** For a closed run whose host is looked at again. */
export function stopLookingButton(run: Run): readonly types.ActionsBlock[] {
  if (owedLooks(run).length === 0) return [];
  return [
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.stopLooking, 'Stop looking', buttonValue({runId: run.id, digest: null})),
          accessibility_label: label(`Look no more at ${run.host} for this run`),
        },
      ],
    },
  ];
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

function deafWords(plan: Plan): string {
  const deaf = plan.targets.filter((target) => !target.takesTerm).length;
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
