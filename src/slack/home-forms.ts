/**
 * Forms of App Home. What is wrong in one is said in it, so its answer goes with the ack: read from what was typed alone,
 * without asking anybody, since Slack waits three seconds.
 */
import type {types} from '@slack/bolt';
import type {Failure, Result} from '../domain/failure.ts';
import {ok} from '../domain/failure.ts';
import {readHost} from '../domain/grammar/host-words.ts';
import {type Person, personId} from '../domain/person.ts';
import {readChoices, readReport} from '../domain/report-words.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {NewSchedule} from '../domain/schedule.ts';
import {readWhen} from '../domain/schedule-words.ts';
import {readReclaim} from '../domain/words.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {
  chosenHostWords,
  FIELD,
  type Field,
  isQuiet,
  lookingModal,
  planningModal,
  reportSureModal,
  typedIn,
} from './blocks/home-modals.ts';
import {slackWords} from './blocks/slack-words.ts';
import type {Desk} from './desk.ts';
import {plain} from './escape.ts';
import {CALLBACK} from './ids.ts';
import {type ReportDraft, readDraft, writeDraft} from './report-draft.ts';
import {wordsOf} from './typed-text.ts';
import type {ViewState} from './view-state.ts';

export interface HomeForm {
  readonly callbackId: string;
  readonly metadata: string;
  readonly state: ViewState;
}

export interface FormAnswer {
  /** Goes with the ack; null: the form closes. */
  readonly shown:
    | {readonly response_action: 'errors'; readonly errors: Record<string, string>}
    | {readonly response_action: 'update' | 'push'; readonly view: types.ModalView}
    | {readonly response_action: 'clear'}
    | null;
  /** What follows it. `nothing`: the form says what is wrong, or what it would mean, and asks again. */
  readonly next: 'work' | 'nothing';
}

const HOME_FORMS: readonly string[] = [
  CALLBACK.homeDiagnose,
  CALLBACK.homePropose,
  CALLBACK.homeReport,
  CALLBACK.homeReportSure,
  CALLBACK.homeAnswer,
];

export function isHomeForm(callbackId: string): boolean {
  return HOME_FORMS.includes(callbackId);
}

export function formAnswer(desk: Desk, user: string, form: HomeForm): FormAnswer {
  switch (form.callbackId) {
    case CALLBACK.homeDiagnose: {
      const host = readHost(typedIn(form.state, FIELD.host), [...desk.hosts.keys()]);
      return host.ok
        ? {shown: {response_action: 'update', view: lookingModal(host.value)}, next: 'work'}
        : wrong(FIELD.host, host.failure);
    }
    case CALLBACK.homePropose: {
      const request = requestIn(desk, {kind: 'slack-user', id: user, team: desk.team(), groups: []}, form.state);
      return request.ok
        ? {shown: {response_action: 'update', view: planningModal(request.value.host)}, next: 'work'}
        : wrong(fieldOf(request.failure), request.failure);
    }
    case CALLBACK.homeReport:
      return checkReport(desk, user, form);
    case CALLBACK.homeReportSure:
      return {shown: {response_action: 'clear'}, next: 'work'};
    default:
      return {shown: null, next: 'work'};
  }
}

/** As if it had been typed: the same words, the same rules. */
export function requestIn(desk: Desk, person: Person, state: ViewState): Result<ReclaimRequest> {
  const words = [
    typedIn(state, FIELD.host),
    ...(['gpus', 'match', 'user', 'reason'] as const).flatMap((field) => {
      const typed = wordsOf(typedIn(state, FIELD[field])).join(' ');
      return typed === '' ? [] : [`${field}=${typed}`];
    }),
  ];
  return readReclaim(words, [...desk.hosts.values()], person);
}

/** What the draft asks for, read anew; whatever was shown before, the rules are asked at the end. */
export function scheduleIn(desk: Desk, user: string, draft: ReportDraft): Result<NewSchedule> {
  const read = readReport(
    [...draft.hosts, ...wordsOf(draft.when), draft.quiet ? 'quiet' : 'loud'],
    [...desk.hosts.values()],
  );
  if (!read.ok) return read;
  const {hosts, when, zone, quiet} = read.value;
  return ok({
    hosts,
    when: when ?? {kind: 'now'},
    zone: zone ?? draft.zone,
    channel: draft.channel,
    quiet,
    by: personId({kind: 'slack-user', id: user, team: desk.team(), groups: []}),
  });
}

function checkReport(desk: Desk, user: string, form: HomeForm): FormAnswer {
  const before = readDraft(form.metadata);
  const hosts = chosenHostWords(form.state);
  const known = readChoices(hosts, [...desk.hosts.values()]);
  if (!known.ok) return wrong(FIELD.hosts, known.failure);
  const typed = typedIn(form.state, FIELD.when);
  const when = readWhen(wordsOf(typed));
  if (!when.ok) return wrong(FIELD.when, when.failure);
  const draft: ReportDraft = {
    hosts,
    when: typed,
    zone: before?.zone ?? 'UTC',
    channel: typedIn(form.state, FIELD.channel) || (desk.channels[0] ?? ''),
    quiet: isQuiet(form.state),
  };
  const asked = scheduleIn(desk, user, draft);
  if (!asked.ok) return wrong(FIELD.when, asked.failure);
  const times = desk.engine.previewSchedule(asked.value);
  if (!times.ok) return wrong(FIELD.when, times.failure);
  const metadata = writeDraft(draft);
  if (metadata === null) return said(FIELD.hosts, 'Too many to carry: choose a group, or all.');
  const view = reportSureModal(asked.value, times.value, metadata);
  // On top of the form, so that one may go back and mend it.
  return {shown: {response_action: 'push', view}, next: 'nothing'};
}

function wrong(field: Field, failure: Failure): FormAnswer {
  return said(field, plain(slackWords(failureSentence(failure)), 300));
}

function said(field: Field, sentence: string): FormAnswer {
  return {shown: {response_action: 'errors', errors: {[field]: sentence}}, next: 'nothing'};
}

function fieldOf(failure: Failure): Field {
  const named = 'argument' in failure ? failure.argument : '';
  return Object.values(FIELD).find((field) => field === named) ?? FIELD.host;
}
