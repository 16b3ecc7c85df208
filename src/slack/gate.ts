/** The checks that stand before every command and click, in this order: known workspace, allowed channel, first delivery. */
import type {Failure} from '../domain/failure.ts';
import type {Run} from '../domain/run.ts';
import {failureMessage, sentence} from './blocks/answers.ts';
import {type Message, messageOf, section} from './blocks/message.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import type {Identified} from './people.ts';

/** null if this person may be heard here; else the sentence that says why not. */
export function refuseHere(desk: Desk, asker: Asker, everywhere: boolean): Message | null {
  if (asker.team !== desk.team())
    return sentence('This bot answers people of its own workspace only. Ask somebody there; nothing was done.');
  if (everywhere || desk.channels.includes(asker.channel)) return null;
  const where = desk.channels.map((channel) => `<#${channel}>`).join(', ');
  return messageOf([section(`Not in this channel: use ${where}. \`${desk.command} help\` answers everywhere.`)]);
}

/**
 * Does the work once per `key`, however often Slack delivers it. A claim is given back if the work could not be begun, so
 * that a redelivery or a second click may try again.
 */
export async function once(desk: Desk, asker: Asker, key: string, act: () => Promise<void>): Promise<void> {
  let claimed: boolean;
  try {
    claimed = await desk.store.claim(key, desk.clock.now());
  } catch (error) {
    await answer(desk, asker, storeTrouble(error));
    return;
  }
  if (!claimed) {
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
  }
}

/** A refusal, with what Slack would not tell about groups where that may be the cause. */
export function refusal(failure: Failure, who: Identified): readonly Message[] {
  const mayDepend = failure.reason === 'not-an-approver' || failure.reason === 'needs-another-approver';
  if (!mayDepend || who.unread.length === 0) return [failureMessage(failure)];
  const groups = who.unread.map(({group, error}) => `<!subteam^${group}> (${error})`).join(', ');
  return [
    failureMessage(failure),
    messageOf([
      section(
        `Slack did not say who is in ${groups}, so nobody counts as a member now. Try again in a moment; if it stays, an admin checks the bot's scope \`usergroups:read\`.`,
      ),
    ]),
  ];
}

/** The run whose newest plan is meant by nobody any more, in words. */
export function unknownRun(): Message {
  return sentence('No run belongs to this message any more. Ask for a fresh look with "/gpu diagnose HOST".');
}

export function shortId(run: Run): string {
  return run.id.slice(0, 6);
}

function storeTrouble(error: unknown): Message {
  if (error instanceof Error && 'failure' in error) return failureMessage(error.failure as Failure);
  return sentence('Something went wrong on our side, and it is in the log. Nothing more is done for this; try again.');
}
