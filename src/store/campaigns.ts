/** Campaigns and other holds. Whether one may be kept beside the others is decided in the transaction that keeps it. */
import type {Kysely} from 'kysely';
import {z} from 'zod';
import type {Campaign, KeptCampaign} from '../domain/campaign.ts';
import type {HostFacts} from '../domain/host-facts.ts';
import type {CampaignStore} from '../engine/campaign-ports.ts';
import type {Reader} from './read-runs.ts';
import type {CampaignRow, Schema} from './schema.ts';
import {StoreError} from './store-error.ts';

/** An ended one can be reported on again for so long. */
const KEPT_MS = 30 * 86_400_000;

const FACTS = z.looseObject({
  seen: z.looseObject({
    state: z.literal('seen'),
    host: z.string(),
    bootId: z.string(),
    gpus: z.array(z.looseObject({uuid: z.string()})),
    holders: z.array(z.looseObject({pid: z.number(), startTicks: z.string()})),
  }),
  uptimeMs: z.number(),
  settings: z.looseObject({gpus: z.array(z.looseObject({uuid: z.string()}))}).nullable(),
  deep: z.looseObject({mpsSeen: z.boolean()}).nullable(),
});
const CAMPAIGN = z.looseObject({
  id: z.string(),
  kind: z.enum(['profile', 'keep']),
  hosts: z.array(z.string()),
  gpus: z.array(z.number()).nullable(),
  by: z.string(),
  startedAtMs: z.number(),
  untilMs: z.number().nullable(),
  before: z.array(FACTS),
});
const CARD = z.looseObject({channel: z.string(), ts: z.string()});

export function makeCampaignStore(reader: Reader): CampaignStore {
  const {db} = reader;
  return {
    add: (campaign, inTheWay) =>
      db.transaction().execute(async (trx) => {
        if (inTheWay(await read(reader, trx, campaign.startedAtMs))) return false;
        const row = {id: campaign.id, started_at_ms: campaign.startedAtMs, body: JSON.stringify(campaign)};
        await trx
          .insertInto('campaigns')
          .values({...row, ended_by: null, ended_at_ms: null, after: null, card: null})
          .execute();
        return true;
      }),
    all: (nowMs) => read(reader, db, nowMs),
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

/** `db`: the database, or a transaction of it. */
async function read(reader: Reader, db: Kysely<Schema>, nowMs: number): Promise<readonly KeptCampaign[]> {
  const rows = await db
    .selectFrom('campaigns')
    .selectAll()
    .where(({eb, or}) => or([eb('ended_at_ms', 'is', null), eb('ended_at_ms', '>', nowMs - KEPT_MS)]))
    .orderBy('started_at_ms')
    .orderBy('id')
    .execute();
  return rows.map((row) => keptOf(reader, row));
}

function keptOf({path}: Reader, row: CampaignRow): KeptCampaign {
  const decoded = <T>(shape: z.ZodType, text: string): T => {
    const found = shape.safeParse(parsed(text));
    if (found.success) return found.data as T;
    throw new StoreError({reason: 'store-unreadable', path, detail: `campaign ${row.id}: damaged`});
  };
  return {
    campaign: decoded<Campaign>(CAMPAIGN, row.body),
    ended:
      row.ended_at_ms === null || row.ended_by === null
        ? null
        : {
            by: row.ended_by,
            atMs: row.ended_at_ms,
            after: row.after === null ? [] : decoded<readonly HostFacts[]>(z.array(FACTS), row.after),
          },
    card: row.card === null ? null : decoded<NonNullable<KeptCampaign['card']>>(CARD, row.card),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
