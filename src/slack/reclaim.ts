/** A request for a plan. It opens a card and nothing else: what is signalled is decided by a click on that card. */
import {personId} from '../domain/person.ts';
import type {ReclaimRequest} from '../domain/request.ts';
import {sentence} from './blocks/answers.ts';
import {messageOf, section} from './blocks/message.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {refusal, shortId} from './gate.ts';
import {from} from './origin.ts';
import type {Identified} from './people.ts';

/** Long enough for the card's own tries, short enough that somebody still waits for an answer. */
const CARD_WAIT_MS = 20_000;

export async function askForPlan(desk: Desk, asker: Asker, who: Identified, request: ReclaimRequest): Promise<void> {
  const before = await desk.engine.openRunOn(request.host);
  const proposed = await from(asker.channel, () => desk.engine.propose(request));
  if (!proposed.ok) {
    const {failure} = proposed;
    for (const message of refusal(failure, who)) await answer(desk, asker, message);
    if (failure.reason === 'host-busy' && before.ok && before.value !== null)
      await pointAtCard(desk, asker, failure.runId);
    return;
  }
  const {run} = proposed.value;
  const card = await desk.delivery.cardReady(run.id, CARD_WAIT_MS);
  if (card !== null) return;
  const trouble = desk.delivery.troubleWith(run.id);
  if (trouble?.kind !== 'no-channel') {
    await answer(
      desk,
      asker,
      sentence(
        `Slack did not take the card of run ${shortId(run)} yet; it comes as soon as Slack does. Nothing is signalled.`,
      ),
    );
    return;
  }
  // Nobody could ever press its buttons, and the host would be busy until the plan expires.
  if (run.phase === 'awaiting-go') await desk.engine.cancel(run, request.requester, 'its card could not be posted');
  desk.log.error({runId: run.id, error: trouble.error, by: personId(request.requester)}, 'no card could be posted');
  await answer(
    desk,
    asker,
    sentence(
      `The card of run ${shortId(run)} could not be posted here (${trouble.error}), so the plan was withdrawn and nothing was sent. Invite the bot to this channel with /invite, then ask again.`,
    ),
  );
}

/** "Busy" with the way to the card that shows it. */
async function pointAtCard(desk: Desk, asker: Asker, id: ReclaimRunId): Promise<void> {
  const card = await desk.store.cardOf(id);
  if (card === null) return;
  const link = await permalink(desk, card.channel, card.ts);
  if (link !== null) await answer(desk, asker, messageOf([section(`Its card: ${link}`)]));
}

type ReclaimRunId = Parameters<Desk['store']['cardOf']>[0];

/** `<https://…|the card>`; null if Slack doesn't say. */
export async function permalink(desk: Desk, channel: string, ts: string): Promise<string | null> {
  try {
    const {permalink: url} = await desk.client.chat.getPermalink({channel, message_ts: ts});
    return url === undefined ? null : `<${url}|the card>`;
  } catch {
    return null;
  }
}
