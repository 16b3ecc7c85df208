/**
 * The form behind "Choose…": opened at once, filled after a fresh look, turned page by page, and submitted. Whatever
 * happens to the plan meanwhile is one sentence in the form; a form that was closed loses nothing.
 */
import type {types} from '@slack/bolt';
import {approverName, isApprover} from '../domain/authority.ts';
import {type Failure, fail, type Result} from '../domain/failure.ts';
import {choosableIn} from '../domain/offer.ts';
import {isSamePerson, personId} from '../domain/person.ts';
import type {Plan} from '../domain/plan.ts';
import type {ProcessIdentity} from '../domain/process.ts';
import type {Run} from '../domain/run.ts';
import {planOf, requestOf} from '../domain/run-state.ts';
import type {KeptOffer} from '../engine/offer-ports.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {troubleOf} from './api-errors.ts';
import {aboutRun, unknownRun} from './blocks/about-run.ts';
import {blockOf, type ChooseForm, chooseEnd, chooseModal, lookingModal} from './blocks/choose-modal.ts';
import {gpuIn, ownerIn} from './blocks/choose-narrow.ts';
import {choicePage} from './blocks/choose-page.ts';
import {failureText} from './blocks/failure-text.ts';
import {slackWords} from './blocks/slack-words.ts';
import {cardLink} from './card-link.ts';
import {
  type ChoiceState,
  EVERYBODY,
  identitiesAt,
  placesIn,
  readChoice,
  readFind,
  readTicks,
  SHOWN,
  withPage,
  writeChoice,
} from './choice-state.ts';
import {decided} from './decided.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {plain} from './escape.ts';
import {openedForm} from './forms.ts';
import {refusal, refuseHere} from './gate.ts';
import {ACTION} from './ids.ts';
import type {Identified} from './people.ts';
import type {ViewState} from './view-state.ts';

/** A view that is open before somebody. */
export interface OpenView {
  readonly id: string;
  readonly hash: string;
  readonly metadata: string;
  readonly state: ViewState;
}

/** What somebody pressed in it: an action of ours, and its value or chosen option. */
export interface Turn {
  readonly view: OpenView;
  readonly actionId: string;
  readonly value: string;
}

/** What a submitted form is answered. */
export type FormAnswer =
  | {readonly as: 'close'}
  /** Beside these blocks; the form stays as it is, ticks and all. */
  | {readonly as: 'errors'; readonly errors: Readonly<Record<string, string>>}
  | {readonly as: 'update'; readonly view: types.ModalView};

/** It changes what others are asked to approve: the business of who asked, and of who may go. */
export function mayNotChoose(desk: Desk, run: Run, {person}: Identified): Failure | null {
  if (isSamePerson(person, requestOf(run).requester, desk.policy.samePerson) || isApprover(person, desk.policy))
    return null;
  // A drill is everybody's, as its go is.
  if (requestOf(run).practice === true && desk.hosts.get(run.host)?.practice === true) return null;
  return {reason: 'not-an-approver', person: personId(person), approvers: desk.policy.approvers.map(approverName)};
}

/** The trigger lasts 3 s and a look may take longer: first the form, then the look. */
export async function openChoice(desk: Desk, asker: Asker, who: Identified, run: Run): Promise<void> {
  const refused = mayNotChoose(desk, run, who);
  if (refused !== null) {
    for (const message of refusal(refused, who, await cardLink(desk, run.id))) await answer(desk, asker, message);
    return;
  }
  const state = startOf(run, asker.channel);
  const view = await openedForm(desk, asker, lookingModal(run.host, writeChoice(state)));
  if (view !== null) await fill(desk, view, run, state, null);
}

/** A page, a filter, a whole workload, or another look. What is ticked on the page travels along. */
export async function turnChoice(desk: Desk, asker: Asker, {view, actionId, value}: Turn): Promise<void> {
  const read = await formOf(desk, asker, view);
  if ('end' in read) return show(desk, view, read.end);
  const {run, form, shown} = read;
  const {offer, was} = form;
  const {ticks} = withPage(form.state, offer.plan, shown, readTicks(view.state));
  const state: ChoiceState = {...form.state, ticks, turn: form.state.turn + 1};
  if (actionId === ACTION.chooseLook) {
    const identities = identitiesAt(offer.plan, ticks);
    await show(desk, view, lookingModal(run.host, writeChoice(state), ' Your ticks are kept.'));
    return fill(desk, {id: view.id}, run, state, identities);
  }
  await show(desk, view, chooseModal({offer, was, state: turned(form, state, {view, actionId, value}), problem: null}));
}

/** Makes the next version of the plan, which the card then shows; it waits for a go like the one before. */
export async function submitChoice(desk: Desk, asker: Asker, view: OpenView): Promise<FormAnswer> {
  const read = await formOf(desk, asker, view);
  if ('end' in read) return {as: 'update', view: read.end};
  const {run, who, form, shown} = read;
  const {offer} = form;
  const {ticks, strays} = withPage(form.state, offer.plan, shown, readTicks(view.state));
  const [stray] = strays;
  const chosen: Result<unknown> =
    stray === undefined
      ? await desk.engine.choose({
          run,
          digest: offer.basedOn,
          person: who.person,
          ticked: identitiesAt(offer.plan, ticks),
          offer: offer.id,
        })
      : fail({reason: 'choice-refused', runId: run.id, pid: stray.pid, why: 'not-offered'});
  if (chosen.ok) return {as: 'close'};
  const {failure} = chosen;
  const over = decided((await desk.store.load(run.id)) ?? run);
  if (over !== null) return {as: 'update', view: chooseEnd(await said(desk, over, run), view.metadata)};
  // Two who submit at once: the run has changed under the second.
  const outdated = failure.reason === 'plan-outdated' || failure.reason === 'run-ended';
  const block = blockOf(form, 'pid' in failure ? failure.pid : null);
  const stays = !outdated && failure.reason !== 'approval-expired' && block !== null;
  // Ticks stay as they stand there, and the sentence stands beside them.
  if (stays) return {as: 'errors', errors: {[block]: plain(slackWords(failureSentence(failure)), 300)}};
  const state = {...form.state, ticks, turn: form.state.turn + 1};
  const problem = outdated ? OUTDATED : failureText(failure, 400);
  return {as: 'update', view: chooseModal({...form, state, problem})};
}

const OUTDATED =
  'Another version of this plan waits by now, so nothing was changed. *Look again* shows it and keeps your ticks.';

/** A failure that ends the form, with the way to the card. */
async function said(desk: Desk, failure: Failure, run: Run): Promise<string> {
  return aboutRun(failure, await cardLink(desk, run.id)).text;
}

interface ReadForm {
  readonly run: Run;
  readonly who: Identified;
  readonly form: ChooseForm & {readonly offer: KeptOffer};
  readonly shown: readonly number[];
}

/** All that an open form stands on, asked again at each of its turns; `end`: what stands in it instead. */
async function formOf(desk: Desk, asker: Asker, view: OpenView): Promise<ReadForm | {readonly end: types.ModalView}> {
  const end = (text: string) => ({end: chooseEnd(text, view.metadata)});
  const state = readChoice(view.metadata);
  if (state === null) return end(unknownRun(desk.command).text);
  const refused = refuseHere(desk, asker, false);
  if (refused !== null) return end(refused.text);
  const run = await desk.store.load(state.runId);
  if (run === null) return end(unknownRun(desk.command).text);
  const over = decided(run);
  if (over !== null) return end(await said(desk, over, run));
  const who = await desk.people.identify(asker.user, asker.team);
  const stranger = mayNotChoose(desk, run, who);
  if (stranger !== null)
    return end(
      refusal(stranger, who)
        .map((message) => message.text)
        .join('\n'),
    );
  const found = await desk.engine.offerOf(state.offer);
  if (!found.ok) return end(failureText(found.failure));
  const offer = found.value;
  const was = offer === null ? null : planBehind(run, offer);
  if (offer === null || was === null)
    return end('What this form showed is not kept any more; nothing was done. Press "Choose…" on the card again.');
  const {shown} = choicePage(offer, was, state);
  return {run, who, form: {offer, was, state, problem: null}, shown};
}

/** Looks again and fills the form. `carried`: who was ticked in it before; null: who is ticked on the card. */
async function fill(
  desk: Desk,
  view: {readonly id: string},
  run: Run,
  state: ChoiceState,
  carried: readonly ProcessIdentity[] | null,
): Promise<void> {
  const metadata = writeChoice(state);
  // Another version may wait by now: that one is looked at.
  const now = (await desk.store.load(run.id)) ?? run;
  const made = await desk.engine.offer(now);
  if (!made.ok) {
    const over = decided((await desk.store.load(run.id)) ?? now);
    return show(desk, view, chooseEnd(await said(desk, over ?? made.failure, run), metadata));
  }
  const offer = made.value;
  const was = planBehind((await desk.store.load(run.id)) ?? now, offer);
  if (was === null) throw new Error(`Internal error: an offer for run ${run.id} without its plan`);
  const ticks = carried === null ? targetsIn(offer) : placesIn(offer.plan, carried);
  const lost = (carried ?? []).length - (carried === null ? 0 : ticks.size);
  const filled = {...state, offer: offer.id, ticks, listed: ticks, page: 0, turn: state.turn + 1};
  const problem = lost > 0 ? `${lost} that you had ticked ${lost === 1 ? 'is' : 'are'} not there any more.` : null;
  return show(desk, view, chooseModal({offer, was, state: filled, problem}));
}

/** With `hash`: only if nobody has changed the view since; the newest press wins. */
async function show(
  desk: Desk,
  {id, hash}: {readonly id: string; readonly hash?: string},
  view: types.ModalView,
): Promise<void> {
  try {
    await desk.client.views.update({
      view_id: id,
      ...(hash === undefined ? {} : {hash}),
      view: desk.names.dressForm(view),
    });
  } catch (error) {
    // Closed meanwhile, or pressed twice: what was decided stands elsewhere, and nothing was decided here.
    desk.log.info({view: id, trouble: troubleOf(error)}, 'a form was not shown any more');
  }
}

function turned({offer, was}: ChooseForm, state: ChoiceState, {view, actionId, value}: Turn): ChoiceState {
  const narrowed = (change: Partial<ChoiceState>): ChoiceState => ({...state, ...change, listed: state.ticks, page: 0});
  const typed = readFind(view.state) ?? state.text;
  switch (actionId) {
    case ACTION.chooseGpu:
      return narrowed({gpu: gpuIn(value), text: typed});
    case ACTION.chooseOwner:
      return narrowed({owner: ownerIn(offer, value), text: typed});
    case ACTION.chooseShow:
      return narrowed({show: SHOWN.find((one) => one === value) ?? 'all', text: typed});
    case ACTION.chooseClear:
      return narrowed({...EVERYBODY, resets: state.resets + 1});
    case ACTION.chooseWhole:
      return {...state, ticks: withWhole({offer, was, state, problem: null}, value)};
    case ACTION.chooseBack:
    case ACTION.chooseNext: {
      if (typed !== state.text) return narrowed({text: typed});
      const {page} = choicePage(offer, was, state);
      return {...state, page: Math.max(0, page + (actionId === ACTION.chooseNext ? 1 : -1))};
    }
    default:
      return narrowed({text: typed});
  }
}

/** "tick:12": all listed members of the workload whose first member is at place 12. */
function withWhole({offer, was, state}: ChooseForm, value: string): ReadonlySet<number> {
  const [, how, first] = /^(tick|untick):(\d{1,5})$/.exec(value) ?? [];
  const {chunks} = choicePage(offer, was, state);
  const whole = chunks.find((chunk) => chunk.whole !== null && chunk.group.members[0] === Number(first))?.whole ?? [];
  const rest = [...state.ticks].filter((at) => !whole.includes(at));
  return new Set(how === 'tick' ? [...rest, ...whole] : how === 'untick' ? rest : state.ticks);
}

function startOf(run: Run, channel: string): ChoiceState {
  const none: ReadonlySet<number> = new Set();
  return {...EVERYBODY, runId: run.id, channel, offer: 'none', page: 0, ticks: none, listed: none, turn: 0, resets: 0};
}

function targetsIn({plan}: KeptOffer): ReadonlySet<number> {
  return new Set(choosableIn(plan).flatMap((one, at) => ('role' in one ? [at] : [])));
}

/** The plan on the card that the offer was made of: perhaps not the newest any more. */
function planBehind(run: Run, {basedOn}: KeptOffer): Plan | null {
  const newest = planOf(run);
  if (newest?.digest === basedOn) return newest.plan;
  const shown = run.events.findLast((event) => event.kind === 'planned' && event.digest === basedOn);
  return shown?.kind === 'planned' ? shown.plan : null;
}
