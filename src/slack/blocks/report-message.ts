/** A scheduled report: the one message that is edited through the day, and what its thread says. Pure. */
import {hostState, worstFirst} from '../../domain/host-report.ts';
import {choiceWords} from '../../domain/report-words.ts';
import type {Schedule} from '../../domain/schedule.ts';
import {whenPhrase} from '../../domain/schedule-phrase.ts';
import type {FinishedReport, ShownSchedule} from '../../engine/report-ports.ts';
import {changeLines, countsLine, fleetRows, lateLines, seenCount, whyLine} from '../../report/fleet-report.ts';
import {code, mrkdwn, plain} from '../escape.ts';
import {ACTION, scheduleValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {failureText} from './failure-text.ts';
import {diagnosisMessage} from './host-answers.ts';
import {context, type KnownBlock, type Message, messageOf, section} from './message.ts';
import {dated, mentionOfId} from './people.ts';
import {tableOfMost} from './table.ts';

/** Hosts in the table of the message itself; the rest are counted. */
const TABLE_ROWS = 60;
const CHANGES = 8;
const THREAD_CHANGES = 60;
/** Dirty hosts whose cross-reference stands in the thread; for the others the command is named. */
const DETAILS = 10;

/** `notice`: what must be said of where it is told, as mrkdwn. */
export function reportMessage(finished: FinishedReport, command: string, notice: string | null): Message {
  const {schedule, report, changes, skippedMs, beforeMs} = finished;
  const why = whyLine(report);
  const late = lateLines(report, skippedMs, dated);
  const failed = report.seen.filter(({state}) => state === 'failed').length;
  return messageOf([
    section(
      [
        `*${mrkdwn(countsLine(report.seen), 200)}* · GPU report on ${mrkdwn(choiceWords(schedule.hosts), 200)}`,
        ...(why === null ? [] : [mrkdwn(why, 300)]),
        ...late.map((line) => `⚠ ${line}`),
        ...(notice === null ? [] : [notice]),
      ].join('\n'),
    ),
    ...tableOfMost((rows) => fleetRows(report.seen, rows), TABLE_ROWS),
    section(
      beforeMs === null
        ? 'The first report of this schedule.'
        : changes.length === 0
          ? `Nothing changed since ${dated(beforeMs)}.`
          : [
              `Changed since ${dated(beforeMs)}:`,
              ...changeLines(changes, CHANGES).map((line) => `• ${mrkdwn(line, 200)}`),
            ].join('\n'),
    ),
    context(
      [
        `Last looked ${dated(lookedAtMs(finished))}, ${seenCount(report.seen)}${failed === 0 ? '' : ': what was not seen is unknown, not clean'}`,
        finished.nextMs === null ? 'no more comes' : `next ${dated(finished.nextMs)}`,
        'nothing was signalled',
      ].join(' · '),
      endLine(schedule, command, finished.nextMs !== null),
    ),
  ]);
}

/** The thread under it: what changed, who could not be seen and why, and each dirty host with a way to get it back. */
export function reportReplies(finished: FinishedReport, command: string, whole: boolean): readonly Message[] {
  const {report, changes, diagnoses} = finished;
  const news = new Set(changes.map(({host}) => host));
  const told = worstFirst(report.seen).filter(({host}) => whole || news.has(host));
  const failed = told.flatMap((host) =>
    host.state === 'failed' ? [`• ${named(host.host, failureText(host.failure, 300))}`] : [],
  );
  const dirty = told.filter((host) => hostState(host) === 'dirty');
  const detailed = dirty.slice(0, DETAILS).flatMap(({host}) => diagnoses.get(host) ?? []);
  const unsaid = dirty.length - detailed.length;
  const lines = [
    ...(changes.length === 0
      ? [`Due ${dated(report.dueAtMs)}: ${mrkdwn(countsLine(report.seen), 200)}.`]
      : [
          `Due ${dated(report.dueAtMs)}, changed:`,
          ...changeLines(changes, THREAD_CHANGES).map((line) => `• ${mrkdwn(line, 200)}`),
        ]),
    ...(failed.length === 0 ? [] : ['Not seen:', ...failed.slice(0, 20)]),
    ...(failed.length > 20 ? [`… ${failed.length - 20} more`] : []),
    ...(unsaid > 0 ? [`${unsaid} more dirty: \`${code(command, 30)} diagnose HOST\` says what holds them.`] : []),
  ];
  return [messageOf(inSections(lines)), ...detailed.map((diagnosis) => diagnosisMessage(diagnosis))];
}

/** The private answer to whoever added one. */
export function addedMessage(shown: ShownSchedule, command: string, where: string, zoneNote: string | null): Message {
  const {schedule, nextTimes, watch} = shown;
  const times = nextTimes.map((atMs) => dated(atMs)).join(', ');
  return messageOf([
    section(
      [
        `Schedule \`${code(schedule.id, 70)}\`: ${scheduleLine(schedule)}, told in ${where}.`,
        watch?.kind === 'exit'
          ? `Waits for PID ${watch.pinned.pid} ${mrkdwn(watch.pinned.title, 60)} as it runs now; a reboot counts as its end.`
          : watch?.kind === 'idle'
            ? 'Looks until every GPU has been idle for that long.'
            : `Next: ${times === '' ? 'never' : times}.`,
        ...(zoneNote === null ? [] : [zoneNote]),
        ...(schedule.quiet
          ? ['Quiet where nothing changed: then the last message is edited and no new one posted.']
          : []),
      ].join('\n'),
    ),
    ...removeButton(schedule),
    context(`\`${code(command, 30)} schedules\` lists all. A schedule looks; it never signals.`),
  ]);
}

export function schedulesMessage(all: readonly ShownSchedule[], command: string): Message {
  if (all.length === 0)
    return messageOf([section(`No schedule yet. Try \`${code(command, 30)} report all every weekday 18:00\`.`)]);
  const shown = all.slice(0, 20);
  return messageOf([
    section(`*${all.length} ${all.length === 1 ? 'schedule' : 'schedules'}*`),
    ...shown.flatMap((one) => [section(scheduleLines(one)), ...removeButton(one.schedule)]),
    ...(all.length > shown.length ? [section(`… ${all.length - shown.length} more; the terminal lists all`)] : []),
  ]);
}

export function scheduleLines(one: ShownSchedule): string {
  const {schedule, nextMs, nextTimes, last, watch} = one;
  const where = schedule.channel === null ? '' : `, <#${schedule.channel}>`;
  const next =
    nextMs === null
      ? 'over'
      : watch !== null
        ? `waiting, looks again ${dated(nextMs)}`
        : `next ${nextTimes.map((atMs) => dated(atMs)).join(', ')}`;
  const before =
    last === null
      ? 'none made yet'
      : `last due ${dated(last.dueAtMs)}: ${LAST_WORD[last.phase]}${last.late ? ', late' : ''}`;
  return `\`${code(schedule.id, 70)}\` ${scheduleLine(schedule)}${where}\n${next} · ${before} · by ${by(schedule)}`;
}

const LAST_WORD = {
  begun: 'looking',
  looked: 'looked, not told yet',
  told: 'told',
  skipped: 'skipped, the one before was still looking',
  undeliverable: 'no channel takes it',
} as const;

function scheduleLine({hosts, when, zone, quiet}: Schedule): string {
  return `${mrkdwn(choiceWords(hosts), 200)} ${mrkdwn(whenPhrase(when), 100)} (${mrkdwn(zone, 60)}${quiet ? ', quiet' : ''})`;
}

function by(schedule: Schedule): string {
  return schedule.by === 'file' ? 'the policy file' : mentionOfId(schedule.by);
}

function endLine(schedule: Schedule, command: string, goesOn: boolean): string {
  const end =
    schedule.by === 'file'
      ? 'in the policy file'
      : `\`${code(command, 30)} schedules remove ${code(schedule.id, 70)}\` ends it`;
  return `${scheduleLine(schedule)} · by ${by(schedule)}${goesOn ? ` · ${end}` : ''}`;
}

/** None for those of the policy file: they would be back at the next start. */
function removeButton(schedule: Schedule): readonly KnownBlock[] {
  if (schedule.by === 'file') return [];
  return [
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.removeSchedule, `Remove ${plain(schedule.id, 60)}`, scheduleValue(schedule.id)),
          accessibility_label: label(`Remove the schedule ${schedule.id}; reports already told stay`),
        },
      ],
    },
  ];
}

/** Most sentences begin with their host. */
function named(host: string, text: string): string {
  return text.startsWith(host) ? text : `${mrkdwn(host, 60)}: ${text}`;
}

/** When the last host was looked at. */
function lookedAtMs({report}: FinishedReport): number {
  return Math.max(report.begunAtMs, ...report.seen.map((host) => (host.state === 'seen' ? host.takenAtMs : 0)));
}

function inSections(lines: readonly string[]): readonly KnownBlock[] {
  const sections: KnownBlock[] = [];
  for (let at = 0; at < lines.length; at += 10) sections.push(section(lines.slice(at, at + 10).join('\n')));
  return sections;
}
