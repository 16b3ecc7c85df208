/** What scheduled reports need of the world and give to the doors, in the engine's own words; part of `ports.ts` by room. */

import type {Diagnosis} from '../domain/diagnosis.ts';
import type {Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {HostReport, SeenHost} from '../domain/host-report.ts';
import type {Person} from '../domain/person.ts';
import type {Change} from '../domain/report-changes.ts';
import type {
  HostChoice,
  NewSchedule,
  Report,
  ReportPhase,
  RollingMessage,
  Schedule,
  ScheduleId,
  Watch,
  Why,
} from '../domain/schedule.ts';

/** Due times, epoch ms, strictly later than `afterMs`, soonest first, at most `count`; none where no time decides. */
export type NextTimes = (
  schedule: Pick<Schedule, 'when' | 'zone' | 'createdAtMs'>,
  afterMs: number,
  count: number,
) => readonly number[];

export interface KeptSchedule {
  readonly schedule: Schedule;
  /** Epoch ms: when it is due, or when a waiting one is looked at next; null: never again. */
  readonly nextMs: number | null;
  /** null unless it waits for something to be seen. */
  readonly watch: Watch | null;
  /** null until a report was told. */
  readonly message: RollingMessage | null;
}

export interface ScheduleStore {
  /** False if there is, or was, one of the same id: nothing is changed then. */
  add(kept: Pick<KeptSchedule, 'schedule' | 'nextMs' | 'watch'>): Promise<boolean>;
  /** Replaces one of the same id, which then begins anew. */
  put(kept: Pick<KeptSchedule, 'schedule' | 'nextMs' | 'watch'>): Promise<void>;
  /** Those that are not removed, oldest first; also those that are over, for 7 days after their last report. */
  all(nowMs: number): Promise<readonly KeptSchedule[]>;
  load(id: ScheduleId): Promise<KeptSchedule | null>;
  /** False if it was not there, or removed before. */
  remove(id: ScheduleId, by: string, atMs: number): Promise<boolean>;
  /** Whose `nextMs` has come, soonest first. */
  due(nowMs: number): Promise<readonly KeptSchedule[]>;
  /**
   * Takes a due time, once: moves `nextMs` on and writes the report in one transaction. `skipped`: an earlier report of
   * this schedule still looks. `lost`: somebody has taken it, or it was removed meanwhile.
   */
  claim(claim: {
    readonly id: ScheduleId;
    /** What `nextMs` was when it was read. */
    readonly fromMs: number;
    readonly nextMs: number | null;
    readonly dueAtMs: number;
    readonly atMs: number;
    readonly late: boolean;
    readonly missed: number;
    readonly why: Why;
  }): Promise<'begun' | 'skipped' | 'lost'>;
  /** Keeps what a waiting schedule's look saw, unless it was taken or removed meanwhile. */
  keepWatch(id: ScheduleId, fromMs: number, nextMs: number, watch: Watch): Promise<void>;
  /** Begun or looked, and not told yet; earliest due first, without what was seen: Slack may be down for long. */
  owed(limit: number): Promise<readonly Report[]>;
  /** This report as it stands now, the last one before it that was looked, and which due times after it were skipped. */
  around(report: Report): Promise<{
    readonly report: Report | null;
    readonly before: Report | null;
    readonly skippedMs: readonly number[];
  }>;
  /** Newest first, without what was seen: that is kept of the newest, for the next to be compared with, and of those owed. */
  reportsOf(id: ScheduleId, limit: number): Promise<readonly Report[]>;
  /** Keeps what was seen, and whether it came late. */
  keepSeen(report: Report, seen: readonly HostReport[]): Promise<void>;
  /** Ends a report, and keeps where it stands if that changed; done once. */
  end(report: Report, phase: ReportPhase, message: RollingMessage | null, atMs: number): Promise<void>;
}

export interface ShownSchedule extends KeptSchedule {
  /** The next three due times, epoch ms; fewer where no more come. */
  readonly nextTimes: readonly number[];
  /** The newest report, if there is one. */
  readonly last: Report | null;
}

/** Reports on these hosts now, and the diagnosis of each that answered. */
export interface FleetLook {
  readonly hosts: readonly HostReport[];
  readonly diagnoses: ReadonlyMap<HostName, Diagnosis>;
}

/** A report whose looks are kept, with all that is needed to tell it. */
export interface FinishedReport {
  readonly schedule: Schedule;
  readonly report: Report & {readonly seen: readonly HostReport[]};
  /** Of the hosts that answered; one whose stored look is gone is missing. */
  readonly diagnoses: ReadonlyMap<HostName, Diagnosis>;
  /** When the report before was due; null: this is the first. */
  readonly beforeMs: number | null;
  readonly changes: readonly Change[];
  /** Due times that came while this one was looking; they were not made. */
  readonly skippedMs: readonly number[];
  readonly nextMs: number | null;
  readonly message: RollingMessage | null;
}

/** `told`: with where it now stands · `later`: Slack is down, it stays owed · `nowhere`: no channel takes it. */
export type Telling =
  | {readonly kind: 'told'; readonly message: RollingMessage}
  | {readonly kind: 'later'}
  | {readonly kind: 'nowhere'; readonly why: string};

export interface ReportTeller {
  tell(finished: FinishedReport): Promise<Telling>;
}

/** The engine's verbs about reports. None of them signals anything, now or later. */
export interface ReportVerbs {
  /** What the newest kept look of each host showed, its age in it. No host is looked at for that; one without a look is absent. */
  lastSeen(): Promise<Result<readonly SeenHost[]>>;
  /** When such a schedule would be due next, three times at most; none where it waits for what looks see. Adds nothing. */
  previewSchedule(asked: NewSchedule): Result<readonly number[]>;
  /** Looks at hosts, some at a time; one that does not answer, or where a run is at work, is in the answer as such. */
  report(hosts: readonly HostChoice[]): Promise<Result<FleetLook>>;
  /** Keeps it. One that waits for a process pins that process by a look. Anybody may. */
  addSchedule(asked: NewSchedule): Promise<Result<ShownSchedule>>;
  schedules(): Promise<Result<readonly ShownSchedule[]>>;
  /** By its id, or a beginning of it that fits one only. Anybody may; those of the policy file stay. */
  removeSchedule(given: string, person: Person): Promise<Result<KeptSchedule>>;
  /** Makes the stored schedules of the policy file those that it has now; an unchanged one goes on where it was. */
  keepFileSchedules(named: ReadonlyMap<string, NewSchedule>): Promise<Result<null>>;
  /**
   * Takes what is due by now, once. `reports`: those that are to be made or told, leftovers of a bot that died included;
   * `watches`: waiting schedules to look at. Anything due before `startedAtMs` is late. `nextMs`: the next due time.
   */
  dueReports(startedAtMs: number): Promise<
    Result<{
      readonly reports: readonly Report[];
      readonly watches: readonly ScheduleId[];
      readonly nextMs: number | null;
    }>
  >;
  /** Looks whether what the schedule waits for has come; then its report is due at once. */
  checkWatch(id: ScheduleId): Promise<Result<null>>;
  /**
   * Makes the looks of a report, if they are not kept yet. null: it is over already, or ended since its schedule is gone. Once `over` is
   * aborted a look that fails is not kept: the report stays owed.
   */
  makeReport(report: Report, over?: AbortSignal): Promise<Result<FinishedReport | null>>;
  endReport(report: Report, telling: Telling): Promise<Result<null>>;
}
