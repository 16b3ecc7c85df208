/** The checks that stand before every command and click, in this order: known workspace, allowed channel, first delivery. */
import type {Failure} from '../domain/failure.ts';
import type {Run} from '../domain/run.ts';
import {aboutRun} from './blocks/about-run.ts';
import {failureMessage, sentence} from './blocks/answers.ts';
import {type Message, messageOf, section} from './blocks/message.ts';
import {type Asker, answer, type Desk, isAlone} from './desk.ts';
import type {Taken} from './intake.ts';
import type {Identified} from './people.ts';

/** null if this person may be heard here; else the sentence that says why not. */
export function refuseHere(desk: Desk, asker: Asker, everywhere: boolean): Message | null {
  if (asker.team !== desk.team())
    return sentence('This bot answers people of its own workspace only. Ask somebody there; nothing was done.');
  if (everywhere || desk.channels.includes(asker.channel)) return null;
  const isElsewhere = isAlone(asker) ? 'Not here, where nobody else sees it' : 'Not in this channel';
  const where = desk.channels.map((channel) => `<#${channel}>`).join(', ');
  return messageOf([section(`${isElsewhere}: use ${where}. \`${desk.command} help\` answers everywhere.`)]);
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

/** A refusal, with what Slack would not tell about groups where that may be the cause. `link`: to the card that it is about. */
export function refusal(failure: Failure, who: Identified, link: string | null = null): readonly Message[] {
  const mayDepend = failure.reason === 'not-an-approver' || failure.reason === 'needs-another-approver';
  if (!mayDepend || who.unread.length === 0) return [aboutRun(failure, link)];
  const groups = who.unread.map(({group, error}) => `<!subteam^${group}> (${error})`).join(', ');
  return [
    aboutRun(failure, link),
    messageOf([
      section(
        `Slack did not say who is in ${groups}, so nobody counts as a member now. Try again in a moment; if it stays, an admin checks the bot's scope \`usergroups:read\`.`,
      ),
    ]),
  ];
}

export function shortId(run: Run): string {
  return run.id.slice(0, 6);
}

function storeTrouble(error: unknown): Message {
  if (error instanceof Error && 'failure' in error) return failureMessage(error.failure as Failure);
  return sentence('Something went wrong on our side, and it is in the log. Nothing more is done for this; try again.');
}
