/** The engine's port over one database: each method is a function of this room, given its reader. */
import type {Kysely} from 'kysely';
import type {RunStore} from '../engine/ports.ts';
import {askToStop, paused, setPaused, stopAsked} from './brakes.ts';
import {makeCampaignStore} from './campaigns.ts';
import {
  cardOf,
  claim,
  keepCard,
  keepPlace,
  keepTold,
  moveCard,
  placeOf,
  runOfCard,
  settle,
  toldOf,
  unclaim,
  unsettled,
} from './cards.ts';
import {decide} from './decide.ts';
import {leaseOf, releaseLease, takeLease} from './leases.ts';
import {baselines, keepLook, lastLooks, looksAt, noteBaseline} from './looks.ts';
import {makeOfferStore} from './offers.ts';
import {markPosted, owedRuns, pendingOutbox} from './outbox.ts';
import {countRunsBy, findRuns, laterLooks, loadRun, openRunOn, openRuns, recentRuns} from './read-runs.ts';
import {makeScheduleStore} from './schedules.ts';
import type {Schema} from './schema.ts';
import {appendToRun, openRun} from './write-runs.ts';

/** `path` is named by failures. Every method throws StoreError when the database can't be read or durably written. */
export function makeRunStore(db: Kysely<Schema>, path: string): RunStore {
  const reader = {db, path};
  return {
    open: (run) => openRun(reader, run),
    append: (append) => appendToRun(reader, append),
    load: (id) => loadRun(reader, id),
    find: (prefix) => findRuns(reader, prefix),
    openRuns: () => openRuns(reader),
    recent: (limit) => recentRuns(reader, limit),
    openRunOn: (host) => openRunOn(reader, host),
    laterLooks: (limit) => laterLooks(reader, limit),
    countBy: (requester, sinceMs) => countRunsBy(reader, requester, sinceMs),
    decide: (decision) => decide(reader, decision),
    leaseOf: (id) => leaseOf(reader, id),
    takeLease: (id, owner, deadOwner) => takeLease(reader, id, owner, deadOwner),
    releaseLease: (id, owner) => releaseLease(reader, id, owner),
    paused: () => paused(reader),
    setPaused: (by, atMs) => setPaused(reader, by, atMs),
    askToStop: (id, by, atMs) => askToStop(reader, id, by, atMs),
    stopAsked: (id) => stopAsked(reader, id),
    keepLook: (snapshot) => keepLook(reader, snapshot),
    looksAt: (host, bootId, sinceMs) => looksAt(reader, host, bootId, sinceMs),
    lastLooks: () => lastLooks(reader),
    baselines: (gpuUuids) => baselines(reader, gpuUuids),
    noteBaseline: (gpuUuid, usedMiB, atMs) => noteBaseline(reader, gpuUuid, usedMiB, atMs),
    claim: (key, atMs, body) => claim(reader, key, atMs, body),
    settle: (key, atMs) => settle(reader, key, atMs),
    unsettled: (limit) => unsettled(reader, limit),
    unclaim: (key) => unclaim(reader, key),
    keepPlace: (id, channel) => keepPlace(reader, id, channel),
    placeOf: (id) => placeOf(reader, id),
    cardOf: (id) => cardOf(reader, id),
    keepCard: (id, card) => keepCard(reader, id, card),
    moveCard: (id, from, to) => moveCard(reader, id, from, to),
    toldOf: (id) => toldOf(reader, id),
    keepTold: (id, count) => keepTold(reader, id, count),
    runOfCard: (channel, ts) => runOfCard(reader, channel, ts),
    schedules: makeScheduleStore(reader),
    campaigns: makeCampaignStore(reader),
    offers: makeOfferStore(reader),
    owedRuns: (limit) => owedRuns(reader, limit),
    pendingOutbox: (limit, of) => pendingOutbox(reader, limit, of),
    markPosted: (key, atMs) => markPosted(reader, key, atMs),
    close: () => db.destroy(),
  };
}
