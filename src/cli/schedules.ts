/** `schedules`: what reports are to come, and `schedules remove ID`. */
import {readNarrowed} from '../domain/looks-words.ts';
import {choiceWords, isAbout} from '../domain/report-words.ts';
import {whenPhrase} from '../domain/schedule-phrase.ts';
import {wallClock} from '../domain/zone.ts';
import type {ShownSchedule} from '../engine/report-ports.ts';
import {safeLine} from '../report/safe-text.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode} from './exit-code.ts';

export async function schedules(context: CliContext, sub: string | null, words: readonly string[]): Promise<ExitCode> {
  if (sub !== 'remove') return list(context, words);
  const [id = ''] = words;
  const removed = await context.engine.removeSchedule(id, context.person);
  if (!removed.ok) return refuse(context, removed.failure);
  if (context.json) printJson(context, {ok: true, removed: removed.value.schedule.id});
  else context.terminal.print(`Schedule ${removed.value.schedule.id} is removed: no report comes of it any more.`);
  return EXIT.done;
}

async function list(context: CliContext, words: readonly string[]): Promise<ExitCode> {
  const known = [...context.hosts.values()];
  const wanted = readNarrowed(words, known, 'schedules');
  if (!wanted.ok) return refuse(context, wanted.failure);
  const all = await context.engine.schedules();
  if (!all.ok) return refuse(context, all.failure);
  const shown = all.value.filter(({schedule}) => isAbout(schedule.hosts, wanted.value, known));
  if (context.json) printJson(context, {ok: true, schedules: shown.map(scheduleJson)});
  else if (all.value.length === 0)
    context.terminal.print('No schedule yet. Try: gpu-reclaim report all every weekday 18:00');
  else if (shown.length === 0) context.terminal.print('No schedule is about these hosts.');
  else for (const one of shown) context.terminal.print(...scheduleLines(one));
  return EXIT.done;
}

/** What it is, when it comes next by the clocks of its own zone, and what became of the last one. */
export function scheduleLines({schedule, nextMs, nextTimes, watch, last}: ShownSchedule): readonly string[] {
  const {id, hosts, when, zone, quiet, channel, by} = schedule;
  const at = (atMs: number): string => {
    const {day, time} = wallClock(atMs, zone);
    return `${day} ${time}`;
  };
  const next =
    nextMs === null
      ? 'over'
      : watch?.kind === 'exit'
        ? `waits for PID ${watch.pinned.pid} ${safeLine(watch.pinned.title, 40)} as it ran at ${at(schedule.createdAtMs)}`
        : watch === null
          ? `next ${nextTimes.map(at).join(', ')}`
          : 'waits for idle GPUs';
  return [
    `${id}  ${choiceWords(hosts)} ${whenPhrase(when)} ${zone}${quiet ? ', quiet' : ''}${channel === null ? '' : `, in ${channel}`}, by ${safeLine(by, 60)}`,
    `   ${next}${last === null ? '' : `; last due ${at(last.dueAtMs)}: ${last.phase}${last.late ? ', late' : ''}`}`,
  ];
}

export function scheduleJson(shown: ShownSchedule): Readonly<Record<string, unknown>> {
  const {schedule, nextMs, nextTimes, watch, last} = shown;
  return {
    ...schedule,
    hosts: choiceWords(schedule.hosts),
    phrase: whenPhrase(schedule.when),
    nextAtMs: nextMs,
    nextTimesMs: nextTimes,
    watch,
    last: last === null ? null : {dueAtMs: last.dueAtMs, phase: last.phase, late: last.late, missed: last.missed},
  };
}
