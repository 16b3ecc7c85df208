/** Modals that ask for a reason. */
import type {types} from '@slack/bolt';
import {plain} from '../escape.ts';
import {CALLBACK} from '../ids.ts';
import {LIMITS} from '../limits.ts';
import type {ViewState} from '../view-state.ts';

const REASON = 'reason';

/** Break-glass: an approver alone, with a reason that everybody will read. */
export function breakGlassModal(host: string, metadata: string): types.ModalView {
  return reasonModal(CALLBACK.breakGlass, 'Go without a second', 'Go ahead', metadata, {
    label: `Why can ${plain(host, 60)} not wait for another approver?`,
    hint: 'Everybody in the channel will read it.',
    optional: false,
  });
}

/** "Leave it": nothing is signalled; a reason helps whoever asked. */
export function leaveModal(host: string, metadata: string): types.ModalView {
  return reasonModal(CALLBACK.leave, 'Leave it', 'Leave it', metadata, {
    label: `Why should ${plain(host, 60)} be left as it is?`,
    hint: 'Optional. It stands in the thread.',
    optional: true,
  });
}

/** The typed reason; null if none was typed. */
export function readReason(state: ViewState): string | null {
  const typed = state.values[REASON]?.[REASON]?.value?.trim() ?? '';
  return typed === '' ? null : typed;
}

function reasonModal(
  callbackId: string,
  title: string,
  submit: string,
  metadata: string,
  input: {readonly label: string; readonly hint: string; readonly optional: boolean},
): types.ModalView {
  return {
    type: 'modal',
    callback_id: callbackId,
    private_metadata: metadata,
    title: {type: 'plain_text', text: title},
    submit: {type: 'plain_text', text: submit},
    close: {type: 'plain_text', text: 'Back'},
    blocks: [
      {
        type: 'input',
        block_id: REASON,
        optional: input.optional,
        label: {type: 'plain_text', text: input.label},
        hint: {type: 'plain_text', text: input.hint},
        element: {
          type: 'plain_text_input',
          action_id: REASON,
          multiline: true,
          max_length: Math.min(500, LIMITS.input.textLength),
        },
      },
    ],
  };
}
