/**
 * When reports are made and told. The store says what is due and what is owed, so what came due while the bot was down is
 * found at its start, made once, and marked late; what was made and not told is told, and not made again.
 */
import type {Report, ScheduleId} from '../domain/schedule.ts';
import type {Clock, Log} from '../engine/ports.ts';
import type {ReportTeller, ReportVerbs, Telling} from '../engine/report-ports.ts';

export interface ReportTimesDeps {
  readonly engine: Pick<ReportVerbs, 'dueReports' | 'checkWatch' | 'makeReport' | 'endReport'>;
  readonly teller: ReportTeller;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the store is asked for what other programs added, and what could not be told is tried again, ms. */
  readonly everyMs: number;
  /** Ends it: nothing is begun any more. */
  readonly over: AbortSignal;
}

export interface ReportTimes {
  /** Resolves once it is over and nothing is under way. A failing store is waited out. */
  keep(): Promise<void>;
  /** Somebody has just added a schedule: look at the store at once. */
  nudge(): void;
}

export function makeReportTimes({engine, teller, clock, log, everyMs, over}: ReportTimesDeps): ReportTimes {
  /** One thing at a time a schedule: its reports are told in their order. */
  const working = new Map<ScheduleId, Promise<void>>();
  let wake = new AbortController();
  const nudge = (): void => wake.abort();
  /** Told, and not yet written down, as with a full store: it must not be told again with each try. */
  const unwritten = new Map<string, Telling>();

  const begin = (id: ScheduleId, act: () => Promise<boolean>): void => {
    if (working.has(id)) return;
    const work = act().then((done) => {
      working.delete(id);
      // More of it may be waiting; what failed is tried again with the next round.
      if (done) nudge();
    });
    working.set(id, work);
  };

  const tell = async (report: Report): Promise<boolean> => {
    const made = await engine.makeReport(report, over);
    if (!made.ok) {
      if (!over.aborted) log.error({schedule: report.scheduleId, failure: made.failure}, 'a report could not be made');
      return false;
    }
    if (made.value === null) return true;
    // Told at the next start: a message that is cut off in the middle would be told twice.
    if (over.aborted) return false;
    const key = `${report.scheduleId} ${report.dueAtMs}`;
    const telling = unwritten.get(key) ?? (await teller.tell(made.value));
    if (telling.kind === 'later') return false;
    unwritten.set(key, telling);
    const ended = await end(report, telling);
    if (ended) unwritten.delete(key);
    return ended;
  };

  const end = async (report: Report, telling: Telling): Promise<boolean> => {
    if (telling.kind === 'nowhere')
      log.error({schedule: report.scheduleId, why: telling.why}, 'no channel takes a report');
    const ended = await engine.endReport(report, telling);
    if (!ended.ok) log.error({schedule: report.scheduleId, failure: ended.failure}, 'a report could not be ended');
    return ended.ok;
  };

  return {
    nudge,
    keep: async () => {
      const startedAtMs = clock.now();
      while (!over.aborted) {
        wake = new AbortController();
        const due = await engine.dueReports(startedAtMs);
        if (!due.ok) log.error({failure: due.failure}, 'due reports could not be read');
        else {
          for (const report of due.value.reports) begin(report.scheduleId, () => tell(report));
          for (const id of due.value.watches)
            begin(id, async () => {
              const checked = await engine.checkWatch(id);
              if (!checked.ok) log.error({schedule: id, failure: checked.failure}, 'a watch could not be looked at');
              return checked.ok;
            });
        }
        const nextMs = due.ok ? (due.value.nextMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
        await clock.wait(Math.max(0, Math.min(everyMs, nextMs - clock.now())), AbortSignal.any([over, wake.signal]));
      }
      await Promise.all(working.values());
    },
  };
}
