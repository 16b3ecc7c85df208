/** Schedules and their reports. A due time is taken in the transaction that moves its schedule on: two can't take the same. */
import type {Transaction} from 'kysely';
import type {HostReport} from '../domain/host-report.ts';
import {type Report, type ReportPhase, type RollingMessage, type ScheduleId, scheduleId} from '../domain/schedule.ts';
import type {KeptSchedule, ScheduleStore} from '../engine/report-ports.ts';
import {forgetOld, forgetOver, forgetSeenBefore} from './forget-reports.ts';
import type {Reader} from './read-runs.ts';
import {decodeHosts, decodeMessage, decodeSchedule, decodeWatch, decodeWhy} from './schedule-codec.ts';
import type {ReportRow, ScheduleRow, Schema} from './schema.ts';
import {isUniqueViolation, StoreError} from './store-error.ts';

/** One that is over is still listed for so long. */
const LISTED_MS = 7 * 86_400_000;
/** One that is over, or removed, is forgotten after so long. */
const KEPT_OVER_MS = 90 * 86_400_000;
/** What was seen may be long, a line a host; who lists reports, or waits to tell them, does not need it. */
const WITHOUT_SEEN = [
  'schedule_id',
  'due_at_ms',
  'phase',
  'begun_at_ms',
  'ended_at_ms',
  'late',
  'missed',
  'why',
] as const;

export function makeScheduleStore(reader: Reader): ScheduleStore {
  const {db} = reader;
  return {
    add: async (kept) => {
      try {
        await db.transaction().execute(async (trx) => {
          await forgetOver(trx, kept.schedule.createdAtMs - KEPT_OVER_MS);
          await trx.insertInto('schedules').values(rowOf(kept)).execute();
        });
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    put: async (kept) => {
      const values = rowOf(kept);
      await db.transaction().execute((trx) =>
        trx
          .insertInto('schedules')
          .values(values)
          .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
          .execute(),
      );
    },
    all: async (nowMs) => {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('removed_at_ms', 'is', null)
        .where(({eb, or}) => or([eb('over_at_ms', 'is', null), eb('over_at_ms', '>', nowMs - LISTED_MS)]))
        .orderBy('created_at_ms')
        .orderBy('id')
        .execute();
      return rows.map((row) => keptOf(reader, row));
    },
    load: async (id) => {
      const row = await db.selectFrom('schedules').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined || row.removed_at_ms !== null ? null : keptOf(reader, row);
    },
    remove: async (id, by, atMs) => {
      const done = await db
        .transaction()
        .execute((trx) =>
          trx
            .updateTable('schedules')
            .set({removed_by: by, removed_at_ms: atMs, next_ms: null})
            .where('id', '=', id)
            .where('removed_at_ms', 'is', null)
            .executeTakeFirst(),
        );
      return done.numUpdatedRows === 1n;
    },
    due: async (nowMs) => {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('next_ms', '<=', nowMs)
        .orderBy('next_ms')
        .orderBy('id')
        .execute();
      return rows.map((row) => keptOf(reader, row));
    },
    claim: (claim) =>
      db.transaction().execute(async (trx) => {
        const moved = await trx
          .updateTable('schedules')
          .set({next_ms: claim.nextMs, ...(claim.nextMs === null ? {over_at_ms: claim.atMs} : {})})
          .where('id', '=', claim.id)
          .where('next_ms', '=', claim.fromMs)
          .executeTakeFirst();
        if (moved.numUpdatedRows !== 1n) return 'lost';
        const phase = (await isLooking(trx, claim.id)) ? 'skipped' : 'begun';
        await trx
          .insertInto('reports')
          .values({
            schedule_id: claim.id,
            due_at_ms: claim.dueAtMs,
            phase,
            begun_at_ms: claim.atMs,
            ended_at_ms: phase === 'skipped' ? claim.atMs : null,
            late: claim.late ? 1 : 0,
            missed: claim.missed,
            why: JSON.stringify(claim.why),
            seen: null,
          })
          .execute();
        await forgetOld(trx, claim.id);
        return phase;
      }),
    keepWatch: async (id, fromMs, nextMs, watch) => {
      await db.transaction().execute((trx) =>
        trx
          .updateTable('schedules')
          .set({next_ms: nextMs, watch: JSON.stringify(watch)})
          .where('id', '=', id)
          .where('next_ms', '=', fromMs)
          .execute(),
      );
    },
    owed: async (limit) => {
      const rows = await db
        .selectFrom('reports')
        .select(WITHOUT_SEEN)
        .where('phase', 'in', ['begun', 'looked'])
        .orderBy('due_at_ms')
        .orderBy('schedule_id')
        .limit(limit)
        .execute();
      return rows.map((row) => reportOf(reader, {...row, seen: null}));
    },
    around: (report) => around(reader, report),
    reportsOf: async (id, limit) => {
      const rows = await db
        .selectFrom('reports')
        .select(WITHOUT_SEEN)
        .where('schedule_id', '=', id)
        .orderBy('due_at_ms', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => reportOf(reader, {...row, seen: null}));
    },
    keepSeen: (report, seen) => keepSeen(reader, report, seen),
    end: (report, phase, message, atMs) => end(reader, report, phase, message, atMs),
  };
}

async function around(reader: Reader, {scheduleId, dueAtMs}: Report): ReturnType<ScheduleStore['around']> {
  const all = reader.db.selectFrom('reports').where('schedule_id', '=', scheduleId);
  const own = await all.selectAll().where('due_at_ms', '=', dueAtMs).executeTakeFirst();
  const before = await all
    .selectAll()
    .where('due_at_ms', '<', dueAtMs)
    .where('seen', 'is not', null)
    .orderBy('due_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  const skipped = await all
    .select('due_at_ms')
    .where('due_at_ms', '>', dueAtMs)
    .where('phase', '=', 'skipped')
    .orderBy('due_at_ms')
    .execute();
  return {
    report: own === undefined ? null : reportOf(reader, own),
    before: before === undefined ? null : reportOf(reader, before),
    skippedMs: skipped.map((row) => row.due_at_ms),
  };
}

async function keepSeen({db}: Reader, report: Report, seen: readonly HostReport[]): Promise<void> {
  await db.transaction().execute((trx) =>
    trx
      .updateTable('reports')
      .set({phase: 'looked', seen: JSON.stringify(seen), late: report.late ? 1 : 0})
      .where('schedule_id', '=', report.scheduleId)
      .where('due_at_ms', '=', report.dueAtMs)
      .where('phase', '=', 'begun')
      .execute(),
  );
}

async function end(
  {db}: Reader,
  report: Report,
  phase: ReportPhase,
  message: RollingMessage | null,
  atMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('reports')
      .set({phase, ended_at_ms: atMs})
      .where('schedule_id', '=', report.scheduleId)
      .where('due_at_ms', '=', report.dueAtMs)
      .where('phase', 'in', ['begun', 'looked'])
      .execute();
    await forgetSeenBefore(trx, report);
    if (message !== null)
      await trx
        .updateTable('schedules')
        .set({message: JSON.stringify(message)})
        .where('id', '=', report.scheduleId)
        .execute();
  });
}

async function isLooking(trx: Transaction<Schema>, id: ScheduleId): Promise<boolean> {
  const found = await trx
    .selectFrom('reports')
    .select('due_at_ms')
    .where('schedule_id', '=', id)
    .where('phase', '=', 'begun')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

function rowOf({schedule, nextMs, watch}: Pick<KeptSchedule, 'schedule' | 'nextMs' | 'watch'>): ScheduleRow {
  return {
    id: schedule.id,
    created_at_ms: schedule.createdAtMs,
    body: JSON.stringify(schedule),
    next_ms: nextMs,
    watch: watch === null ? null : JSON.stringify(watch),
    message: null,
    over_at_ms: null,
    removed_by: null,
    removed_at_ms: null,
  };
}

function keptOf(reader: Reader, row: ScheduleRow): KeptSchedule {
  const what = `schedule ${row.id}`;
  return {
    schedule: decoded(reader, what, row.body, decodeSchedule),
    nextMs: row.next_ms,
    watch: row.watch === null ? null : decoded(reader, what, row.watch, decodeWatch),
    message: row.message === null ? null : decoded(reader, what, row.message, decodeMessage),
  };
}

function reportOf(reader: Reader, row: ReportRow): Report {
  const what = `report of ${row.schedule_id} due ${row.due_at_ms}`;
  return {
    scheduleId: scheduleId(row.schedule_id),
    dueAtMs: row.due_at_ms,
    phase: row.phase as ReportPhase,
    begunAtMs: row.begun_at_ms,
    late: row.late === 1,
    missed: row.missed,
    why: decoded(reader, what, row.why, decodeWhy),
    seen: row.seen === null ? null : decoded(reader, what, row.seen, decodeHosts),
  };
}

function decoded<T>({path}: Reader, what: string, text: string, decode: (text: string) => T | null): T {
  const value = decode(text);
  if (value === null) throw new StoreError({reason: 'store-unreadable', path, detail: `${what}: damaged`});
  return value;
}
