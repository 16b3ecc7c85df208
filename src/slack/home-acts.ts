/** Buttons on App Home and what its forms set going. Each opens a form, looks, or opens an ordinary card; none gives a go. */
import type {types} from '@slack/bolt';
import {readHost} from '../domain/grammar/host-words.ts';
import {failureMessage, sentence} from './blocks/answers.ts';
import {
  answerModal,
  diagnoseModal,
  FIELD,
  planningModal,
  proposeModal,
  reportModal,
  typedIn,
} from './blocks/home-modals.ts';
import {diagnosisMessage} from './blocks/host-answers.ts';
import {addedMessage} from './blocks/report-message.ts';
import type {Click} from './clicks.ts';
import {onClick} from './clicks.ts';
import {helpFor} from './commands.ts';
import {type Asker, answer, cardChannel, type Desk} from './desk.ts';
import {openForm} from './forms.ts';
import {refuseHere} from './gate.ts';
import type {Homes} from './home.ts';
import {requestIn, scheduleIn} from './home-forms.ts';
import {ACTION, CALLBACK, readProposeValue} from './ids.ts';
import {askForPlan} from './reclaim.ts';
import {readDraft, writeDraft} from './report-draft.ts';
import type {ViewState} from './view-state.ts';

/** A trigger lasts 3 s: a profile that is slow to come must not cost the form. */
const ZONE_MS = 1_500;

/** `form`: the id of the open form that was clicked in; null: the tab itself. */
export async function onHomeClick(
  desk: Desk,
  homes: Homes,
  asker: Asker,
  click: Click & {readonly form: string | null},
): Promise<void> {
  const refused = refuseHere(desk, asker, true);
  if (refused !== null) return answer(desk, asker, refused);
  const hosts = [...desk.hosts.values()];
  switch (click.actionId) {
    case ACTION.homeLook:
      return homes.lookNow(asker.user);
    case ACTION.homeDiagnose:
      return openForm(desk, asker, diagnoseModal(hosts));
    case ACTION.homePropose:
      return openForm(desk, asker, proposeModal(hosts, cardChannel(desk, asker)));
    case ACTION.homeReport: {
      const channel = cardChannel(desk, asker);
      const zone = (await soon(desk, desk.zones.of(asker.user))) ?? 'UTC';
      const draft = writeDraft({hosts: [], when: '', zone, channel, quiet: true});
      return openForm(desk, asker, reportModal(hosts, zone, channel, draft ?? ''));
    }
    case ACTION.homeHelp: {
      const who = await desk.people.identify(asker.user, asker.team);
      return openForm(desk, asker, answerModal('Help', helpFor(desk, who, {channel: cardChannel(desk, asker)}, null)));
    }
    default: {
      // Those that stand on messages too: they mean the same here.
      if (click.form === null) return onClick(desk, asker, click);
      const host = click.actionId === ACTION.propose ? readProposeValue(click.value)?.host : undefined;
      if (host !== undefined) await shown(desk, click.form, planningModal(host)).catch(() => undefined);
      return onClick(desk, answeredIn(desk, asker, click.form, 'Reclaim'), click);
    }
  }
}

export async function onHomeForm(
  desk: Desk,
  asker: Asker,
  form: {readonly callbackId: string; readonly metadata: string; readonly state: ViewState; readonly viewId: string},
): Promise<void> {
  const refused = refuseHere(desk, asker, true);
  if (refused !== null) return answer(desk, asker, refused);
  const who = await desk.people.identify(asker.user, asker.team);
  switch (form.callbackId) {
    case CALLBACK.homeDiagnose: {
      const host = readHost(typedIn(form.state, FIELD.host), [...desk.hosts.keys()]);
      const look = host.ok ? await desk.engine.diagnose(host.value) : host;
      const said = look.ok ? diagnosisMessage(look.value.diagnosis) : failureMessage(look.failure);
      return answer(desk, answeredIn(desk, asker, form.viewId, 'Diagnosis'), said);
    }
    case CALLBACK.homePropose: {
      const request = requestIn(desk, who.person, form.state);
      if (!request.ok) return answer(desk, asker, failureMessage(request.failure));
      return askForPlan(desk, answeredIn(desk, asker, form.viewId, 'Reclaim'), who, request.value);
    }
    case CALLBACK.homeReportSure: {
      const draft = readDraft(form.metadata);
      if (draft === null)
        return answer(desk, asker, sentence('This form is not known to the bot any more; nothing was added.'));
      const asked = scheduleIn(desk, asker.user, draft);
      const added = asked.ok ? await desk.engine.addSchedule(asked.value) : asked;
      if (!added.ok) return answer(desk, asker, failureMessage(added.failure));
      // The tab shows it; which process it waits for was not to be seen before.
      if (added.value.watch?.kind !== 'exit') return;
      return answer(desk, asker, addedMessage(added.value, desk.command, `<#${draft.channel}>`, null));
    }
  }
}

/** Whose answers go into the form that waits for them; once it is closed, into their conversation with the bot. */
function answeredIn(desk: Desk, asker: Asker, viewId: string, title: string): Asker {
  return {...asker, respond: (message) => shown(desk, viewId, answerModal(title, message))};
}

async function shown(desk: Desk, viewId: string, view: types.ModalView): Promise<void> {
  await desk.client.views.update({view_id: viewId, view});
}

async function soon<T>(desk: Desk, coming: Promise<T | null>): Promise<T | null> {
  const over = new AbortController();
  try {
    return await Promise.race([coming, desk.clock.wait(ZONE_MS, over.signal).then(() => null)]);
  } finally {
    over.abort();
  }
}
