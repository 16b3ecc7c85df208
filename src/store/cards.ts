/** What Slack needs remembered: which command or click was taken already, and where a run's card stands. */
import type {Run, RunId} from '../domain/run.ts';
import type {Card} from '../engine/ports.ts';
import {loadRun, type Reader} from './read-runs.ts';
import {isUniqueViolation} from './store-error.ts';

/** Longer than any redelivery of Slack's; older claims are forgotten. */
const CLAIM_KEPT_MS = 24 * 3_600_000;

/** The primary key decides between two that claim at once, in whatever process. */
export async function claim({db}: Reader, key: string, atMs: number): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      await trx
        .deleteFrom('claims')
        .where('at_ms', '<', atMs - CLAIM_KEPT_MS)
        .execute();
      await trx.insertInto('claims').values({key, at_ms: atMs}).execute();
    });
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

export async function unclaim({db}: Reader, key: string): Promise<void> {
  await db.transaction().execute((trx) => trx.deleteFrom('claims').where('key', '=', key).execute());
}

export async function cardOf({db}: Reader, id: RunId): Promise<Card | null> {
  const row = await db.selectFrom('cards').selectAll().where('run_id', '=', id).executeTakeFirst();
  return row === undefined ? null : {team: row.team, channel: row.channel, ts: row.ts};
}

export async function keepCard(reader: Reader, id: RunId, card: Card): Promise<Card> {
  await reader.db.transaction().execute((trx) =>
    trx
      .insertInto('cards')
      .values({run_id: id, ...card})
      .onConflict((conflict) => conflict.column('run_id').doNothing())
      .execute(),
  );
  const kept = await cardOf(reader, id);
  if (kept === null) throw new Error(`Internal error: the card of run ${id} was not kept`);
  return kept;
}

export async function runOfCard(reader: Reader, channel: string, ts: string): Promise<Run | null> {
  const row = await reader.db
    .selectFrom('cards')
    .select('run_id')
    .where('channel', '=', channel)
    .where('ts', '=', ts)
    .executeTakeFirst();
  return row === undefined ? null : loadRun(reader, row.run_id as RunId);
}
