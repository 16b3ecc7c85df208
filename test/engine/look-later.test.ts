/** Later looks over a real store: owed by the close, noted once, never taken for clean where nobody could look. */
import {describe, expect, it} from 'vitest';
import {type Failure, fail} from '../../src/domain/failure.ts';
import type {Host, HostName} from '../../src/domain/host.ts';
import type {Policy} from '../../src/domain/policy.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {bareOutcome, close} from '../../src/engine/commit.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {makeTurns} from '../../src/engine/turns.ts';
import {ANNA, aHost, aPlan, aPolicy, aSnapshot, aTarget, BO, HOST, MACHINE} from '../doubles/build.ts';
import {aCampaign} from '../doubles/campaign.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER, openRun, RUN} from '../store/sample.ts';

const UNREACHABLE: Failure = {reason: 'host-unreachable', host: HOST, address: '192.0.2.7:22', detail: 'no route'};
const DIGEST = 'd1';
const never = (): never => {
  throw new Error('Internal error: not asked in these tests');
};

/** An engine whose hosts answer nothing, and a clock that is set by hand. The run stands at its go. */
async function stage(
  change: {
    readonly policy?: Partial<Policy>;
    readonly hosts?: ReadonlyMap<HostName, Host>;
    readonly onProbe?: () => void;
  } = {},
) {
  const store = await opened(storePath());
  const told: RunEvent[] = [];
  const clock = {at: 1_000_000, now: () => clock.at, ticks: () => clock.at, wait: async () => undefined};
  const quiet = {info: () => undefined, warn: () => undefined, error: () => undefined};
  const deps: EngineDeps = {
    hosts: change.hosts ?? new Map([[HOST, aHost()]]),
    remote: {
      host: () => ({
        probe: async () => {
          change.onProbe?.();
          return fail(UNREACHABLE);
        },
        deep: never,
        writes: never,
        owners: never,
        owned: never,
        settings: never,
        sample: never,
        signal: never,
      }),
      close: async () => undefined,
    },
    store,
    policy: aPolicy(change.policy),
    clock,
    log: quiet,
    announcer: {announce: (_, events) => void told.push(...events), progress: () => undefined},
    newRunId: never,
    digest: never,
    nextTimes: never,
    isAlive: () => true,
    turns: makeTurns(clock),
    owner: OWNER,
  };
  const waiting = await openRun(store);
  return {store, deps, clock, told, run: waiting, engine: makeEngine(deps)};
}

function sent(result: 'sent' | 'gone' | null): readonly RunEvent[] {
  const {identity} = aTarget({pid: 500});
  const intent = {kind: 'signal-intended', atMs: 1, rung: 1, identities: [identity], signal: 'SIGKILL'} as const;
  return [
    {kind: 'surveyed', atMs: 1, snapshot: aSnapshot([])},
    {kind: 'planned', atMs: 1, plan: aPlan(), digest: DIGEST, expiresAtMs: 2},
    {
      kind: 'approved',
      atMs: 1,
      by: ANNA,
      digest: DIGEST,
      choice: 'terminate-then-kill',
      breakGlass: false,
      reason: null,
    },
    {...intent, machine: MACHINE, notAfterUptimeMs: 9},
    ...(result === null
      ? []
      : [
          {
            kind: 'signal-result',
            atMs: 1,
            rung: 1,
            pid: 500,
            signal: 'SIGKILL',
            result,
            detail: '',
            uptimeMs: 1,
          } as const,
        ]),
  ];
}

async function closed(on: {readonly deps: EngineDeps; readonly run: Run}, events = sent('sent')): Promise<Run> {
  const done = await close(on.deps, on.run, bareOutcome('reclaimed', null), events);
  if (!done.ok) throw new Error(done.failure.reason);
  return done.value;
}

describe('the close', () => {
  it.each<readonly [string, readonly RunEvent[], Partial<Policy>, readonly number[]]>([
    ['owes the policy’s looks after a signal', sent('sent'), {}, [1_060_000]],
    ['owes them where a signal may have been sent', sent(null), {}, [1_060_000]],
    ['owes none where the process was gone before', sent('gone'), {}, []],
    ['owes none where nothing was to be sent', [], {}, []],
    ['owes none where the policy has none', sent('sent'), {lookAgainMs: []}, []],
  ])('%s', async (_what, events, policy, dueAtMs) => {
    const on = await stage({policy});
    await closed(on, events);
    const looks = await on.engine.laterLooks();
    expect(looks.ok && looks.value.map((look) => look.dueAtMs)).toEqual(dueAtMs);
  });
});

describe('a later look', () => {
  it('is not made while a campaign measures there, and that is noted', async () => {
    const on = await stage({onProbe: never});
    await closed(on);
    await on.store.campaigns.add(aCampaign({before: []}), () => false);
    on.clock.at = 1_060_000;
    const looked = await on.engine.lookLater(RUN, {late: false});
    expect(looked.ok && looked.value.events.at(-1)).toMatchObject({
      kind: 'noted',
      note: {what: 'no-look', failure: {reason: 'host-measured', hold: {by: 'os:anna'}}},
    });
  });

  it('is not made before it is due', async () => {
    const on = await stage({onProbe: never});
    const run = await closed(on);
    on.clock.at = 1_059_999;
    expect(await on.engine.lookLater(RUN, {late: false})).toEqual({ok: true, value: run});
  });

  it('that fails is noted as that, and the next one is still owed', async () => {
    const on = await stage();
    await closed(on);
    on.clock.at = 1_060_000;
    const noted = await on.engine.lookLater(RUN, {late: true});
    const note = {what: 'no-look', afterMs: 60_000, last: false, late: true, failure: UNREACHABLE};
    expect(noted.ok && noted.value.events.at(-1)).toMatchObject({kind: 'noted', atMs: 1_060_000, note});
    expect(on.told.at(-1)).toMatchObject({kind: 'noted', note});
    expect(await on.store.laterLooks(9)).toMatchObject([{runId: RUN, dueAtMs: 1_600_000}]);
    // The card says it even if the bot dies now.
    expect((await on.store.pendingOutbox(9)).at(-1)?.kind).toBe('noted');
  });

  it('stands for all that were missed before it', async () => {
    const on = await stage();
    await closed(on);
    on.clock.at = 9_000_000;
    const noted = await on.engine.lookLater(RUN, {late: true});
    expect(noted.ok && noted.value.events.filter((event) => event.kind === 'noted')).toMatchObject([
      {note: {afterMs: 600_000, last: true}},
    ]);
    expect(await on.store.laterLooks(9)).toEqual([]);
  });

  it('that our own stop cut off is not noted, and stays owed', async () => {
    const over = new AbortController();
    const on = await stage({onProbe: () => over.abort()});
    await closed(on);
    on.clock.at = 1_060_000;
    expect(await on.engine.lookLater(RUN, {late: false, over: over.signal})).toMatchObject({ok: false});
    expect((await on.store.load(RUN))?.events.some((event) => event.kind === 'noted')).toBe(false);
    expect(await on.store.laterLooks(9)).toMatchObject([{dueAtMs: 1_060_000}]);
  });

  it('at a host that left the hosts file is noted as not made', async () => {
    const on = await stage({hosts: new Map(), onProbe: never});
    await closed(on);
    on.clock.at = 1_060_000;
    const noted = await on.engine.lookLater(RUN, {late: false});
    expect(noted.ok && noted.value.events.at(-1)).toMatchObject({
      note: {what: 'no-look', failure: {reason: 'host-unknown'}},
    });
  });

  it('is owed no more once somebody stopped it, even while one is under way', async () => {
    const on = await stage({
      onProbe: () => void stopping.push(on.engine.stopLooking(run, BO)),
    });
    const stopping: Promise<unknown>[] = [];
    const run = await closed(on);
    on.clock.at = 1_060_000;
    await on.engine.lookLater(RUN, {late: false});
    await Promise.all(stopping);
    const events = (await on.store.load(RUN))?.events.filter((event) => event.kind === 'noted') ?? [];
    expect(events.at(-1)).toMatchObject({note: {what: 'stopped', by: 'os:bo'}});
    expect(await on.store.laterLooks(9)).toEqual([]);
    const again = await on.engine.stopLooking(run, BO);
    expect(again.ok && again.value.events.filter((event) => event.kind === 'noted')).toHaveLength(events.length);
  });

  it('leaves the outcome as it was', async () => {
    const on = await stage();
    const before = await closed(on);
    on.clock.at = 1_600_000;
    const after = await on.engine.lookLater(RUN, {late: false});
    expect(after.ok && after.value.phase).toBe('closed');
    expect(after.ok && after.value.events.slice(0, -1)).toEqual(before.events);
  });
});
