/** What earlier looks saw: process names that outlive their processes, and the least memory a GPU was ever seen to use. */
import {sql} from 'kysely';
import {type HostName, hostName} from '../domain/host.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import type {KeptLook} from '../engine/ports.ts';
import type {Reader} from './read-runs.ts';
import {decodeSnapshot} from './run-codec.ts';
import {StoreError} from './store-error.ts';

const HOUR_MS = 60 * 60 * 1000;
const KEPT_MS = 7 * 24 * HOUR_MS;
/** Looks older than `afterMs` are thinned to the first one in each stretch of `toMs`: some 300 a host stay in 7 days. */
const THINNED = [
  {afterMs: HOUR_MS, toMs: HOUR_MS / 6},
  {afterMs: 24 * HOUR_MS, toMs: HOUR_MS},
];

/**
 * Keeps the look (the same one made deeper takes its place), lets go of those that are more than 7 days older than it, and
 * thins those in between: a host may be looked at every minute, and each plan reads all that is kept of it.
 */
export async function keepLook({db}: Reader, snapshot: Snapshot): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('looks')
      .values({
        host: snapshot.host,
        boot_id: snapshot.machine.bootId,
        at_ms: snapshot.takenAtMs,
        body: JSON.stringify(snapshot),
      })
      .onConflict((conflict) =>
        conflict.columns(['host', 'boot_id', 'at_ms']).doUpdateSet({body: JSON.stringify(snapshot)}),
      )
      .execute();
    await trx
      .deleteFrom('looks')
      .where('at_ms', '<', snapshot.takenAtMs - KEPT_MS)
      .execute();
    for (const {afterMs, toMs} of THINNED) {
      const old = trx
        .selectFrom('looks')
        .where('host', '=', snapshot.host)
        .where('at_ms', '<', snapshot.takenAtMs - afterMs);
      await trx
        .deleteFrom('looks')
        .where('host', '=', snapshot.host)
        .where('at_ms', '<', snapshot.takenAtMs - afterMs)
        .where(
          'at_ms',
          'not in',
          old.select(({fn}) => fn.min('at_ms').as('first')).groupBy(['boot_id', sql`at_ms / ${sql.lit(toMs)}`]),
        )
        .execute();
    }
  });
}

/** Oldest first; of that boot only, for PIDs mean nothing in another. */
export async function looksAt(
  {db, path}: Reader,
  host: HostName,
  bootId: string,
  sinceMs: number,
): Promise<readonly Snapshot[]> {
  const rows = await db
    .selectFrom('looks')
    .select(['at_ms', 'body'])
    .where('host', '=', host)
    .where('boot_id', '=', bootId)
    .where('at_ms', '>=', sinceMs)
    .orderBy('at_ms')
    .execute();
  return rows.map(({at_ms, body}) => {
    const snapshot = decodeSnapshot(body);
    if (snapshot !== null) return snapshot;
    throw new StoreError({reason: 'store-unreadable', path, detail: `look at ${host} of ${at_ms}`});
  });
}

/** When each host was looked at last, and in which boot; a host without a kept look is absent. */
export async function lastLooks({db}: Reader): Promise<readonly KeptLook[]> {
  const rows = await db
    .selectFrom('looks')
    .select(({fn}) => ['host', 'boot_id', fn.max('at_ms').as('last_ms')])
    .groupBy(['host', 'boot_id'])
    .execute();
  const newest = new Map<string, KeptLook>();
  for (const row of rows) {
    const atMs = Number(row.last_ms);
    if (atMs > (newest.get(row.host)?.takenAtMs ?? Number.NEGATIVE_INFINITY))
      newest.set(row.host, {host: hostName(row.host), bootId: row.boot_id, takenAtMs: atMs});
  }
  return [...newest.values()];
}

/** MiB by GPU UUID; a GPU that was never seen empty is absent. */
export async function baselines({db}: Reader, gpuUuids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (gpuUuids.length === 0) return new Map();
  const rows = await db
    .selectFrom('baselines')
    .select(['gpu_uuid', 'used_mib'])
    .where('gpu_uuid', 'in', gpuUuids)
    .execute();
  return new Map(rows.map((row) => [row.gpu_uuid, row.used_mib]));
}

/** Only ever falls. */
export async function noteBaseline({db}: Reader, gpuUuid: string, usedMiB: number, atMs: number): Promise<void> {
  await db.transaction().execute((trx) =>
    trx
      .insertInto('baselines')
      .values({gpu_uuid: gpuUuid, used_mib: usedMiB, at_ms: atMs})
      .onConflict((conflict) =>
        conflict
          .column('gpu_uuid')
          .doUpdateSet({used_mib: usedMiB, at_ms: atMs})
          .where('baselines.used_mib', '>', usedMiB),
      )
      .execute(),
  );
}
