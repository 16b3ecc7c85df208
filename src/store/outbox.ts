/** Messages owed to people, oldest first; each stays until it is marked posted. */
import type {Transaction} from 'kysely';
import {type RunId, runId} from '../domain/run.ts';
import type {OutboxRow} from '../engine/ports.ts';
import type {Reader} from './read-runs.ts';
import type {Schema} from './schema.ts';
import {StoreError} from './store-error.ts';

/** A second row with a key that is there already is ignored: the effect is owed once. */
export async function addToOutbox(
  trx: Transaction<Schema>,
  version: number,
  atMs: number,
  rows: readonly OutboxRow[],
): Promise<void> {
  for (const [place, row] of rows.entries()) {
    await trx
      .insertInto('outbox')
      .values({
        key: row.key,
        run_id: row.runId,
        kind: row.kind,
        body: JSON.stringify(row.body ?? null),
        at_ms: atMs,
        version,
        place,
        posted_at_ms: null,
      })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  }
}

/** Runs that owe a message, the longest owed first: each once, so that one with many hides no other. */
export async function owedRuns({db}: Reader, limit: number): Promise<readonly RunId[]> {
  const rows = await db
    .selectFrom('outbox')
    .select(({fn}) => ['run_id', fn.min('at_ms').as('since_ms')])
    .where('posted_at_ms', 'is', null)
    .groupBy('run_id')
    .orderBy('since_ms')
    .limit(limit)
    .execute();
  return rows.map(({run_id}) => runId(run_id));
}

/** Of all runs, or of one. */
export async function pendingOutbox(
  {db, path}: Reader,
  limit: number,
  of: RunId | null = null,
): Promise<readonly OutboxRow[]> {
  const all = db.selectFrom('outbox').select(['key', 'run_id', 'kind', 'body']).where('posted_at_ms', 'is', null);
  const rows = await (of === null ? all : all.where('run_id', '=', of))
    .orderBy('at_ms')
    .orderBy('version')
    .orderBy('place')
    .limit(limit)
    .execute();
  return rows.map(({key, run_id, kind, body}) => ({key, runId: runId(run_id), kind, body: parse(path, key, body)}));
}

export async function markPosted({db}: Reader, key: string, atMs: number): Promise<void> {
  await db
    .transaction()
    .execute((trx) =>
      trx
        .updateTable('outbox')
        .set({posted_at_ms: atMs})
        .where('key', '=', key)
        .where('posted_at_ms', 'is', null)
        .execute(),
    );
}

function parse(path: string, key: string, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new StoreError({reason: 'store-unreadable', path, detail: `outbox row ${key}: damaged JSON`});
  }
}
