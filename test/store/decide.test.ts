import {describe, expect, it} from 'vitest';
import type {RunStore} from '../../src/engine/ports.ts';
import {opened, storePath} from './fresh-store.ts';
import {ANNA, awaitingGo, OWNER, openRun, planned, RUN} from './sample.ts';

type Decision = Parameters<RunStore['decide']>[0];

function go(change: Partial<Decision> = {}): Decision {
  return {
    runId: RUN,
    digest: 'd1',
    nowMs: 500,
    decision: 'approved',
    by: 'os:anna',
    events: [
      {
        kind: 'approved',
        atMs: 500,
        by: ANNA,
        digest: 'd1',
        choice: 'terminate-then-kill',
        breakGlass: false,
        reason: null,
      },
    ],
    phase: 'executing',
    outbox: [],
    owner: OWNER,
    ...change,
  };
}

function expiry(nowMs: number): Decision {
  return go({
    digest: null,
    nowMs,
    decision: 'expired',
    by: 'clock',
    events: [{kind: 'expired', atMs: nowMs}],
    phase: 'closed',
    owner: null,
  });
}

describe('a decision', () => {
  it('wins on a pending approval after a reopen: event, phase and lease in one', async () => {
    const path = storePath();
    const before = await opened(path);
    await awaitingGo(before);
    await before.close();
    const store = await opened(path);
    const won = await store.decide(go());
    expect(won).toMatchObject({won: true, run: {phase: 'executing', version: 3}});
    expect(won.won && won.run.events.at(-1)?.kind).toBe('approved');
    expect(await store.leaseOf(RUN)).toEqual(OWNER);
  });

  it('tells all who come later who was first, and writes nothing of theirs', async () => {
    const store = await opened(storePath());
    await awaitingGo(store);
    await store.decide(go({decision: 'denied', by: 'os:bo', nowMs: 400, phase: 'closed', owner: null}));
    const told = {won: false, why: 'already-decided', by: 'os:bo', decision: 'denied', atMs: 400};
    expect(await store.decide(go())).toEqual(told);
    expect(await store.decide(expiry(2_000))).toEqual(told);
    expect(await store.load(RUN)).toMatchObject({phase: 'closed', version: 3});
    expect(await store.leaseOf(RUN)).toBeNull();
  });

  it('on another digest is told the current one', async () => {
    const store = await opened(storePath());
    const run = await awaitingGo(store);
    await store.append({
      runId: RUN,
      expectedVersion: run.version,
      phase: 'awaiting-go',
      events: [planned('d2')],
      outbox: [],
      openApproval: {digest: 'd2', expiresAtMs: 1_000},
    });
    expect(await store.decide(go())).toEqual({won: false, why: 'outdated', currentDigest: 'd2'});
    expect(await store.decide(go({digest: 'd2'}))).toMatchObject({won: true});
  });

  it.each([
    [999, true],
    [1_000, false],
  ])('at %i ms of 1,000 counts: %s', async (nowMs, won) => {
    const store = await opened(storePath());
    await awaitingGo(store);
    const answer = await store.decide(go({nowMs}));
    expect(answer).toMatchObject(won ? {won: true} : {won: false, why: 'expired', atMs: 1_000});
    expect((await store.load(RUN))?.phase).toBe(won ? 'executing' : 'awaiting-go');
  });

  it('that closes the time matches whatever digest is pending, and is told as expired from then on', async () => {
    const store = await opened(storePath());
    await awaitingGo(store);
    expect(await store.decide(expiry(1_000))).toMatchObject({won: true, run: {phase: 'closed'}});
    expect(await store.decide(go({nowMs: 999}))).toEqual({won: false, why: 'expired', atMs: 1_000});
  });

  it('finds none where none was asked for, or where the run has moved on without it', async () => {
    const store = await opened(storePath());
    expect(await store.decide(go())).toEqual({won: false, why: 'none'});
    const run = await openRun(store);
    expect(await store.decide(go())).toEqual({won: false, why: 'none'});
    const asked = await store.append({
      runId: RUN,
      expectedVersion: run.version,
      phase: 'awaiting-go',
      events: [planned('d1')],
      outbox: [],
      openApproval: {digest: 'd1', expiresAtMs: 1_000},
    });
    expect(asked.ok).toBe(true);
    await store.append({runId: RUN, expectedVersion: 2, phase: 'closed', events: [], outbox: []});
    expect(await store.decide(go())).toEqual({won: false, why: 'none'});
    expect((await store.load(RUN))?.phase).toBe('closed');
  });
});
