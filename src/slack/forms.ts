/** Forms: opened by a click while its trigger lasts, read when they are submitted. The rules are asked again at the submit. */
import type {types} from '@slack/bolt';
import {aboutRun, unknownRun} from './blocks/about-run.ts';
import {failureMessage} from './blocks/answers.ts';
import {formTooLate, unknownForm} from './blocks/refusals.ts';
import {readReason} from './blocks/small-modals.ts';
import {cardLink} from './card-link.ts';
import {readChoice} from './choice-state.ts';
import {decided} from './decided.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {readMetadata} from './form-metadata.ts';
import {refuseHere} from './gate.ts';
import {go} from './go.ts';
import {CALLBACK} from './ids.ts';
import type {ViewState} from './view-state.ts';

export interface Submission {
  readonly callbackId: string;
  readonly metadata: string;
  readonly state: ViewState;
}

/** A trigger lasts 3 s and once: too late, the person is asked to click again. */
export async function openForm(desk: Desk, asker: Asker, view: types.ModalView): Promise<void> {
  await openedForm(desk, asker, view);
}

/** The same for a form that is filled later; null: it could not be opened, and the person knows. */
export async function openedForm(
  desk: Desk,
  asker: Asker,
  view: types.ModalView,
): Promise<{readonly id: string} | null> {
  try {
    const opened = await desk.client.views.open({trigger_id: asker.triggerId, view});
    return {id: opened.view?.id ?? ''};
  } catch (error) {
    desk.log.warn({error: String(error)}, 'a form could not be opened');
    await answer(desk, asker, formTooLate());
    return null;
  }
}

/** The channel to answer in, before anything else of the form is believed. */
export function channelOf(submission: Submission): string | null {
  return readMetadata(submission.metadata)?.channel ?? readChoice(submission.metadata)?.channel ?? null;
}

export async function onSubmit(desk: Desk, asker: Asker, submission: Submission): Promise<void> {
  const metadata = readMetadata(submission.metadata);
  if (metadata === null) return answer(desk, asker, unknownRun(desk.command));
  const refused = refuseHere(desk, asker, false);
  if (refused !== null) return answer(desk, asker, refused);
  const run = await desk.store.load(metadata.runId);
  if (run === null) return answer(desk, asker, unknownRun(desk.command));
  const over = decided(run);
  if (over !== null) return answer(desk, asker, aboutRun(over, await cardLink(desk, run.id)));
  const who = await desk.people.identify(asker.user, asker.team);
  switch (submission.callbackId) {
    case CALLBACK.breakGlass: {
      const reason = readReason(submission.state);
      if (reason === null)
        return answer(desk, asker, failureMessage({reason: 'break-glass-needs-reason', person: asker.user}));
      return go(desk, asker, who, {run, digest: metadata.digest, choice: metadata.choice, reason});
    }
    case CALLBACK.leave: {
      const denied = await desk.engine.deny(run, who.person, readReason(submission.state));
      return denied.ok ? undefined : answer(desk, asker, aboutRun(denied.failure, await cardLink(desk, run.id)));
    }
    default:
      return answer(desk, asker, unknownForm());
  }
}
