/** What open forms showed, until a day later: a form that outlives the program must still mean what it showed. */
import {z} from 'zod';
import type {Offer} from '../domain/offer.ts';
import type {OfferStore} from '../engine/offer-ports.ts';
import {completePlan} from './older-events.ts';
import type {Reader} from './read-runs.ts';
import {decodeSnapshot} from './run-codec.ts';
import {StoreError} from './store-error.ts';

const KEPT_MS = 86_400_000;

const OFFER = z.looseObject({
  runId: z.string(),
  basedOn: z.string(),
  plan: z.looseObject({
    version: z.number(),
    targets: z.array(z.looseObject({identity: z.looseObject({pid: z.number()})})),
    kept: z.array(z.looseObject({pid: z.number()})),
    gpus: z.array(z.looseObject({gpuUuid: z.string()})),
  }),
  families: z.record(z.string(), z.looseObject({rootPid: z.number()})),
  drift: z.array(z.looseObject({pid: z.number(), what: z.string()})),
  stale: z.looseObject({why: z.string()}).nullable(),
});

export function makeOfferStore({db, path}: Reader): OfferStore {
  const read = (id: string) => db.selectFrom('offers').selectAll().where('id', '=', id).executeTakeFirst();
  const unreadable = (id: string) => new StoreError({reason: 'store-unreadable', path, detail: `offer ${id}: damaged`});
  return {
    keep: async ({id, ...offer}, look, atMs) => {
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto('offers')
          .values({id, at_ms: atMs, body: JSON.stringify(offer), look: look === null ? null : JSON.stringify(look)})
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
        await trx
          .deleteFrom('offers')
          .where('at_ms', '<', atMs - KEPT_MS)
          .execute();
      });
    },
    load: async (id) => {
      const row = await read(id);
      if (row === undefined) return null;
      const found = OFFER.safeParse(parsed(row.body));
      if (!found.success) throw unreadable(id);
      const offer = found.data as unknown as Offer;
      return {...offer, plan: completePlan(offer.plan), id};
    },
    lookOf: async (id) => {
      const row = await read(id);
      if (row === undefined || row.look === null) return null;
      const look = decodeSnapshot(row.look);
      if (look === null) throw unreadable(id);
      return look;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
