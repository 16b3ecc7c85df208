/** The two brakes: everything (pause) and one run (stop). Workers read them before each signal. */
import type {RunId} from '../domain/run.ts';
import type {Reader} from './read-runs.ts';

type Pulled = {readonly by: string; readonly atMs: number};

export async function paused({db}: Reader): Promise<Pulled | null> {
  const row = await db.selectFrom('pause').selectAll().executeTakeFirst();
  return row === undefined ? null : {by: row.by_person, atMs: row.at_ms};
}

/** null resumes. A second pause keeps the first one's name and time. */
export async function setPaused({db}: Reader, by: string | null, atMs: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (by === null) await trx.deleteFrom('pause').execute();
    else {
      await trx
        .insertInto('pause')
        .values({id: 1, by_person: by, at_ms: atMs})
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  });
}

/** The first who asks is kept. */
export async function askToStop({db}: Reader, id: RunId, by: string, atMs: number): Promise<void> {
  await db
    .transaction()
    .execute((trx) =>
      trx
        .updateTable('runs')
        .set({stop_by: by, stop_at_ms: atMs})
        .where('id', '=', id)
        .where('stop_by', 'is', null)
        .execute(),
    );
}

export async function stopAsked({db}: Reader, id: RunId): Promise<Pulled | null> {
  const row = await db.selectFrom('runs').select(['stop_by', 'stop_at_ms']).where('id', '=', id).executeTakeFirst();
  if (row === undefined || row.stop_by === null) return null;
  return {by: row.stop_by, atMs: row.stop_at_ms ?? 0};
}
