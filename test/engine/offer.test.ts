/** What "Choose…" offers after a fresh look, and what a choice of it may become: whole identities, or less than was shown. */
import {createHash} from 'node:crypto';
import {describe, expect, it} from 'vitest';
import {type Failure, fail, ok, type Result} from '../../src/domain/failure.ts';
import {choosableIn} from '../../src/domain/offer.ts';
import type {ProcessIdentity} from '../../src/domain/process.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import type {EngineDeps} from '../../src/engine/deps.ts';
import {makeEngine} from '../../src/engine/engine.ts';
import {offerFrom} from '../../src/engine/offer.ts';
import type {RemoteHost} from '../../src/engine/remote-ports.ts';
import {makeTurns} from '../../src/engine/turns.ts';
import {
  ANNA,
  aDiagnosis,
  aHost,
  anExecutable,
  aPolicy,
  aProcess,
  aSnapshot,
  BO_UID,
  billed,
  HOST,
  planFor,
  targetPids,
} from '../doubles/build.ts';
import {opened, storePath} from '../store/fresh-store.ts';
import {OWNER, openRun} from '../store/sample.ts';

const never = (): never => {
  throw new Error('Internal error: nobody asks for this');
};
const gone: Failure = {reason: 'host-unreachable', host: HOST, address: 'x', detail: 'no route'};
const silent = new Proxy({} as RemoteHost, {get: () => async () => fail(gone)});

const server = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']});
const worker = aProcess({pid: 501, ppid: 500, words: ['python3', '-m', 'vllm.entrypoints', '1']});
const other = aProcess({pid: 600, uid: BO_UID, words: ['python3', 'train.py']});
const FIRST = aSnapshot([billed(server, {0: 900}), billed(worker, {1: 900}), billed(other, {2: 700})], {
  used: [909, 909, 709],
});
const later = (...seen: Parameters<typeof aSnapshot>[0]) =>
  aSnapshot(seen, {used: [909, 909, 709], takenAtMs: FIRST.takenAtMs + 60_000});

/** A plan for anna's vLLM waits; `look` is what a fresh look would bring. */
async function waiting(look: Snapshot | Failure) {
  const path = storePath();
  const store = await opened(path);
  let nowMs = FIRST.takenAtMs + 70_000;
  const clock = {now: () => nowMs, ticks: () => 0, wait: async () => undefined};
  const quiet = {info: () => undefined, warn: () => undefined, error: () => undefined};
  const policy = aPolicy();
  const deps: EngineDeps = {
    hosts: new Map([[HOST, aHost()]]),
    remote: {host: () => silent, close: async () => undefined},
    ...{store, policy, clock, log: quiet},
    announcer: {announce: () => undefined, progress: () => undefined},
    ...{newRunId: never, nextTimes: never, isAlive: () => true, turns: makeTurns(clock), owner: OWNER},
    digest: (text) => createHash('sha256').update(text).digest('hex'),
  };
  const run = await openRun(store);
  const expiresAtMs = nowMs + 900_000;
  const asked = await store.append({
    ...{runId: run.id, expectedVersion: run.version, phase: 'awaiting-go', outbox: [], releaseLease: true},
    events: [
      {kind: 'surveyed', atMs: 1, snapshot: FIRST},
      {kind: 'planned', atMs: 1, plan: planFor(FIRST, {match: 'vllm'}), digest: 'd1', expiresAtMs},
    ],
    openApproval: {digest: 'd1', expiresAtMs},
  });
  if (!asked.ok) throw new Error(asked.conflict);
  const engine = makeEngine(deps);
  const answer: Result<{snapshot: Snapshot; diagnosis: ReturnType<typeof aDiagnosis>}> =
    'reason' in look ? fail(look) : ok({snapshot: look, diagnosis: aDiagnosis(look)});
  return {
    ...{path, store, engine, run: asked.run, deps, answer},
    skip: (ms: number) => {
      nowMs += ms;
    },
    offer: () => offerFrom(deps, asked.run, answer),
    choose: (offer: string | null, ticked: readonly ProcessIdentity[], digest = 'd1') =>
      engine.choose({run: asked.run, digest, person: ANNA, ticked, offer}),
  };
}

async function offered(look: Snapshot | Failure) {
  const on = await waiting(look);
  const made = await on.offer();
  if (!made.ok) throw new Error(made.failure.reason);
  const identityOf = (pid: number) => {
    const found = choosableIn(made.value.plan).find((one) => one.identity.pid === pid);
    if (found === undefined) throw new Error(`${pid} is not offered`);
    return found.identity;
  };
  return {...on, made: made.value, identityOf};
}

const choosablePids = (plan: Parameters<typeof choosableIn>[0]) =>
  choosableIn(plan)
    .map((one) => one.identity.pid)
    .toSorted((a, b) => a - b);

describe('an offer', () => {
  it('ticks who was ticked and still is there, offers who is new, and never ticks those', async () => {
    const fresh = aProcess({pid: 502, ppid: 500, words: ['python3', '-m', 'vllm.entrypoints', '2']});
    const {made} = await offered(later(billed(server, {0: 900}), billed(fresh, {1: 900}), billed(other, {2: 700})));
    expect(targetPids(made.plan)).toEqual([500]);
    expect(choosablePids(made.plan)).toEqual([500, 502, 600]);
    expect(made.drift.map(({pid, what}) => [pid, what])).toEqual([
      [501, 'gone'],
      [502, 'new-holder'],
    ]);
    expect(made.plan).toMatchObject({version: 2, madeAtMs: FIRST.takenAtMs + 60_000});
    // For the eyes of people: whom it would stand with.
    expect(made.families['502']).toEqual(made.families['500']);
  });

  it.each([
    ['another start', {startTicks: '77'}],
    ['another owner', {uid: BO_UID}],
    ['another program', {executable: anExecutable('/usr/bin/other')}],
  ])('takes a PID with %s for somebody else, who is not ticked', async (_what, change) => {
    const {made} = await offered(later(billed(server, {0: 900}), billed({...worker, ...change}, {1: 900})));
    expect(targetPids(made.plan)).toEqual([500]);
    expect(choosablePids(made.plan)).toEqual([500, 501]);
  });

  it.each([
    ['a host that does not answer', gone, {why: 'no-look'}],
    [
      'a look without nvidia-smi',
      {...later(), smi: {state: 'timed-out', exitCode: null, note: ''}},
      {why: 'saw-less', missing: 'nvidia-smi'},
    ],
    ['a look without all processes', {...later(), sections: []}, {why: 'saw-less', missing: 'processes'}],
    [
      'a look without all files',
      {...later(), sight: {...FIRST.sight, full: false}},
      {why: 'saw-less', missing: 'files'},
    ],
    ['another boot', {...later(), machine: {...FIRST.machine, bootId: 'boot-2'}}, {why: 'machine-changed'}],
  ] as const)('of %s is the stored plan, and says so', async (_what, look, stale) => {
    const {made} = await offered(look as Snapshot | Failure);
    expect(made.stale).toMatchObject(stale);
    expect([targetPids(made.plan), made.drift]).toEqual([[500, 501], []]);
  });

  it('is kept: another program reads the same', async () => {
    const {made, path} = await offered(later(billed(server, {0: 900})));
    const store = await opened(path);
    expect(await store.offers.load(made.id)).toEqual(made);
    expect((await store.offers.lookOf(made.id))?.takenAtMs).toBe(FIRST.takenAtMs + 60_000);
    expect(await store.offers.load('nobody')).toBeNull();
  });

  it('changes nothing of the run', async () => {
    const {run, store} = await offered(later(billed(server, {0: 900})));
    expect((await store.load(run.id))?.version).toBe(run.version);
  });

  it('is none for a plan that expired', async () => {
    const on = await waiting(FIRST);
    on.skip(900_001);
    expect(await on.offer()).toMatchObject({ok: false, failure: {reason: 'approval-expired'}});
  });

  it('is none for a plan that was decided during the look', async () => {
    const on = await waiting(FIRST);
    await on.engine.deny(on.run, ANNA, null);
    expect(await on.offer()).toMatchObject({ok: false, failure: {reason: 'run-ended'}});
  });
});

describe('a choice of an offer', () => {
  it('stands in the run behind the look that it was made of, and by whom', async () => {
    const {made, choose, identityOf} = await offered(later(billed(server, {0: 900}), billed(other, {2: 700})));
    const chosen = await choose(made.id, [identityOf(600)]);
    if (!chosen.ok) throw new Error(chosen.failure.reason);
    expect(targetPids(chosen.value.plan)).toEqual([600]);
    const [survey, planned] = chosen.value.run.events.slice(-2);
    expect(survey).toMatchObject({kind: 'surveyed', snapshot: {takenAtMs: FIRST.takenAtMs + 60_000}});
    expect(planned).toMatchObject({kind: 'planned', by: ANNA, plan: {version: 2}});
  });

  it('of the same processes is another plan all the same: a go for the card before is not one for it', async () => {
    const on = await offered(later(billed(server, {0: 900}), billed(worker, {1: 900}), billed(other, {2: 700})));
    const both = [on.identityOf(500), on.identityOf(501)];
    const first = await on.choose(on.made.id, both);
    if (!first.ok) throw new Error(first.failure.reason);
    const from = await offerFrom(on.deps, first.value.run, on.answer);
    if (!from.ok) throw new Error(from.failure.reason);
    const {run, digest} = first.value;
    const second = await on.engine.choose({run, digest, person: ANNA, ticked: both, offer: from.value.id});
    if (!second.ok) throw new Error(second.failure.reason);
    expect(targetPids(second.value.plan)).toEqual(targetPids(first.value.plan));
    const go = {person: ANNA, choice: 'terminate-then-kill', reason: 'nobody else is awake', atTerminal: true} as const;
    // Also where the go had read the run before the plan was replaced, so that who may was asked of another one.
    for (const [read, shown] of [
      [second.value.run, digest],
      [run, digest],
      [run, second.value.digest],
    ] as const)
      expect(await on.engine.approve({...go, run: read, digest: shown})).toMatchObject({
        failure: {reason: 'plan-outdated'},
      });
    expect((await on.engine.approve({...go, run: second.value.run, digest: second.value.digest})).ok).toBe(true);
  });

  it.each([
    ['who was not shown', {pid: 700, startTicks: '7000', uid: 1000, executable: '1:1'}],
    [
      'who is gone since the card',
      {pid: 501, startTicks: '5010', uid: 1000, executable: anExecutable('/usr/bin/python3.12').id},
    ],
    [
      'another start of one that was',
      {pid: 500, startTicks: '1', uid: 1000, executable: anExecutable('/usr/bin/python3.12').id},
    ],
  ])('holds nobody %s', async (_what, identity) => {
    const {made, choose} = await offered(later(billed(server, {0: 900}), billed(other, {2: 700})));
    expect(await choose(made.id, [identity])).toMatchObject({
      ok: false,
      failure: {reason: 'choice-refused', why: 'not-offered', pid: identity.pid},
    });
  });

  it.each([
    ['of nobody', [], 'nobody'],
    ['from a form that is not kept', null, 'form-unknown'],
  ] as const)('%s is refused', async (_what, ticked, why) => {
    const {made, choose, identityOf} = await offered(later(billed(server, {0: 900})));
    expect(await choose(ticked === null ? 'gone' : made.id, ticked ?? [identityOf(500)])).toMatchObject({
      failure: {why},
    });
  });

  it('on a machine that was started anew is refused', async () => {
    const {made, choose, identityOf} = await offered({...later(), machine: {...FIRST.machine, bootId: 'boot-2'}});
    expect(await choose(made.id, [identityOf(500)])).toMatchObject({failure: {why: 'machine-changed'}});
  });

  it('from a plan that another has replaced is outdated', async () => {
    const {made, choose, identityOf} = await offered(later(billed(server, {0: 900}), billed(other, {2: 700})));
    expect(await choose(made.id, [identityOf(600)], 'd0')).toMatchObject({failure: {reason: 'plan-outdated'}});
    expect((await choose(made.id, [identityOf(600)])).ok).toBe(true);
    // The run as this one had read it is older than the store.
    expect(await choose(made.id, [identityOf(500)])).toMatchObject({ok: false});
  });
});
