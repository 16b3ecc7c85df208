/**
 * Submissions that Slack waits for: a refusal then stands in the form, and what was ticked stays ticked. Slack waits 3 s;
 * what takes longer is acked by a word that it goes on, and its end is shown in the form.
 */
import type {ViewResponseAction} from '@slack/bolt';
import {chooseEnd} from './blocks/choose-modal.ts';
import type {FormAnswer, OpenView} from './choosing.ts';
import type {Desk} from './desk.ts';

type Ack = (response?: ViewResponseAction) => Promise<unknown>;

/** Of the 3 s that Slack waits; the way there and back has the rest, ms. */
const PATIENCE_MS = 1_200;
/** A delivery that comes twice comes within minutes. */
const MOST_REMEMBERED = 100;

export interface FormAnswers {
  /** `key`: the same for every delivery of one press; all of them get the answer of the first. */
  give(key: string, ack: Ack, view: OpenView, act: () => Promise<FormAnswer>): Promise<void>;
}

export function makeFormAnswers(desk: Desk): FormAnswers {
  const given = new Map<string, Promise<FormAnswer>>();

  const firstOf = (key: string, view: OpenView, act: () => Promise<FormAnswer>): Promise<FormAnswer> => {
    const found = given.get(key);
    if (found !== undefined) return found;
    const answer = desk.work.during(act).catch((error: unknown): FormAnswer => {
      desk.log.error({key, error: error instanceof Error ? (error.stack ?? error.message) : String(error)}, 'failed');
      // Pressed again it is tried again.
      given.delete(key);
      const text =
        'Something went wrong on our side, and it is in the log. Nothing was changed; close this and try again.';
      return {as: 'update', view: chooseEnd(text, view.metadata)};
    });
    given.set(key, answer);
    if (given.size > MOST_REMEMBERED) given.delete(given.keys().next().value ?? '');
    return answer;
  };

  return {
    give: async (key, ack, view, act) => {
      // On a socket that is gone the work goes on all the same: pressed again, the form gets the same answer.
      const tell = (response?: ViewResponseAction) =>
        ack(response).catch((error: unknown) => desk.log.warn({error: String(error)}, 'an ack did not reach Slack'));
      const answer = firstOf(key, view, act);
      const patience = new AbortController();
      const late = desk.clock.wait(PATIENCE_MS, patience.signal).then(() => null);
      const first = await Promise.race([answer, late]);
      patience.abort();
      if (first !== null) {
        await tell(inSlack(first));
        return;
      }
      await tell({response_action: 'update', view: chooseEnd('Making this the plan…', view.metadata)});
      desk.work.start('form', async () => {
        const end = endOf(await answer, view);
        await desk.client.views
          .update({view_id: view.id, view: end})
          .catch((error: unknown) => desk.log.info({error: String(error)}, 'a form was not shown any more'));
      });
    },
  };
}

function inSlack(answer: FormAnswer): ViewResponseAction | undefined {
  switch (answer.as) {
    case 'close':
      return undefined;
    case 'errors':
      return {response_action: 'errors', errors: {...answer.errors}};
    case 'update':
      return {response_action: 'update', view: answer.view};
  }
}

function endOf(answer: FormAnswer, view: OpenView) {
  switch (answer.as) {
    case 'close':
      return chooseEnd('This is the plan now; it waits for a go on the card.', view.metadata);
    case 'errors':
      return chooseEnd(`${Object.values(answer.errors).join('\n')} Nothing was changed.`, view.metadata);
    case 'update':
      return answer.view;
  }
}
