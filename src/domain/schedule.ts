/**
 * A schedule: a standing wish for reports about hosts. It looks and tells, and never signals. Its times are made in
 * `src/schedule/next-times.ts`, its words are read in `schedule-words.ts`.
 */
import type {HostName} from './host.ts';
import type {HostReport} from './host-report.ts';

/** `s` and 5 hex digits for one that somebody asked for, `file:NAME` for one of the policy file. */
export type ScheduleId = string & {readonly __brand: 'ScheduleId'};

export function scheduleId(text: string): ScheduleId {
  return text as ScheduleId;
}

/** 0 = Sunday, as cron counts. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** A time of the wall clock in the schedule's zone. */
export interface WallTime {
  readonly hour: number;
  readonly minute: number;
}

/** On which day a single time lies, counted from the day of creation in the schedule's zone. */
export type Day =
  /** The first such time after creation. */
  | {readonly by: 'next'}
  | {readonly by: 'days-on'; readonly days: 0 | 1}
  | {readonly by: 'weekday'; readonly weekday: Weekday}
  | {readonly by: 'date'; readonly year: number; readonly month: number; readonly day: number};

/** When reports are due. */
export type When =
  | {readonly kind: 'now'}
  /** Elapsed time from creation: no clock change touches it. */
  | {readonly kind: 'after'; readonly ms: number}
  | {readonly kind: 'at'; readonly time: WallTime; readonly day: Day}
  | {readonly kind: 'weekly'; readonly days: readonly Weekday[]; readonly time: WallTime}
  /** Elapsed time from creation, again and again. */
  | {readonly kind: 'interval'; readonly ms: number}
  /** Five fields that `cron-pattern.ts` has read. */
  | {readonly kind: 'cron'; readonly pattern: string}
  | {readonly kind: 'exit'; readonly pid: number}
  /** Every GPU of every chosen host idle by looks for so long. */
  | {readonly kind: 'idle'; readonly forMs: number};

/** Which hosts: looked up in the hosts file at each report, so that a group's new host is in the next one. */
export type HostChoice =
  | {readonly kind: 'all'}
  | {readonly kind: 'host'; readonly name: HostName}
  | {readonly kind: 'group'; readonly name: string}
  /** `*` stands for any characters. */
  | {readonly kind: 'glob'; readonly pattern: string};

export interface Schedule {
  readonly id: ScheduleId;
  readonly when: When;
  /** IANA name, such as `Europe/Berlin`. */
  readonly zone: string;
  readonly hosts: readonly HostChoice[];
  /** Slack channel id; null: the bot's first. */
  readonly channel: string | null;
  /** Nothing changed: the last message is edited, and no new one is posted. */
  readonly quiet: boolean;
  /** personId, or `file` for the policy file. */
  readonly by: string;
  readonly createdAtMs: number;
}

/** What somebody asks for; the engine adds id and time. */
export type NewSchedule = Omit<Schedule, 'id' | 'createdAtMs'>;

/** The process that a `when PID exits` waits for, as the look at its creation saw it. */
export interface PinnedProcess {
  readonly host: HostName;
  readonly bootId: string;
  readonly pid: number;
  readonly startTicks: string;
  /** As it called itself then. */
  readonly title: string;
}

/** What the looks of a waiting schedule have seen so far. */
export type Watch =
  | {readonly kind: 'exit'; readonly pinned: PinnedProcess}
  | {
      readonly kind: 'idle';
      /** Epoch ms of the first look of an unbroken row of idle ones; null: the last one was not idle. */
      readonly sinceMs: number | null;
      readonly lastLookMs: number | null;
      /** Who was billed what, on which boot: another text means that something ran. */
      readonly seen: string;
    };

/** Why a report was made. */
export type Why =
  | {readonly kind: 'time'}
  | {
      readonly kind: 'exited';
      readonly pinned: PinnedProcess;
      readonly how: 'gone' | 'replaced' | 'reboot' | 'host-gone';
    }
  | {readonly kind: 'idle'; readonly sinceMs: number};

/**
 * One due report. `begun`: its looks are not kept yet · `looked`: they are, people were not told · `told` · `skipped`: due
 * while the one before was still looking · `undeliverable`: no channel takes it. The last three are final.
 */
export type ReportPhase = 'begun' | 'looked' | 'told' | 'skipped' | 'undeliverable';

export interface Report {
  readonly scheduleId: ScheduleId;
  /** Epoch ms; with the id it names the report, so that no due time can be made twice. */
  readonly dueAtMs: number;
  readonly phase: ReportPhase;
  readonly begunAtMs: number;
  /** It came due while nobody was there to make it. */
  readonly late: boolean;
  /** Earlier due times that were missed meanwhile: this one stands for them. */
  readonly missed: number;
  readonly why: Why;
  /** null until it is looked. */
  readonly seen: readonly HostReport[] | null;
}

/** The message that a schedule's reports are edited into, and its thread. */
export interface RollingMessage {
  readonly channel: string;
  readonly ts: string;
  /** `2027-03-28` in the schedule's zone. */
  readonly day: string;
}

/** Repeating ones are quiet unless told otherwise; a single report is never. */
export function isRepeating(when: When): boolean {
  return when.kind === 'weekly' || when.kind === 'interval' || when.kind === 'cron';
}

/** It is no time that makes it due but what looks see. */
export function isWaiting(when: When): when is Extract<When, {kind: 'exit' | 'idle'}> {
  return when.kind === 'exit' || when.kind === 'idle';
}
