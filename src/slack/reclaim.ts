/** A request for a plan. It opens a card and nothing else: what is signalled is decided by a click on that card. */
import type {Failure} from '../domain/failure.ts';
import {isSamePerson, personId} from '../domain/person.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import type {Run} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import {busyMessage, cardComes, cardImpossible, cardOpened} from './blocks/about-run.ts';
import type {Message} from './blocks/message.ts';
import {cardLink} from './card-link.ts';
import {type Asker, answer, cardChannel, type Desk, sayInThread} from './desk.ts';
import {refusal} from './gate.ts';
import {from} from './origin.ts';
import type {Identified} from './people.ts';

/** Long enough for the card's own tries, short enough that somebody still waits for an answer. */
const CARD_WAIT_MS = 20_000;

export async function askForPlan(desk: Desk, asker: Asker, who: Identified, request: ReclaimRequest): Promise<void> {
  const proposed = await from(cardChannel(desk, asker), () => desk.engine.propose(request));
  if (!proposed.ok) {
    const {failure} = proposed;
    const busy = await busyWith(desk, who, request, failure);
    for (const message of busy === null ? refusal(failure, who) : [busy]) await answer(desk, asker, message);
    return;
  }
  const {run} = proposed.value;
  const card = await desk.delivery.cardReady(run.id, CARD_WAIT_MS);
  if (card !== null) return whereItIs(desk, asker, run, card.channel);
  const trouble = desk.delivery.troubleWith(run.id);
  if (trouble?.kind !== 'no-channel') return answer(desk, asker, cardComes(run));
  if (run.phase === 'awaiting-go') await desk.engine.cancel(run, request.requester, 'its card could not be posted');
  desk.log.error({runId: run.id, error: trouble.error, by: personId(request.requester)}, 'no card could be posted');
  return answer(desk, asker, cardImpossible(run, trouble.error));
}

/** Who has the host, since when and why, with the way to that card; null where it is not busy. */
async function busyWith(
  desk: Desk,
  who: Identified,
  request: ReclaimRequest,
  failure: Failure,
): Promise<Message | null> {
  if (failure.reason !== 'host-busy' && failure.reason !== 'machine-busy') return null;
  const run = await desk.store.load(failure.runId);
  if (run === null) return null;
  const mine = isSamePerson(who.person, requestOf(run).requester, desk.policy.samePerson);
  return busyMessage(run, request.host, mine, await cardLink(desk, run.id));
}

/** Whoever asked elsewhere than where the card now stands is told where. */
async function whereItIs(desk: Desk, asker: Asker, run: Run, channel: string): Promise<void> {
  if (asker.saidTs === null && channel === asker.channel) return;
  const said = cardOpened(run, channel, await cardLink(desk, run.id));
  return asker.saidTs === null ? answer(desk, asker, said) : sayInThread(desk, asker, said);
}
