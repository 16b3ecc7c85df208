/** `/gpu report …` and `/gpu schedules …`: asks for reports. Anybody may, since a report only looks. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {personId} from '../domain/person.ts';
import {readReport} from '../domain/report-words.ts';
import type {Schedule} from '../domain/schedule.ts';
import {sentence} from './blocks/answers.ts';
import type {Message} from './blocks/message.ts';
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
  return removed(await desk.engine.removeSchedule(id ?? '', who.person));
}

export function removed(result: Result<Schedule>): Result<Message> {
  return result.ok
    ? ok(sentence(`Schedule ${result.value.id} is removed: no report comes of it any more. What was told stays.`))
    : result;
}
