/** Campaigns and other holds. Whether one may be kept beside the others is decided in the transaction that keeps it. */
import type {Kysely, Transaction} from 'kysely';
import type {CampaignId, CampaignNote, KeptCampaign} from '../domain/campaign.ts';
import type {CampaignStore} from '../engine/campaign-ports.ts';
import {decodeAfter, decodeCampaign, decodeCard, decodeSamples} from './campaign-codec.ts';
import type {Reader} from './read-runs.ts';
import type {CampaignNoteRow, CampaignRow, CampaignSamplesRow, Schema} from './schema.ts';
import {isUniqueViolation, StoreError} from './store-error.ts';

/** An ended one can be reported on again for so long; after that it is forgotten with the next that begins. */
const KEPT_MS = 30 * 86_400_000;

export function makeCampaignStore(reader: Reader): CampaignStore {
  const {db} = reader;
  return {
    add: (campaign, inTheWay) =>
      db.transaction().execute(async (trx) => {
        if (inTheWay(await read(reader, trx, campaign.startedAtMs))) return false;
        await forgetOld(trx, campaign.startedAtMs - KEPT_MS);
        const row = {id: campaign.id, started_at_ms: campaign.startedAtMs, body: JSON.stringify(campaign)};
        await trx
          .insertInto('campaigns')
          .values({...row, ended_by: null, ended_at_ms: null, after: null, card: null})
          .execute();
        return true;
      }),
    all: (nowMs) => read(reader, db, nowMs),
    live: () => read(reader, db, null),
    end: async (id, {by, atMs, after}) => {
      const done = await db.transaction().execute((trx) =>
        trx
          .updateTable('campaigns')
          .set({ended_by: by, ended_at_ms: atMs, after: JSON.stringify(after)})
          .where('id', '=', id)
          .where('ended_at_ms', 'is', null)
          .executeTakeFirst(),
      );
      return done.numUpdatedRows === 1n;
    },
    keepSamples: (id, kept) => db.transaction().execute((trx) => keepSamples(trx, id, kept)),
    note: async (id, note) => {
      try {
        const row = {campaign_id: id, what: note.what, at_ms: note.atMs, by_whom: note.by};
        await db.transaction().execute((trx) => trx.insertInto('campaign_notes').values(row).execute());
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    keepCard: async (id, card) => {
      await db.transaction().execute((trx) =>
        trx
          .updateTable('campaigns')
          .set({card: JSON.stringify(card)})
          .where('id', '=', id)
          .execute(),
      );
    },
  };
}

async function keepSamples(
  trx: Transaction<Schema>,
  id: CampaignId,
  {fromMs, nextMs, samples}: Parameters<CampaignStore['keepSamples']>[1],
): Promise<boolean> {
  const open = await trx
    .selectFrom('campaigns')
    .select('id')
    .where('id', '=', id)
    .where('ended_at_ms', 'is', null)
    .executeTakeFirst();
  if (open === undefined) return false;
  const values = {next_ms: nextMs, body: JSON.stringify(samples)};
  if (fromMs === null) {
    const added = await trx
      .insertInto('campaign_samples')
      .values({campaign_id: id, host: samples.host, ...values})
      .onConflict((conflict) => conflict.columns(['campaign_id', 'host']).doNothing())
      .executeTakeFirst();
    return added.numInsertedOrUpdatedRows === 1n;
  }
  const moved = await trx
    .updateTable('campaign_samples')
    .set(values)
    .where('campaign_id', '=', id)
    .where('host', '=', samples.host)
    .where('next_ms', '=', fromMs)
    .executeTakeFirst();
  return moved.numUpdatedRows === 1n;
}

async function forgetOld(trx: Transaction<Schema>, beforeMs: number): Promise<void> {
  const old = await trx.selectFrom('campaigns').select('id').where('ended_at_ms', '<', beforeMs).execute();
  const ids = old.map(({id}) => id);
  if (ids.length === 0) return;
  await trx.deleteFrom('campaign_samples').where('campaign_id', 'in', ids).execute();
  await trx.deleteFrom('campaign_notes').where('campaign_id', 'in', ids).execute();
  await trx.deleteFrom('campaigns').where('id', 'in', ids).execute();
}

/** `db`: the database, or a transaction of it. `nowMs` null: only what somebody is still owed something of. */
async function read(reader: Reader, db: Kysely<Schema>, nowMs: number | null): Promise<readonly KeptCampaign[]> {
  const all = db.selectFrom('campaigns').selectAll().orderBy('started_at_ms').orderBy('id');
  const rows = await (nowMs === null
    ? all.where(({eb, or, and, not, exists, selectFrom}) => {
        const noted = (operator: '=' | 'like', what: string) =>
          exists(
            selectFrom('campaign_notes')
              .select('campaign_id')
              .whereRef('campaign_id', '=', 'campaigns.id')
              .where('what', operator, what),
          );
        return or([
          // Over, and said so: it holds nothing, and may stand for ever. Unless somebody has said "end it" before.
          and([eb('ended_at_ms', 'is', null), or([not(noted('=', 'over')), noted('like', 'answer:%')])]),
          // Ended before it had a card: there is nowhere to tell of that.
          and([eb('ended_at_ms', 'is not', null), eb('card', 'is not', null), not(noted('=', 'ended'))]),
        ]);
      })
    : all.where(({eb, or}) => or([eb('ended_at_ms', 'is', null), eb('ended_at_ms', '>', nowMs - KEPT_MS)]))
  ).execute();
  if (rows.length === 0) return [];
  const ids = rows.map(({id}) => id);
  const samples = await db.selectFrom('campaign_samples').selectAll().where('campaign_id', 'in', ids).execute();
  const notes = await db
    .selectFrom('campaign_notes')
    .selectAll()
    .where('campaign_id', 'in', ids)
    .orderBy('at_ms')
    .orderBy('what')
    .execute();
  const of = <T extends {readonly campaign_id: string}>(rowsOf: readonly T[], id: string): readonly T[] =>
    rowsOf.filter((one) => one.campaign_id === id);
  return rows.map((row) => keptOf(reader, row, of(samples, row.id), of(notes, row.id)));
}

function keptOf(
  {path}: Reader,
  row: CampaignRow,
  samples: readonly CampaignSamplesRow[],
  notes: readonly CampaignNoteRow[],
): KeptCampaign {
  const decoded = <T>(decode: (text: string) => T | null, text: string): T => {
    const value = decode(text);
    if (value !== null) return value;
    throw new StoreError({reason: 'store-unreadable', path, detail: `campaign ${row.id}: damaged`});
  };
  return {
    campaign: decoded(decodeCampaign, row.body),
    ended:
      row.ended_at_ms === null || row.ended_by === null
        ? null
        : {by: row.ended_by, atMs: row.ended_at_ms, after: row.after === null ? [] : decoded(decodeAfter, row.after)},
    card: row.card === null ? null : decoded(decodeCard, row.card),
    samples: samples.map(({next_ms, body}) => ({nextMs: next_ms, samples: decoded(decodeSamples, body)})),
    notes: notes.map(({what, at_ms, by_whom}): CampaignNote => ({what, atMs: at_ms, by: by_whom})),
  };
}
