/** Buttons: shape, run, person, then the one atomic write. Every click is answered, by the card or by one private sentence. */
import {readHost} from '../domain/grammar/host-words.ts';
import {isSamePerson} from '../domain/person.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {Run} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import {aboutRun, looksNoMore, stopsSoon, unknownRun} from './blocks/about-run.ts';
import {failureMessage} from './blocks/answers.ts';
import {unknownButton} from './blocks/refusals.ts';
import {leaveModal} from './blocks/small-modals.ts';
import {cardLink} from './card-link.ts';
import {openChoice} from './choosing.ts';
import {decided} from './decided.ts';
import {type Asker, answer, type Desk, isAlone} from './desk.ts';
import {writeMetadata} from './form-metadata.ts';
import {openForm} from './forms.ts';
import {refuseHere} from './gate.ts';
import {go} from './go.ts';
import {answerIdle} from './idle-asked.ts';
import {ACTION, readButtonValue, readProposeValue, readScheduleValue, readShareValue} from './ids.ts';
import type {Identified} from './people.ts';
import {askForPlan} from './reclaim.ts';
import {removeSchedule} from './reports-asked.ts';
import {shareAnswer} from './share.ts';

export interface Click {
  readonly actionId: string;
  readonly value: string | undefined;
  /** The message that the button stands on; null on one that has no place of its own (a private answer). */
  readonly messageTs: string | null;
}

/** Whatever else is clicked belongs to a card, which stands where others see it. */
const GOOD_ALONE: readonly string[] = [ACTION.propose, ACTION.removeSchedule];

export async function onClick(desk: Desk, asker: Asker, click: Click): Promise<void> {
  const refused = refuseHere(desk, asker, isAlone(asker) && GOOD_ALONE.includes(click.actionId));
  if (refused !== null) return answer(desk, asker, refused);
  if (click.actionId === ACTION.share) return shareAnswer(desk, asker, readShareValue(click.value));
  if (click.actionId === ACTION.idleEnd) return answerIdle(desk, asker, click, 'end');
  if (click.actionId === ACTION.idleKeep) return answerIdle(desk, asker, click, 'keep');
  if (click.actionId === ACTION.propose) return propose(desk, asker, readProposeValue(click.value));
  if (click.actionId === ACTION.removeSchedule)
    return removeByButton(desk, asker, readScheduleValue(click.value) ?? '');
  const value = readButtonValue(click.value);
  const run = value === null ? null : await desk.store.load(value.runId);
  if (value === null || run === null) return answer(desk, asker, unknownRun(desk.command));
  await knowCard(desk, asker, run, click);
  const who = await desk.people.identify(asker.user, asker.team);
  if (click.actionId === ACTION.stop) return stop(desk, asker, who, run);
  if (click.actionId === ACTION.stopLooking) return stopLooking(desk, asker, who, run);
  if (click.actionId === ACTION.askAgain) return askAgain(desk, asker, who, run);
  const over = decided(run);
  if (over !== null) {
    // Its button is still there for somebody: the card may say an older state.
    desk.delivery.refresh(run.id);
    return answer(desk, asker, aboutRun(over, await cardLink(desk, run.id)));
  }

  const digest = value.digest ?? '';
  const metadata = writeMetadata({runId: run.id, digest, channel: asker.channel, choice: 'terminate-then-kill'});
  switch (click.actionId) {
    case ACTION.terminateThenKill:
      return go(desk, asker, who, {run, digest, choice: 'terminate-then-kill', reason: null});
    case ACTION.terminateOnly:
      return go(desk, asker, who, {run, digest, choice: 'terminate-only', reason: null});
    case ACTION.choose:
      return openChoice(desk, asker, who, run);
    case ACTION.leave:
      return openForm(desk, asker, leaveModal(run.host, metadata));
    default:
      return answer(desk, asker, unknownButton());
  }
}

async function propose(desk: Desk, asker: Asker, value: ReturnType<typeof readProposeValue>): Promise<void> {
  const host = readHost(value?.host ?? '', [...desk.hosts.keys()]);
  if (!host.ok) return answer(desk, asker, failureMessage(host.failure));
  const who = await desk.people.identify(asker.user, asker.team);
  const request: ReclaimRequest = {
    host: host.value,
    gpus: null,
    match: null,
    user: null,
    pids: value === null || value.pid === null ? [] : [value.pid],
    includeOthers: false,
    graceMs: null,
    dryRun: false,
    reason: null,
    requester: who.person,
  };
  return askForPlan(desk, asker, who, request);
}

/** The same request by whoever pressed it, who has to give reasons of their own. */
async function askAgain(desk: Desk, asker: Asker, who: Identified, run: Run): Promise<void> {
  const {override: _, ...request} = requestOf(run);
  const mine = isSamePerson(who.person, request.requester, desk.policy.samePerson);
  return askForPlan(desk, asker, who, {...request, requester: who.person, reason: mine ? request.reason : null});
}

/** Anyone may: it only looks. */
async function removeByButton(desk: Desk, asker: Asker, id: string): Promise<void> {
  const who = await desk.people.identify(asker.user, asker.team);
  const done = await removeSchedule(desk, who, id);
  return answer(desk, asker, done.ok ? done.value : failureMessage(done.failure));
}

/** Anyone may stop. */
async function stop(desk: Desk, asker: Asker, who: Identified, run: Run): Promise<void> {
  const stopped = await desk.engine.cancel(run, who.person, null);
  const link = await cardLink(desk, run.id);
  if (!stopped.ok) return answer(desk, asker, aboutRun(decided(run) ?? stopped.failure, link));
  if (stopped.value.phase === 'closed') return;
  return answer(desk, asker, stopsSoon(run, link));
}

/** Anyone may: it only looks. The card then says who. */
async function stopLooking(desk: Desk, asker: Asker, who: Identified, run: Run): Promise<void> {
  const stopped = await desk.engine.stopLooking(run, who.person);
  const link = await cardLink(desk, run.id);
  if (!stopped.ok) return answer(desk, asker, aboutRun(stopped.failure, link));
  if (stopped.value.version === run.version) return answer(desk, asker, looksNoMore(run, link));
}

/** A card whose posting we never heard the end of is adopted; a double of the card that counts is taken away. */
async function knowCard(desk: Desk, asker: Asker, run: Run, click: Click): Promise<void> {
  if (click.messageTs === null) return;
  const ts = click.messageTs;
  const card = await desk.store.keepCard(run.id, {team: desk.team(), channel: asker.channel, ts});
  if (card.channel === asker.channel && card.ts === ts) return;
  try {
    await desk.client.chat.delete({channel: asker.channel, ts});
  } catch (error) {
    desk.log.warn({runId: run.id, error: String(error)}, 'a double of a card could not be taken away');
  }
}
