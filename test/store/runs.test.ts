import {describe, expect, it} from 'vitest';
import type {RunEvent} from '../../src/domain/run.ts';
import {runId} from '../../src/domain/run.ts';
import type {Append} from '../../src/engine/ports.ts';
import {opened, storePath} from './fresh-store.ts';
import {HOST, MACHINE, noted, OWNER, openRun, planned, RUN, requested, snapshot} from './sample.ts';

const OTHER = runId('ba9876543210');

function step(change: Partial<Append>): Append {
  return {runId: RUN, expectedVersion: 1, phase: 'looking', events: [], outbox: [], ...change};
}

function owed(key: string, body: unknown = null) {
  return {key, runId: RUN, kind: 'card', body};
}

describe('a run in the store', () => {
  it('comes back as it was written, after a reopen too', async () => {
    const path = storePath();
    const events: RunEvent[] = [
      {kind: 'surveyed', atMs: 2, snapshot: snapshot(2)},
      planned('d1'),
      {kind: 'memory', atMs: 4, uptimeMs: 4, usedMiB: {'GPU-a': 96_844}},
      noted('ünïcode \u0000 "quoted" \u001b[31m'),
    ];
    const first = await opened(path);
    await openRun(first);
    const appended = await first.append(step({events, phase: 'executing'}));
    await first.close();
    const again = await (await opened(path)).load(RUN);
    expect(appended).toEqual({ok: true, run: again});
    expect(again).toEqual({
      id: RUN,
      host: HOST,
      phase: 'executing',
      version: 2,
      createdAtMs: 1,
      events: [requested(), ...events],
    });
  });

  it('takes one of two appends on the same version and shows the other what stands', async () => {
    const store = await opened(storePath());
    await openRun(store);
    const both = await Promise.all([
      store.append(step({events: [noted('first')]})),
      store.append(step({events: [noted('second')]})),
    ]);
    expect(both[0].ok).toBe(true);
    expect(both[1]).toMatchObject({ok: false, conflict: 'version', other: {version: 2}});
    expect((await store.load(RUN))?.events.slice(1)).toEqual([noted('first')]);
  });

  it('says version conflict for a run that is not there', async () => {
    const store = await opened(storePath());
    expect(await store.append(step({}))).toEqual({ok: false, conflict: 'version', other: null});
  });

  it('refuses a second open run on a host and names the first', async () => {
    const store = await opened(storePath());
    await openRun(store);
    const second = {id: OTHER, host: HOST, atMs: 2, requester: 'os:bo', event: requested(), owner: OWNER};
    expect(await store.open(second)).toMatchObject({ok: false, busy: {id: RUN}});
    expect(await store.load(OTHER)).toBeNull();
    await store.append(step({phase: 'closed'}));
    expect(await store.open(second)).toMatchObject({ok: true, run: {id: OTHER, version: 1}});
  });

  it('refuses a second open run on a machine under another name, and writes nothing of it', async () => {
    const store = await opened(storePath());
    await openRun(store);
    await store.append(step({machine: MACHINE}));
    await openRun(store, OTHER, 'gpu-07-alias');
    const surveyed = step({runId: OTHER, machine: MACHINE, events: [noted('x')], outbox: [owed('x')]});
    expect(await store.append(surveyed)).toMatchObject({ok: false, conflict: 'machine-busy', other: {id: RUN}});
    expect(await store.load(OTHER)).toMatchObject({version: 1, events: [requested('gpu-07-alias')]});
    expect(await store.pendingOutbox(9)).toEqual([]);
    await store.append(step({expectedVersion: 2, phase: 'closed'}));
    expect(await store.append(surveyed)).toMatchObject({ok: true});
  });

  it('refuses an append whose owner has lost the lease', async () => {
    const store = await opened(storePath());
    await openRun(store);
    const thief = {...OWNER, pid: 4712};
    expect(await store.takeLease(RUN, thief, OWNER)).toBe(true);
    expect(await store.append(step({owner: OWNER, events: [noted('late')]}))).toMatchObject({
      ok: false,
      conflict: 'lease-lost',
      other: {version: 1},
    });
    expect(await store.append(step({owner: thief}))).toMatchObject({ok: true});
  });

  it('never opens a closed run again, but adds to it', async () => {
    const store = await opened(storePath());
    await openRun(store);
    await store.append(step({phase: 'closed'}));
    await expect(store.append(step({expectedVersion: 2, phase: 'executing'}))).rejects.toThrow('Internal error');
    const added = await store.append(step({expectedVersion: 2, phase: 'closed', events: [noted('back again')]}));
    expect(added).toMatchObject({ok: true, run: {phase: 'closed', version: 3}});
  });

  it('knows which runs are owed a look and when, until none is', async () => {
    const path = storePath();
    const store = await opened(path);
    await openRun(store);
    expect(await store.laterLooks(9)).toEqual([]);
    await store.append(step({phase: 'closed', nextLookAtMs: 70_000}));
    await openRun(store, OTHER, 'gpu-08');
    await store.append(step({runId: OTHER, phase: 'closed', nextLookAtMs: 60_000}));
    const owed = [
      {runId: OTHER, host: 'gpu-08', dueAtMs: 60_000},
      {runId: RUN, host: HOST, dueAtMs: 70_000},
    ];
    expect(await (await opened(path)).laterLooks(9)).toEqual(owed);
    expect(await store.laterLooks(1)).toEqual(owed.slice(0, 1));
    // What says nothing of looks leaves them owed.
    await store.append(step({expectedVersion: 2, phase: 'closed', events: [noted('x')]}));
    expect(await store.laterLooks(9)).toEqual(owed);
    await store.append(step({runId: OTHER, expectedVersion: 2, phase: 'closed', nextLookAtMs: null}));
    await store.append(step({expectedVersion: 3, phase: 'closed', nextLookAtMs: 80_000}));
    expect(await store.laterLooks(9)).toEqual([{runId: RUN, host: HOST, dueAtMs: 80_000}]);
  });

  it('refuses to write an event that it could not read back', async () => {
    const store = await opened(storePath());
    await openRun(store);
    const broken = {...noted('x'), atMs: Number.NaN} as RunEvent;
    await expect(store.append(step({events: [broken], outbox: [owed('a')]}))).rejects.toThrow('Internal error');
    expect(await store.load(RUN)).toMatchObject({version: 1});
  });

  it('owes a message once, however often its key comes', async () => {
    const store = await opened(storePath());
    await openRun(store);
    await store.append(step({outbox: [owed('b', {text: 'one'}), owed('a')]}));
    await store.append(step({expectedVersion: 2, outbox: [owed('b', {text: 'two'}), owed('c')]}));
    expect(await store.pendingOutbox(9)).toEqual([owed('b', {text: 'one'}), owed('a'), owed('c')]);
    await store.markPosted('b', 9);
    expect((await store.pendingOutbox(1)).map((row) => row.key)).toEqual(['a']);
  });

  it('finds runs by the start of their id, the open ones, and the newest', async () => {
    const store = await opened(storePath());
    await openRun(store);
    await openRun(store, OTHER, 'gpu-08');
    await store.append(step({phase: 'closed'}));
    const ids = (runs: readonly {id: string}[]) => runs.map((run) => run.id);
    expect(ids(await store.find('0123'))).toEqual([RUN]);
    expect(ids(await store.find('%'))).toEqual([]);
    expect(ids(await store.find(''))).toEqual([]);
    expect(ids(await store.openRuns())).toEqual([OTHER]);
    expect(ids(await store.recent(1))).toEqual([OTHER]);
    expect(await store.openRunOn(HOST)).toBeNull();
  });

  it('counts what a person asked for since a time', async () => {
    const store = await opened(storePath());
    for (const [place, atMs] of [10, 20, 30].entries()) {
      const id = runId(`00000000000${place}`);
      const host = requested(`gpu-${place}`);
      await store.open({
        id,
        host: `gpu-${place}` as typeof HOST,
        atMs,
        requester: 'os:anna',
        event: host,
        owner: OWNER,
      });
    }
    expect(await store.countBy('os:anna', 20)).toEqual({count: 2, oldestAtMs: 20});
    expect(await store.countBy('os:bo', 0)).toEqual({count: 0, oldestAtMs: null});
  });
});
