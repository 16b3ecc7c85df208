/**
 * Words to the bot that are no slash command: a mention, which works inside of a thread, and a person's own conversation with
 * the bot. In the thread of a run the bare verbs mean that run, or its host.
 */
import type {Run} from '../domain/run.ts';
import {failureMessage, sentence} from './blocks/answers.ts';
import {runCommand} from './commands.ts';
import {type Asker, answer, type Desk, sayInThread} from './desk.ts';
import {refuseHere, shortId} from './gate.ts';

/** What stands after the bot's name, else what stands before it: "@gpu status" and "status @gpu" are the same. */
export function wordsToBot(text: string, botUserId: string): string {
  const [before = '', ...after] = text.split(new RegExp(`<@${botUserId}(?:\\|[^>]*)?>`));
  const said = after
    .join(' ')
    .replace(/^[\s:,]+/, '')
    .trim();
  return said === '' ? before.trim() : said;
}

export async function onMention(desk: Desk, asker: Asker, text: string): Promise<void> {
  const run = asker.threadTs === null ? null : await desk.store.runOfCard(asker.channel, asker.threadTs);
  if (/^stop\s+looking$/i.test(text)) return stopLooking(desk, asker, run);
  return runCommand(desk, asker, run === null ? text : meantInThread(text, run));
}

/** A run's id is only put in where none was typed; anything else stays as it is. */
export function meantInThread(text: string, run: Run): string {
  const [, verb = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  switch (verb.toLowerCase()) {
    case 'show':
      return rest === '' ? `show ${run.id}` : text;
    case 'stop':
    case 'cancel':
      return /^(?=\S*\d)[0-9a-f]{4,12}(\s|$)/i.test(rest) ? `cancel ${rest}` : `cancel ${run.id} ${rest}`.trim();
    case 'status':
    case 'diagnose':
      return rest === '' ? `${verb} ${run.host}` : text;
    default:
      return text;
  }
}

/** Anyone may: it only looks. The card then says who. */
async function stopLooking(desk: Desk, asker: Asker, run: Run | null): Promise<void> {
  const refused = refuseHere(desk, asker, false);
  if (refused !== null) return answer(desk, asker, refused);
  if (run === null)
    return answer(desk, asker, sentence('Say that in the thread of a run: it is that run which is looked at no more.'));
  const who = await desk.people.identify(asker.user, asker.team);
  const stopped = await desk.engine.stopLooking(run, who.person);
  if (!stopped.ok) return answer(desk, asker, failureMessage(stopped.failure));
  const said =
    stopped.value.version === run.version
      ? `Nothing more is looked at for run ${shortId(run)}.`
      : `Run ${shortId(run)} is looked at no more.`;
  return sayInThread(desk, asker, sentence(said));
}
