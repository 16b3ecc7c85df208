import {describe, expect, it} from 'vitest';
import {opened, storePath} from './fresh-store.ts';
import {HOST, OWNER, openRun, RUN, snapshot} from './sample.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('what the store keeps beside runs', () => {
  it('keeps looks for 7 days, by host and boot', async () => {
    const store = await opened(storePath());
    for (const day of [1, 2, 8.5]) await store.keepLook(snapshot(day * DAY_MS));
    const looks = await store.looksAt(HOST, 'boot-1', 0);
    expect(looks).toEqual([snapshot(2 * DAY_MS), snapshot(8.5 * DAY_MS)]);
    expect(await store.looksAt(HOST, 'boot-1', 3 * DAY_MS)).toHaveLength(1);
    expect(await store.looksAt(HOST, 'boot-2', 0)).toEqual([]);
  });

  it('thins older looks to one in ten minutes, and then to one in an hour', async () => {
    const store = await opened(storePath());
    const minute = 60_000;
    for (let at = 0; at <= 26 * 60; at += 5) await store.keepLook(snapshot(at * minute));
    const minutes = (await store.looksAt(HOST, 'boot-1', 0)).map((look) => look.takenAtMs / minute);
    const now = 26 * 60;
    expect(minutes.filter((at) => at >= now - 60)).toHaveLength(13);
    expect(minutes.filter((at) => at < now - 60 && at >= now - 24 * 60)).toHaveLength(23 * 6);
    expect(minutes.filter((at) => at < now - 24 * 60)).toEqual([0, 60]);
  });

  it('lets a baseline only fall', async () => {
    const store = await opened(storePath());
    for (const usedMiB of [5, 9, 3, 4]) await store.noteBaseline('GPU-a', usedMiB, 1);
    expect([...(await store.baselines(['GPU-a', 'GPU-b']))]).toEqual([['GPU-a', 3]]);
    expect((await store.baselines([])).size).toBe(0);
  });

  it('remembers who paused first until somebody resumes', async () => {
    const path = storePath();
    const store = await opened(path);
    expect(await store.paused()).toBeNull();
    await store.setPaused('os:anna', 5);
    await store.setPaused('os:bo', 6);
    expect(await (await opened(path)).paused()).toEqual({by: 'os:anna', atMs: 5});
    await store.setPaused(null, 7);
    expect(await store.paused()).toBeNull();
  });

  it('carries a wish to stop from one program to another', async () => {
    const path = storePath();
    const store = await opened(path);
    await openRun(store);
    expect(await store.stopAsked(RUN)).toBeNull();
    await (await opened(path)).askToStop(RUN, 'os:bo', 8);
    expect(await store.stopAsked(RUN)).toEqual({by: 'os:bo', atMs: 8});
  });

  it('gives a lease to one, and away only from the owner that was named dead', async () => {
    const store = await opened(storePath());
    await openRun(store);
    const next = {...OWNER, pid: 1, by: 'os:bo'};
    expect(await store.leaseOf(RUN)).toEqual(OWNER);
    expect(await store.takeLease(RUN, next, null)).toBe(false);
    expect(await store.takeLease(RUN, next, {...OWNER, startTicks: '98'})).toBe(false);
    await store.releaseLease(RUN, next);
    expect(await store.leaseOf(RUN)).toEqual(OWNER);
    expect(await store.takeLease(RUN, next, OWNER)).toBe(true);
    expect(await store.takeLease(RUN, OWNER, OWNER)).toBe(false);
    await store.releaseLease(RUN, next);
    expect(await store.leaseOf(RUN)).toBeNull();
    expect(await store.takeLease(RUN, OWNER, null)).toBe(true);
  });
});
