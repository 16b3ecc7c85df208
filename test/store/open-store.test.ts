import {mkdirSync, readFileSync, renameSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {RunEvent} from '../../src/domain/run.ts';
import {openStore} from '../../src/store/open-store.ts';
import {decodeEvent, EVENT_FORMAT, encodeEvent} from '../../src/store/run-codec.ts';
import {MIGRATIONS} from '../../src/store/schema.ts';
import {load} from '../../src/store/sqlite-library.ts';
import {StoreError} from '../../src/store/store-error.ts';
import {opened, storePath} from './fresh-store.ts';
import {awaitingGo, noted, openRun, planned, RUN} from './sample.ts';

/** What another program, or a damaged disk, may have done to the file. */
async function alter(path: string, ...statements: readonly string[]): Promise<void> {
  const {DatabaseSync} = await load();
  const raw = new DatabaseSync(path);
  for (const sql of statements) raw.exec(sql);
  raw.close();
}

describe('opening a store', () => {
  it('makes folder and file for their owner alone, journal files included', async () => {
    const path = join(dirname(storePath()), 'state', 'gpu-reclaim', 'runs.db');
    await openRun(await opened(path));
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
    for (const file of ['', '-wal', '-shm']) expect(statSync(`${path}${file}`).mode & 0o777).toBe(0o600);
  });

  it('refuses a folder in its place', async () => {
    const path = storePath();
    mkdirSync(path);
    expect(await openStore(path)).toEqual({
      ok: false,
      failure: {reason: 'store-unwritable', path, detail: 'not a file'},
    });
  });

  it('refuses a parent that is a file', async () => {
    const path = storePath();
    writeFileSync(path, '');
    const below = join(path, 'runs.db');
    expect(await openStore(below)).toMatchObject({ok: false, failure: {reason: 'store-unwritable', path: below}});
  });

  it('refuses a file that is no database, and leaves it as it was', async () => {
    const path = storePath();
    const text = 'dear diary, '.repeat(500);
    writeFileSync(path, text);
    expect(await openStore(path)).toEqual({
      ok: false,
      failure: {reason: 'store-unreadable', path, detail: 'file is not a database'},
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('refuses the database of another program, and leaves it as it was', async () => {
    const path = storePath();
    await alter(path, 'create table recipes (name text)');
    const before = readFileSync(path);
    expect(await openStore(path)).toMatchObject({ok: false, failure: {reason: 'store-unreadable'}});
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('refuses the store of a later version of this program', async () => {
    const path = storePath();
    await (await opened(path)).close();
    await alter(path, 'update store_version set version = 99');
    const detail = `schema version 99, this program knows ${MIGRATIONS.length}`;
    expect(await openStore(path)).toEqual({ok: false, failure: {reason: 'store-unreadable', path, detail}});
  });

  it('takes the path as a file name, never as a URI or as memory', async () => {
    const path = join(dirname(storePath()), 'file:runs.db?mode=memory');
    await openRun(await opened(path));
    expect(await (await opened(path)).load(RUN)).not.toBeNull();
  });
});

describe('a store that breaks under way', () => {
  it.each([
    [
      'a kind of event from the future',
      `update run_events set body = '{"kind":"levitated","atMs":1}' where seq = 2`,
      'levitated',
    ],
    ['a later event format', 'update run_events set format = 2 where seq = 2', 'format 2'],
    ['damaged JSON', `update run_events set body = '{' where seq = 2`, 'no event'],
    ['an event without its plan', `update run_events set body = '{"kind":"planned","atMs":1}' where seq = 2`, 'plan'],
    ['a phase from the future', `update runs set phase = 'dreaming'`, 'dreaming'],
  ])('names the run that has %s, and drops nothing', async (_, sql, named) => {
    const path = storePath();
    const store = await opened(path);
    await awaitingGo(store);
    await alter(path, sql);
    const failure = await store.load(RUN).catch((error) => error.failure);
    expect(failure).toMatchObject({reason: 'store-unreadable', path});
    expect(failure.detail).toContain(RUN);
    expect(failure.detail).toContain(named);
  });

  it('writes nothing to a run that it cannot read', async () => {
    const path = storePath();
    const store = await opened(path);
    await awaitingGo(store);
    await alter(path, 'update run_events set format = 2 where seq = 2');
    const append = {runId: RUN, expectedVersion: 2, phase: 'executing', events: [noted('x')], outbox: []} as const;
    await expect(store.append(append)).rejects.toThrow(StoreError);
    await alter(path, `update run_events set format = ${EVENT_FORMAT}`);
    expect(await store.load(RUN)).toMatchObject({phase: 'awaiting-go', version: 2});
  });

  it('refuses to write to a file that was removed or replaced', async () => {
    const path = storePath();
    const store = await opened(path);
    renameSync(path, `${path}.old`);
    await expect(openRun(store)).rejects.toMatchObject({failure: {reason: 'store-unwritable', path}});
    await (await opened(`${path}.new`)).close();
    renameSync(`${path}.new`, path);
    await expect(store.setPaused('os:anna', 1)).rejects.toThrow(StoreError);
  });
});

describe('an event', () => {
  it.each<RunEvent>([
    {kind: 'expired', atMs: 1},
    {kind: 'failed', atMs: 1, failure: {reason: 'no-approvers'}},
    {kind: 'looked-again', atMs: 1, snapshot: null, failure: null},
    {kind: 'settled', atMs: 1, how: 'stalled', uptimeMs: 2},
    {kind: 'closed', atMs: 1, outcome: {word: 'denied', gpus: [], survivors: [], because: null, freedAfterMs: null}},
  ])('$kind survives the way to JSON and back', (event) => {
    expect(decodeEvent(EVENT_FORMAT, encodeEvent(event))).toEqual({ok: true, event});
  });

  it('of a version before the deeper look is whole when it is read: who had to hold a device still has to', () => {
    const {kind, plan, ...rest} = planned('d1') as Extract<RunEvent, {kind: 'planned'}>;
    const {stops, noStops, owned, writing, longestGraceMs, ...before} = plan;
    const target = (pid: number, holdsDevice: boolean) => ({
      identity: {pid, startTicks: '9', uid: 0, executable: '1:2'},
      holdsDevice,
    });
    const old = {kind, ...rest, plan: {...before, targets: [target(400, false), target(500, true)]}};
    const read = decodeEvent(EVENT_FORMAT, JSON.stringify(old));
    expect(read).toMatchObject({
      ok: true,
      event: {
        plan: {
          targets: [
            {heldBy: 'nothing', owners: [], family: {framework: null, rootPid: 400}},
            {heldBy: 'paths', owners: [], family: {framework: null, rootPid: 500}},
          ],
          longestGraceMs: plan.graceMs,
          stops: [],
          noStops,
          owned,
          writing,
        },
      },
    });
    expect([stops, longestGraceMs]).toEqual([[], 600_000]);
  });

  it('keeps fields that this program does not know', () => {
    const body = '{"kind":"expired","atMs":1,"mood":"good"}';
    expect(decodeEvent(EVENT_FORMAT, body)).toMatchObject({ok: true, event: {mood: 'good'}});
  });
});
