/** `/gpu report …` and `/gpu schedules …`: asks for reports. Anybody may, since a report only looks. */
import {ok, type Result} from '../domain/failure.ts';
import {readNarrowed} from '../domain/looks-words.ts';
import {personId} from '../domain/person.ts';
import {isAbout, readReport} from '../domain/report-words.ts';
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

/** The list, of some hosts only where these are named; `remove ID` ends one. */
export async function schedulesAsked(
  desk: Desk,
  who: Identified,
  sub: string | null,
  words: readonly string[],
): Promise<Result<Message>> {
  if (sub === 'remove') return removeSchedule(desk, who, words[0] ?? '');
  const known = [...desk.hosts.values()];
  const wanted = readNarrowed(words, known, 'schedules');
  if (!wanted.ok) return wanted;
  const all = await desk.engine.schedules();
  if (!all.ok) return all;
  const shown = all.value.filter(({schedule}) => isAbout(schedule.hosts, wanted.value, known));
  if (shown.length === 0 && all.value.length > 0) return ok(sentence('No schedule is about these hosts.'));
  return ok(schedulesMessage(shown, desk.command));
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
