/** `/gpu report …` and `/gpu schedules …`: asks for reports. Anybody may, since a report only looks. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {personId} from '../domain/person.ts';
import {readReport} from '../domain/report-words.ts';
import {troubleOf} from './api-errors.ts';
import {sentence} from './blocks/answers.ts';
import type {Message} from './blocks/message.ts';
import {mention} from './blocks/people.ts';
import {addedMessage, schedulesMessage} from './blocks/report-message.ts';
import type {Asker, Desk} from './desk.ts';
import type {Identified} from './people.ts';

export async function askForReport(
  desk: Desk,
  asker: Asker,
  who: Identified,
  words: readonly string[],
): Promise<Result<Message>> {
  const asked = readReport(words, [...desk.hosts.values()]);
  if (!asked.ok) return asked;
  const {hosts, quiet} = asked.value;
  const when = asked.value.when ?? {kind: 'now' as const};
  const own = asked.value.zone === null ? await desk.zones.of(asker.user) : null;
  const zone = asked.value.zone ?? own ?? 'UTC';
  const channel = asked.value.channel ?? asker.channel;
  const added = await desk.engine.addSchedule({when, zone, hosts, channel, quiet, by: personId(who.person)});
  if (!added.ok) return added;
  if (when.kind === 'now')
    return ok(sentence('Looking now; the report is posted in the channel. Nothing is signalled by that.'));
  const zoneNote =
    asked.value.zone !== null || own !== null
      ? null
      : 'Slack did not say your time zone, so UTC is meant; name another, such as Europe/Berlin, at the end.';
  return ok(addedMessage(added.value, desk.command, `<#${channel}>`, zoneNote));
}

/** Bare: the list. `remove ID`: ends one. */
export async function schedulesAsked(desk: Desk, who: Identified, words: readonly string[]): Promise<Result<Message>> {
  const [verb, id, ...more] = words;
  if (verb === undefined) {
    const all = await desk.engine.schedules();
    return all.ok ? ok(schedulesMessage(all.value, desk.command)) : all;
  }
  if (verb.toLowerCase() !== 'remove' || more.length > 0)
    return fail({reason: 'argument-unknown', argument: more[0] ?? verb, nearest: ['remove']});
  return removeSchedule(desk, who, id ?? '');
}

/** Its message would go on to promise a next time: the thread says that none comes. */
export async function removeSchedule(desk: Desk, who: Identified, given: string): Promise<Result<Message>> {
  const done = await desk.engine.removeSchedule(given, who.person);
  if (!done.ok) return done;
  const {schedule, message} = done.value;
  if (message !== null) {
    const text = `Schedule ${schedule.id} was removed by ${mention(who.person)}: no report comes any more.`;
    try {
      await desk.client.chat.postMessage({channel: message.channel, thread_ts: message.ts, text});
    } catch (error) {
      desk.log.warn({schedule: schedule.id, trouble: troubleOf(error)}, 'the end of a schedule was not told');
    }
  }
  return ok(sentence(`Schedule ${schedule.id} is removed: no report comes of it any more. What was told stays.`));
}
