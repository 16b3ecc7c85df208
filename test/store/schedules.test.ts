/** Due times are taken once, whoever asks; what is owed survives; what is damaged is told. */
import {describe, expect, it} from 'vitest';
import {type Schedule, scheduleId} from '../../src/domain/schedule.ts';
import type {RunStore} from '../../src/engine/ports.ts';
import {load} from '../../src/store/sqlite-library.ts';
import {opened, storePath} from './fresh-store.ts';
import {HOST} from './sample.ts';

const ID = scheduleId('s12345');
const SCHEDULE: Schedule = {
  id: ID,
  when: {kind: 'interval', ms: 300_000},
  zone: 'UTC',
  hosts: [{kind: 'host', name: HOST}],
  channel: null,
  quiet: true,
  by: 'os:anna',
  createdAtMs: 0,
};

async function fresh(path = storePath()): Promise<RunStore> {
  const store = await opened(path);
  await store.schedules.add({schedule: SCHEDULE, nextMs: 100, watch: null});
  return store;
}

function claimAt({schedules}: RunStore, fromMs: number, nextMs: number | null) {
  const claim = {id: ID, fromMs, nextMs, dueAtMs: fromMs, atMs: fromMs + 5, late: false, missed: 0};
  return schedules.claim({...claim, why: {kind: 'time'}});
}

describe('a due time', () => {
  it('is taken by one of many that ask at once, through any opening of the store', async () => {
    const path = storePath();
    const one = await fresh(path);
    const other = await opened(path);
    const taken = await Promise.all([one, one, one].map((store) => claimAt(store, 100, 200)));
    expect(taken.toSorted()).toEqual(['begun', 'lost', 'lost']);
    expect(await claimAt(other, 100, 200)).toBe('lost');
    expect(await other.schedules.reportsOf(ID, 9)).toHaveLength(1);
    expect((await other.schedules.load(ID))?.nextMs).toBe(200);
  });

  it('is skipped while an earlier one looks, and not once that is looked', async () => {
    const store = await fresh();
    expect(await claimAt(store, 100, 200)).toBe('begun');
    expect(await claimAt(store, 200, 300)).toBe('skipped');
    const [first] = await store.schedules.owed(9);
    if (first === undefined) throw new Error('nothing is owed');
    await store.schedules.keepSeen({...first, late: true}, [{state: 'gone', host: HOST}]);
    expect(await claimAt(store, 300, null)).toBe('begun');
    expect((await store.schedules.owed(9)).map(({dueAtMs, phase, late}) => [dueAtMs, phase, late])).toEqual([
      [100, 'looked', true],
      [300, 'begun', false],
    ]);
    await store.schedules.end(first, 'told', {channel: 'C1', ts: '1.0', day: '2027-01-01'}, 400);
    await store.schedules.end(first, 'undeliverable', null, 500);
    expect((await store.schedules.reportsOf(ID, 9)).map(({phase}) => phase)).toEqual(['begun', 'skipped', 'told']);
    expect((await store.schedules.load(ID))?.message?.ts).toBe('1.0');
  });

  it('keeps what was seen of the newest, and of those not told yet, and lists them without', async () => {
    const path = storePath();
    const store = await fresh(path);
    const {schedules} = store;
    const see = async (fromMs: number) => {
      await claimAt(store, fromMs, fromMs + 100);
      const report = (await schedules.owed(9)).find(({dueAtMs}) => dueAtMs === fromMs);
      if (report === undefined) throw new Error('nothing is owed');
      await schedules.keepSeen(report, [{state: 'gone', host: HOST}]);
      return report;
    };
    const [one, two, three] = [await see(100), await see(200), await see(300)];
    const {DatabaseSync} = await load();
    const seen = () => {
      const database = new DatabaseSync(path);
      const rows = database.prepare('select due_at_ms as at from reports where seen is not null order by 1').all();
      database.close();
      return (rows as {at: number}[]).map(({at}) => at);
    };
    await schedules.end(one, 'told', null, 400);
    expect(seen()).toEqual([100, 200, 300]);
    await schedules.end(three, 'told', null, 400);
    expect(seen()).toEqual([200, 300]);
    expect((await schedules.around(three)).before?.dueAtMs).toBe(200);
    await schedules.end(two, 'told', null, 400);
    await claimAt(store, 400, 500);
    const [unseen] = await schedules.owed(9);
    if (unseen === undefined) throw new Error('nothing is owed');
    await schedules.end(unseen, 'undeliverable', null, 500);
    expect(seen()).toEqual([200, 300]);
    expect((await schedules.around(unseen)).before?.seen).toEqual([{state: 'gone', host: HOST}]);
    expect((await schedules.reportsOf(ID, 1))[0]?.seen).toBeNull();
  });

  it('of a removed one is nobody’s', async () => {
    const store = await fresh();
    expect(await store.schedules.remove(ID, 'os:bo', 50)).toBe(true);
    expect(await store.schedules.remove(ID, 'os:bo', 50)).toBe(false);
    expect(await claimAt(store, 100, 200)).toBe('lost');
    expect([await store.schedules.due(1_000), await store.schedules.load(ID)]).toEqual([[], null]);
  });
});

describe('the store', () => {
  it('gives no id twice, not even that of a removed one, until it is forgotten', async () => {
    const store = await fresh();
    await store.schedules.remove(ID, 'os:bo', 50);
    expect(await store.schedules.add({schedule: SCHEDULE, nextMs: 1, watch: null})).toBe(false);
    const later = {...SCHEDULE, createdAtMs: 91 * 86_400_000};
    expect(await store.schedules.add({schedule: later, nextMs: 1, watch: null})).toBe(true);
  });

  it('keeps the last 100 reports of a schedule', async () => {
    const store = await fresh();
    for (let at = 100; at < 100 + 120; at += 1) {
      expect(await claimAt(store, at, at + 1)).toBe('begun');
      const [report] = await store.schedules.owed(1);
      if (report !== undefined) await store.schedules.end(report, 'told', null, at);
    }
    const kept = await store.schedules.reportsOf(ID, 500);
    expect(kept).toHaveLength(100);
    expect(kept[0]?.dueAtMs).toBe(219);
  });

  it('names a damaged schedule rather than guess at it', async () => {
    const path = storePath();
    const store = await fresh(path);
    const {DatabaseSync} = await load();
    const raw = new DatabaseSync(path);
    raw.exec(`update schedules set body = '{"id": "s12345"}'`);
    raw.close();
    await expect(store.schedules.due(1_000)).rejects.toMatchObject({
      failure: {reason: 'store-unreadable', detail: expect.stringContaining('schedule s12345')},
    });
  });
});
