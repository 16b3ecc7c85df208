/**
 * Tells a finished report: one message a schedule and day, edited as the day goes on, with the news in its thread. Where
 * nothing changed a quiet one only edits the last message, whatever day that is of, so that silence never hides a dead bot.
 */
import type {RollingMessage} from '../domain/schedule.ts';
import {wallClock} from '../domain/zone.ts';
import type {Card, Log} from '../engine/ports.ts';
import type {FinishedReport, ReportTeller, Telling} from '../engine/report-ports.ts';
import {troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {reportMessage, reportReplies} from './blocks/report-message.ts';
import type {Poster} from './poster.ts';

export interface ReportTellerDeps {
  readonly poster: Poster;
  readonly log: Log;
  readonly command: string;
  /** Where a report goes that names no channel, or whose channel is gone. */
  readonly channel: string;
  /** Empty before Slack has said who we are: then nothing is told yet. */
  readonly team: () => string;
}

/** How far one report was told, should Slack go down in the middle. */
interface Progress {
  message: RollingMessage;
  replied: number;
}

export function makeReportTeller(deps: ReportTellerDeps): ReportTeller {
  const {poster, log, command} = deps;
  const underway = new Map<string, Progress>();

  const cardOf = ({channel, ts}: RollingMessage): Card => ({team: deps.team(), channel, ts});

  /** Where it stands now: the message that was edited, or a new one. null: no channel takes it. */
  const show = async (finished: FinishedReport, isNews: boolean): Promise<RollingMessage | string> => {
    const {schedule, report, message} = finished;
    const {day} = wallClock(report.begunAtMs, schedule.zone);
    if (message !== null && (!isNews || message.day === day)) {
      const edited = await tryEdit(
        message,
        reportMessage(finished, command, noticeFor(finished, message.channel, null)),
      );
      if (edited) return message;
    }
    return post(finished, day);
  };

  /** False where the message, or its channel, is gone. */
  const tryEdit = async (message: RollingMessage, text: Message): Promise<boolean> => {
    try {
      await poster.edit(cardOf(message), text);
      return true;
    } catch (error) {
      const {kind} = troubleOf(error);
      if (kind === 'not-taken') return true;
      if (kind === 'no-message' || kind === 'no-channel') return false;
      throw error;
    }
  };

  const post = async (finished: FinishedReport, day: string): Promise<RollingMessage | string> => {
    const wanted = finished.schedule.channel ?? deps.channel;
    let why: string | null = null;
    for (const channel of new Set([wanted, deps.channel])) {
      try {
        const ts = await poster.post(channel, reportMessage(finished, command, noticeFor(finished, channel, why)));
        return {channel, ts, day};
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble.kind !== 'no-channel') throw error;
        why = trouble.error;
        log.warn({schedule: finished.schedule.id, channel, error: why}, 'a channel does not take a report');
      }
    }
    return why ?? 'no channel';
  };

  /** Said where it is told elsewhere than was asked for. */
  const noticeFor = ({schedule}: FinishedReport, channel: string, why: string | null): string | null => {
    const wanted = schedule.channel ?? deps.channel;
    if (channel === wanted) return null;
    return `⚠ <#${wanted}> does not take it${why === null ? '' : ` (${why})`}, so it is told here. /invite the bot there, or remove the schedule.`;
  };

  const tell = async (finished: FinishedReport): Promise<Telling> => {
    const {schedule, report, changes, message} = finished;
    const key = `${schedule.id}:${report.dueAtMs}`;
    const isNews = message === null || changes.length > 0 || report.why.kind !== 'time' || !schedule.quiet;
    const begun = underway.get(key);
    const shown = begun?.message ?? (await show(finished, isNews));
    if (typeof shown === 'string') return {kind: 'nowhere', why: shown};
    // A fresh message has an empty thread: it is told whole.
    const isFresh = shown.ts !== message?.ts;
    const replies = isNews || isFresh ? reportReplies(finished, command, isFresh) : [];
    const progress: Progress = begun ?? {message: shown, replied: 0};
    underway.set(key, progress);
    for (; progress.replied < replies.length; progress.replied += 1) {
      const reply = replies[progress.replied];
      if (reply === undefined) break;
      await tryReply(shown, reply);
    }
    underway.delete(key);
    return {kind: 'told', message: shown};
  };

  const tryReply = async (message: RollingMessage, reply: Message): Promise<void> => {
    try {
      await poster.reply(cardOf(message), reply, false);
    } catch (error) {
      const {kind} = troubleOf(error);
      // Its thread is gone meanwhile, or nothing makes Slack take it: the message itself says the most of it.
      if (kind !== 'not-taken' && kind !== 'no-message' && kind !== 'no-channel') throw error;
      log.error({trouble: troubleOf(error)}, 'a reply of a report was left out');
    }
  };

  return {
    tell: async (finished) => {
      if (deps.team() === '') return {kind: 'later'};
      try {
        return await tell(finished);
      } catch (error) {
        log.warn(
          {schedule: finished.schedule.id, trouble: troubleOf(error)},
          'a report could not be told; it stays owed',
        );
        return {kind: 'later'};
      }
    },
  };
}
