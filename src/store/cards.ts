/** What Slack needs remembered: which command or click was taken already, and where a run's card stands. */
import type {Run, RunId} from '../domain/run.ts';
import type {Card, OpenClaim} from '../engine/ports.ts';
import {loadRun, type Reader} from './read-runs.ts';
import {isUniqueViolation} from './store-error.ts';

/** Longer than any redelivery of Slack's; older claims are forgotten. */
const CLAIM_KEPT_MS = 24 * 3_600_000;

/**
 * The primary key decides between two that claim at once, in whatever process. With a body it stays open until it is
 * settled, so that whoever claims and dies is known to have left somebody waiting.
 */
export async function claim({db}: Reader, key: string, atMs: number, body: unknown = null): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      await trx
        .deleteFrom('claims')
        .where('at_ms', '<', atMs - CLAIM_KEPT_MS)
        .execute();
      await trx
        .insertInto('claims')
        .values({key, at_ms: atMs, body: body === null ? null : JSON.stringify(body), done_at_ms: null})
        .execute();
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

/** Nobody waits for it any more; the key stays taken, and how they would have been answered is forgotten. */
export async function settle({db}: Reader, key: string, atMs: number): Promise<void> {
  await db
    .transaction()
    .execute((trx) =>
      trx
        .updateTable('claims')
        .set({done_at_ms: atMs, body: null})
        .where('key', '=', key)
        .where('done_at_ms', 'is', null)
        .execute(),
    );
}

/** Claims with a body that nobody settled, oldest first. */
export async function unsettled({db}: Reader, limit: number): Promise<readonly OpenClaim[]> {
  const rows = await db
    .selectFrom('claims')
    .select(['key', 'at_ms', 'body'])
    .where('body', 'is not', null)
    .where('done_at_ms', 'is', null)
    .orderBy('at_ms')
    .limit(limit)
    .execute();
  return rows.map(({key, at_ms, body}) => ({key, atMs: Number(at_ms), body: parsed(body)}));
}

function parsed(body: string | null): unknown {
  try {
    return JSON.parse(body ?? 'null');
  } catch {
    // Whoever reads it finds that it is nothing they know.
    return null;
  }
}

/** Only the first place kept for a run counts. */
export async function keepPlace({db}: Reader, id: RunId, channel: string): Promise<void> {
  await db.transaction().execute((trx) =>
    trx
      .insertInto('places')
      .values({run_id: id, channel})
      .onConflict((conflict) => conflict.column('run_id').doNothing())
      .execute(),
  );
}

export async function placeOf({db}: Reader, id: RunId): Promise<string | null> {
  const row = await db.selectFrom('places').select('channel').where('run_id', '=', id).executeTakeFirst();
  return row?.channel ?? null;
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

/** A card that was deleted in Slack is replaced; whoever read another card than `from` is too late. */
export async function moveCard(reader: Reader, id: RunId, from: Card, to: Card): Promise<Card> {
  await reader.db.transaction().execute((trx) =>
    trx
      .updateTable('cards')
      .set({...to})
      .where('run_id', '=', id)
      .where('channel', '=', from.channel)
      .where('ts', '=', from.ts)
      .execute(),
  );
  const kept = await cardOf(reader, id);
  if (kept === null) throw new Error(`Internal error: run ${id} has no card to move`);
  return kept;
}

/** How many of the run's events its thread has told; 0 without a card. */
export async function toldOf({db}: Reader, id: RunId): Promise<number> {
  const row = await db.selectFrom('cards').select('told').where('run_id', '=', id).executeTakeFirst();
  return row === undefined ? 0 : Number(row.told);
}

/** Only ever grows. */
export async function keepTold({db}: Reader, id: RunId, count: number): Promise<void> {
  await db
    .transaction()
    .execute((trx) =>
      trx.updateTable('cards').set({told: count}).where('run_id', '=', id).where('told', '<', count).execute(),
    );
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
