import {spawnSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {dirname} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import type {DecideResult} from '../../src/engine/ports.ts';
import {isOwnerAlive, ownLeaseOwner} from '../../src/store/lease-owner.ts';
import {load} from '../../src/store/sqlite-library.ts';
import {opened, storePath} from './fresh-store.ts';
import {awaitingGo, HOST, RUN} from './sample.ts';
import type {Built} from './second-program.ts';
import {buildWorker, startWorker} from './second-program.ts';

let built: Built;
beforeAll(() => {
  built = buildWorker();
});
afterAll(() => built.remove());

describe('two programs on one store', () => {
  it('that go at once have one winner, and the other is told who and when', async () => {
    const path = storePath();
    const store = await opened(path);
    await awaitingGo(store);
    const both = ['os:anna', 'os:bo'].map((name) => startWorker(built, ['decide', path, name]));
    for (const program of both) expect(await program.next()).toBe('ready');
    for (const program of both) program.tell();
    const answers = (await Promise.all(both.map((program) => program.next()))) as DecideResult[];
    expect(answers.map((answer) => answer.won).sort()).toEqual([false, true]);
    const winner = answers.findIndex((answer) => answer.won) === 0 ? 'os:anna' : 'os:bo';
    const told = {won: false, why: 'already-decided', by: winner, decision: 'approved', atMs: 500};
    expect(answers.find((answer) => !answer.won)).toEqual(told);
    expect((await store.leaseOf(RUN))?.by).toBe(winner);
    expect((await store.load(RUN))?.events.filter((event) => event.kind === 'approved')).toHaveLength(1);
  });

  it('that make the store and ask for one host at once get one run', async () => {
    const path = storePath();
    const three = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'].map((id) => startWorker(built, ['claim', path, id]));
    for (const program of three) expect(await program.next()).toBe('ready');
    for (const program of three) program.tell();
    const answers = (await Promise.all(three.map((program) => program.next()))) as {ok: boolean; busy?: {id: string}}[];
    const run = await (await opened(path)).openRunOn(HOST);
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(answers.filter((answer) => !answer.ok).map((answer) => answer.busy?.id)).toEqual([run?.id, run?.id]);
  });

  it('write side by side and lose nothing to each other', async () => {
    const path = storePath();
    const ids = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
    const both = ids.map((id) => startWorker(built, ['crowd', path, id]));
    for (const program of both) expect(await program.next()).toBe('ready');
    for (const program of both) program.tell();
    for (const program of both) expect(await program.next()).toBe('done');
    const runs = await (await opened(path)).openRuns();
    expect(runs.map((run) => run.events.length)).toEqual([81, 81]);
  });

  it('keep a living owner apart from a dead one, whose lease can then be taken', async () => {
    const path = storePath();
    const store = await opened(path);
    await awaitingGo(store);
    const other = startWorker(built, ['hold', path, 'os:bo']);
    expect(await other.next()).toBe(true);
    const owner = await store.leaseOf(RUN);
    if (owner === null) throw new Error('no lease');
    expect(owner).toMatchObject({kind: 'terminal', pid: other.process.pid, by: 'os:bo'});
    expect(isOwnerAlive(owner)).toBe(true);
    await other.kill();
    expect(isOwnerAlive(owner)).toBe(false);
    expect(await store.takeLease(RUN, ownLeaseOwner('bot', 'bot'), owner)).toBe(true);
  });

  it('know this process, and no other boot or start of its PID', () => {
    const own = ownLeaseOwner('bot', 'bot');
    expect(isOwnerAlive(own)).toBe(true);
    expect(isOwnerAlive({...own, bootId: 'another'})).toBe(false);
    expect(isOwnerAlive({...own, startTicks: `${own.startTicks}1`})).toBe(false);
  });
});

describe('kill -9 of a writing program', () => {
  it('loses nothing acknowledged and tears nothing, 20 times of 20', async () => {
    const moments = Array.from({length: 20}, (_, round) => 1 + ((round * 7) % 20));
    // Two at a time: a start costs more than the writing.
    while (moments.length > 0) await Promise.all(moments.splice(0, 2).map(killedAfter));
    // 5 s on two idle cores; a busy machine is no failure.
  }, 120_000);
});

async function killedAfter(acknowledgements: number): Promise<void> {
  const path = storePath();
  const writer = startWorker(built, ['write', path]);
  const said: unknown[] = [];
  while (said.length < acknowledgements) said.push(await writer.next());
  said.push(...(await writer.kill()));
  const store = await opened(path);
  const run = await store.load(RUN);
  const version = run?.version ?? 0;
  const steps = Array.from({length: version - 1}, (_, step) => step + 1);
  expect(version).toBeGreaterThanOrEqual(Number(said.at(-1)));
  expect(
    run?.events
      .slice(1)
      .map((event) => event.kind === 'noted' && event.note.what === 'stopped' && event.note.by.split(' ')[0]),
  ).toEqual(steps.flatMap((step) => [`${step}.1`, `${step}.2`, `${step}.3`]));
  expect((await store.pendingOutbox(10_000)).map((row) => row.body)).toEqual(steps);
  const {DatabaseSync} = await load();
  const raw = new DatabaseSync(path);
  expect(raw.prepare('pragma integrity_check').all()).toEqual([{integrity_check: 'ok'}]);
  raw.close();
}

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0 && process.getuid?.() === 0;

describe.skipIf(!canMount)('a small disk (needs root and unshare: apt-get install util-linux)', () => {
  it('that is full is told, and holds exactly what was acknowledged', async () => {
    const path = storePath();
    const writer = startWorker(built, ['fill', path], `mount -t tmpfs -o size=1m tmpfs ${dirname(path)}; exec "$@"`);
    const end = (await writer.next()) as {acknowledged: number; version: number};
    expect(end.acknowledged).toBeGreaterThan(2);
    expect(end).toEqual({
      failure: {reason: 'store-unwritable', path, detail: 'database or disk is full'},
      acknowledged: end.version,
      version: end.version,
      events: 1 + 3 * (end.version - 1),
      owed: end.version - 1,
    });
  });

  it.each(['new', 'existing'])('that is read-only is told for a store that is %s', async (which) => {
    const path = storePath();
    if (which === 'existing') await (await opened(path)).close();
    mkdirSync(dirname(path), {recursive: true});
    const folder = dirname(path);
    const before = `mount --bind ${folder} ${folder}; mount -o remount,ro,bind ${folder}; exec "$@"`;
    const told = await startWorker(built, ['look', path], before).next();
    expect(told).toMatchObject({reason: 'store-unwritable', path, detail: expect.stringContaining('EROFS')});
  });
});
