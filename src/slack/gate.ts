/** The checks that stand before every command and click, in this order: known workspace, allowed channel, first delivery. */
import type {Failure} from '../domain/failure.ts';
import type {Run} from '../domain/run.ts';
import {aboutRun} from './blocks/about-run.ts';
import {failureMessage} from './blocks/answers.ts';
import type {Message} from './blocks/message.ts';
import {groupMembers, groupsUnread, notHere, otherWorkspace, wentWrong} from './blocks/refusals.ts';
import {type Asker, answer, type Desk, isAlone} from './desk.ts';
import type {Taken} from './intake.ts';
import type {Identified} from './people.ts';

/** null if this person may be heard here; else the sentence that says why not. */
export function refuseHere(desk: Desk, asker: Asker, everywhere: boolean): Message | null {
  if (asker.team !== desk.team()) return otherWorkspace();
  if (everywhere || desk.channels.includes(asker.channel)) return null;
  return notHere(isAlone(asker), desk.channels, desk.command);
}

/**
 * Does the work of a first delivery, and none of a repeated one, however often Slack delivers it. A claim is given back if
 * the work could not be begun, so that a redelivery or a second click may try again.
 */
export async function once(desk: Desk, asker: Asker, taking: Promise<Taken>, act: () => Promise<void>): Promise<void> {
  const taken = await taking;
  const {key} = taken;
  if (taken.kind === 'trouble') return answer(desk, asker, storeTrouble(taken.error));
  if (taken.kind === 'again') {
    desk.log.info({key}, 'delivered again; answered already');
    return;
  }
  try {
    await act();
  } catch (error) {
    await desk.store.unclaim(key).catch(() => undefined);
    const message = storeTrouble(error);
    desk.log.error({key, error: error instanceof Error ? (error.stack ?? error.message) : String(error)}, 'failed');
    await answer(desk, asker, message);
    return;
  }
  // What was done stays done; at worst the next program says that it was started again.
  await desk.store.settle(key, desk.clock.now()).catch(() => undefined);
}

/** A refusal, with who is in the groups that may, or that Slack would not tell. `link`: to the card that it is about. */
export function refusal(failure: Failure, who: Identified, link: string | null = null): readonly Message[] {
  const told = aboutRun(failure, link);
  if (failure.reason !== 'not-an-approver' && failure.reason !== 'needs-another-approver') return [told];
  return [
    told,
    ...(who.groups.length === 0 ? [] : [groupMembers(who.groups)]),
    ...(who.unread.length === 0 ? [] : [groupsUnread(who.unread)]),
  ];
}

export function shortId(run: Run): string {
  return run.id.slice(0, 6);
}

function storeTrouble(error: unknown): Message {
  if (error instanceof Error && 'failure' in error) return failureMessage(error.failure as Failure);
  return wentWrong();
}
