/** What schedules and reports leave behind that nobody needs any more. Each within the transaction that makes it so. */
import type {Transaction} from 'kysely';
import type {Report, ScheduleId} from '../domain/schedule.ts';
import type {Schema} from './schema.ts';

/** Reports of one schedule that are kept; the newest with looks is what the next one is compared with. */
const KEPT_REPORTS = 100;

/** Those that ended or were removed before `beforeMs`, with their reports. */
export async function forgetOver(trx: Transaction<Schema>, beforeMs: number): Promise<void> {
  const old = await trx
    .selectFrom('schedules')
    .select('id')
    .where(({eb, or}) => or([eb('over_at_ms', '<', beforeMs), eb('removed_at_ms', '<', beforeMs)]))
    .execute();
  const ids = old.map(({id}) => id);
  if (ids.length === 0) return;
  await trx.deleteFrom('reports').where('schedule_id', 'in', ids).execute();
  await trx.deleteFrom('schedules').where('id', 'in', ids).execute();
}

/** All but the last of one schedule; what is owed stays. */
export async function forgetOld(trx: Transaction<Schema>, id: ScheduleId): Promise<void> {
  const oldest = await trx
    .selectFrom('reports')
    .select('due_at_ms')
    .where('schedule_id', '=', id)
    .orderBy('due_at_ms', 'desc')
    .offset(KEPT_REPORTS)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await trx
    .deleteFrom('reports')
    .where('schedule_id', '=', id)
    .where('due_at_ms', '<=', oldest.due_at_ms)
    .where('phase', 'not in', ['begun', 'looked'])
    .execute();
}

/** The next one is compared with the newest that was seen: what those before it saw is of no use any more. */
export async function forgetSeenBefore(trx: Transaction<Schema>, {scheduleId: id, dueAtMs}: Report): Promise<void> {
  const own = await trx
    .selectFrom('reports')
    .select('due_at_ms')
    .where('schedule_id', '=', id)
    .where('due_at_ms', '=', dueAtMs)
    .where('seen', 'is not', null)
    .executeTakeFirst();
  if (own === undefined) return;
  await trx
    .updateTable('reports')
    .set({seen: null})
    .where('schedule_id', '=', id)
    .where('due_at_ms', '<', dueAtMs)
    .where('seen', 'is not', null)
    .where('phase', 'not in', ['begun', 'looked'])
    .execute();
}
