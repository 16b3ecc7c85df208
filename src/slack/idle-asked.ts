/** A click on *End it* or *Keep it* of an idle campaign: shape, person, the one write, then the buttons go. */
import {campaignId} from '../domain/campaign.ts';
import type {IdleAnswer} from '../domain/campaign-notices.ts';
import {personId} from '../domain/person.ts';
import {troubleOf} from './api-errors.ts';
import {failureMessage, sentence} from './blocks/answers.ts';
import {idleAnswered} from './blocks/campaign-notices.ts';
import type {Message} from './blocks/message.ts';
import type {Click} from './clicks.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {tellEnded} from './holds-asked.ts';
import {readIdleValue} from './ids.ts';

export async function answerIdle(desk: Desk, asker: Asker, click: Click, what: IdleAnswer): Promise<void> {
  const asked = readIdleValue(click.value);
  if (asked === null) return answer(desk, asker, sentence('No campaign belongs to this button; nothing was done.'));
  const {person} = await desk.people.identify(asker.user, asker.team);
  const {campaign, question} = asked;
  const done = await desk.engine.answerIdle({id: campaignId(campaign), question, answer: what}, person);
  if (!done.ok) {
    await answer(desk, asker, failureMessage(done.failure));
    const {failure} = done;
    // The buttons lead nowhere any more; whoever was first may have died before they took them away.
    if (failure.reason === 'idle-answered')
      await settle(desk, asker, click, idleAnswered(failure.answer, failure.by, failure.atMs, null));
    return;
  }
  // The buttons go at once: the looks for the report take their time.
  await settle(desk, asker, click, idleAnswered(what, personId(person), done.value.atMs, done.value.untilMs));
  if (what === 'keep') return;
  const stopped = await desk.engine.stopHold(campaign, person);
  const told = stopped.ok ? await tellEnded(desk, asker, stopped.value) : stopped;
  if (!told.ok) await answer(desk, asker, failureMessage(told.failure));
}

async function settle(desk: Desk, asker: Asker, click: Click, message: Message): Promise<void> {
  if (click.messageTs === null) return;
  try {
    await desk.poster.edit({team: desk.team(), channel: asker.channel, ts: click.messageTs}, message);
  } catch (error) {
    desk.log.warn({trouble: troubleOf(error)}, 'an answered question keeps its buttons');
  }
}
