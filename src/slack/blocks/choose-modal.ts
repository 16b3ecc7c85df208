/** "Choose…": the waiting plan as ticks, with evidence, and locks with their reasons. */
import type {types} from '@slack/bolt';
import type {Run} from '../../domain/run.ts';
import {CALLBACK} from '../ids.ts';
import {section} from './message.ts';

/** What a submitted view says of its inputs, as Slack sends it. */
export interface ViewState {
  readonly values: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly selected_options?: readonly {readonly value?: string | undefined}[] | undefined;
            readonly value?: string | null | undefined;
          }
        >
      >
    >
  >;
}

/** `metadata` comes back with the submission, at most 3,000 characters. */
export function chooseModal(run: Run, metadata: string): types.ModalView {
  return {
    type: 'modal',
    callback_id: CALLBACK.choose,
    private_metadata: metadata,
    title: {type: 'plain_text', text: 'Choose processes'},
    blocks: [section(run.host)],
  };
}

/** PIDs that are ticked. */
export function readChoice(_state: ViewState): readonly number[] {
  return [];
}
