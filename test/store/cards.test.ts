import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {runId} from '../../src/domain/run.ts';
import type {RunStore} from '../../src/engine/ports.ts';
import {openStore} from '../../src/store/open-store.ts';
import {load} from '../../src/store/sqlite-library.ts';

const DAY_MS = 24 * 3_600_000;

describe('what Slack needs remembered', () => {
  let folder: string;
  let store: RunStore;
  const reopen = async (): Promise<RunStore> => {
    const opened = await openStore(join(folder, 'runs.db'));
    if (!opened.ok) throw new Error(opened.failure.reason);
    return opened.value;
  };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cards-'));
    store = await reopen();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, {recursive: true, force: true});
  });

  it('lets one of a hundred simultaneous claims win, and no other connection, until it is given back', async () => {
    const other = await reopen();
    const asked = await Promise.all(Array.from({length: 100}, () => store.claim('click:1', 1_000)));
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect(await other.claim('click:1', 1_500)).toBe(false);
    await other.unclaim('click:1');
    expect(await store.claim('click:1', 2_000)).toBe(true);
    await other.close();
  });

  it('forgets claims after a day, and only then', async () => {
    await store.claim('old', 0);
    expect(await store.claim('old', DAY_MS)).toBe(false);
    expect(await store.claim('old', DAY_MS + 1)).toBe(true);
  });

  it('forgets how somebody would have been answered once they were', async () => {
    const body = {responseUrl: 'https://hooks.example/secret'};
    await store.claim('command:1', 1_000, body);
    expect(await store.unsettled(10)).toEqual([{key: 'command:1', atMs: 1_000, body}]);
    await store.settle('command:1', 2_000);
    expect([await store.unsettled(10), await store.claim('command:1', 2_500, body)]).toEqual([[], false]);
    const {DatabaseSync} = await load();
    const database = new DatabaseSync(join(folder, 'runs.db'));
    expect(database.prepare('select body from claims').all()).toEqual([{body: null}]);
    database.close();
  });

  it('keeps the first card of a run, and finds nothing by a card it does not know', async () => {
    const id = runId('0123456789ab');
    const card = {team: 'T1', channel: 'C1', ts: '1.1'};
    expect(await store.cardOf(id)).toBeNull();
    expect(await store.keepCard(id, card)).toEqual(card);
    expect(await store.keepCard(id, {...card, ts: '2.2'})).toEqual(card);
    await store.close();
    store = await reopen();
    expect(await store.cardOf(id)).toEqual(card);
    expect(await store.runOfCard('C1', '9.9')).toBeNull();
  });

  it('moves a card once, and remembers how much its thread has told', async () => {
    const id = runId('0123456789ab');
    const [first, second, third] = ['1.1', '2.2', '3.3'].map((ts) => ({team: 'T1', channel: 'C1', ts}));
    if (first === undefined || second === undefined || third === undefined) throw new Error('Internal error');
    await store.keepCard(id, first);
    expect(await store.moveCard(id, first, second)).toEqual(second);
    expect(await store.moveCard(id, first, third)).toEqual(second);
    expect(await store.toldOf(id)).toBe(0);
    await store.keepTold(id, 3);
    await store.keepTold(id, 2);
    await store.close();
    store = await reopen();
    expect(await store.toldOf(id)).toBe(3);
  });
});
