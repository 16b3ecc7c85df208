/** "Can I start?": from a closed run's events alone, and nothing is said of what was not read. */
import {describe, expect, it} from 'vitest';
import type {DeepLook} from '../../src/domain/deep.ts';
import type {GpuChange, Outcome} from '../../src/domain/outcome.ts';
import {isFree, type Readiness, readinessOf} from '../../src/domain/readiness.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import {aGpu, aPlan, aProcess, aRequest, aRun, aSnapshot, aTarget, HOST, MACHINE, uuidOf} from '../doubles/build.ts';

const server = aProcess({pid: 400, words: ['python3', '-m', 'vllm.entrypoints.openai.api_server', '--port', '8000']});
const before = aSnapshot([server], {used: [4_623, 21_630], uptimeMs: 500_000});

function change(index: number, own: Partial<GpuChange> = {}): GpuChange {
  return {
    gpuUuid: uuidOf(index),
    index,
    beforeMiB: 4_623,
    afterMiB: 4,
    expectedMiB: 300,
    requested: true,
    heldBy: [],
    unexplainedMiB: 0,
    ...own,
  };
}

function deepLook(own: Partial<DeepLook> = {}): DeepLook {
  const whole = ['xids', 'shm', 'segments', 'listening'];
  return {
    host: HOST,
    machine: MACHINE,
    takenAtMs: 2,
    uptimeMs: 600_000,
    majors: {},
    numbered: [],
    queued: [],
    rings: [],
    kernel: [],
    xids: [],
    mps: null,
    leftovers: [],
    listening: [],
    modules: {},
    processes: [],
    sections: whole.map((name) => ({name, exitCode: 0, complete: true, note: ''})),
    ...own,
  };
}

interface Closed {
  readonly gpus?: readonly GpuChange[];
  readonly closing?: Partial<Snapshot> | null;
  readonly survivors?: Outcome['survivors'];
}

function ready({gpus = [change(0)], closing = {}, survivors = []}: Closed): Readiness {
  const outcome: Outcome = {word: 'reclaimed', gpus, survivors, because: null, freedAfterMs: 1};
  const events: readonly RunEvent[] = [
    {kind: 'requested', atMs: 1, request: aRequest()},
    {kind: 'surveyed', atMs: 1, snapshot: before},
    {kind: 'planned', atMs: 1, plan: aPlan({targets: [aTarget({pid: 400})], kept: []}), digest: 'd', expiresAtMs: 9},
    {kind: 'rechecked', atMs: 1, snapshot: {...before, uptimeMs: 520_000}, drift: []},
    {
      kind: 'looked-again',
      atMs: 2,
      snapshot: closing === null ? null : aSnapshot([], {used: [4, 21_630], uptimeMs: 600_000, ...closing}),
      failure: null,
    },
  ];
  const run: Run = aRun(...events);
  const readiness = readinessOf(run, outcome);
  if (readiness === null) throw new Error('a measured run has a readiness');
  return readiness;
}

describe('a GPU is free', () => {
  it.each<[string, Partial<GpuChange>, boolean]>([
    ['at what the others explain', {}, true],
    ['not above it', {afterMiB: 301}, false],
    ['not unseen', {afterMiB: null}, false],
    ['not without an expectation', {expectedMiB: null}, false],
    ['not while somebody is billed', {heldBy: [{pid: 1, name: 'x', chargedMiB: 1}]}, false],
    ['though a monitor has it open', {heldBy: [{pid: 1, name: 'x', chargedMiB: null}]}, true],
  ])('%s', (_what, own, free) => {
    expect(isFree(change(0, own))).toBe(free);
  });
});

describe('who blocks', () => {
  const busy = (index: number, pid: number) =>
    change(index, {afterMiB: 21_630, heldBy: [{pid, name: 'train.py', chargedMiB: 21_000}]});

  it('is named once, with all of its GPUs and what it is billed', () => {
    const {blockers} = ready({gpus: [change(0), busy(1, 77), busy(2, 77)]});
    expect(blockers).toMatchObject([{pid: 77, chargedMiB: 42_000, gpus: [{index: 1}, {index: 2}]}]);
  });

  it('is known by name from the closing look', () => {
    const bo = aProcess({pid: 77, uid: 1001, userName: 'bo'});
    expect(ready({gpus: [busy(1, 77)], closing: {processes: [bo]}}).blockers[0]?.ownership).toMatchObject({
      person: 'bo',
    });
    expect(ready({gpus: [busy(1, 77)]}).blockers[0]?.ownership).toBeNull();
  });

  it('is nobody on a GPU that is free', () => {
    expect(ready({gpus: [change(0, {heldBy: [{pid: 1, name: 'x', chargedMiB: null}]})]}).blockers).toEqual([]);
  });
});

describe('a recovery that the driver asks for', () => {
  it.each(['None', 'none', '', '[N/A]', 'N/A', '[Not Supported]'])('is none by "%s"', (recoveryAction) => {
    expect(ready({closing: {gpus: [aGpu(0, 4, {recoveryAction})]}}).recovery).toEqual([]);
  });
  it.each(['Reset', 'Reboot', 'Drain P2P', 'Drain and Reset'])('is told as "%s"', (recoveryAction) => {
    expect(ready({closing: {gpus: [aGpu(0, 4, {recoveryAction})]}}).recovery).toEqual([
      {index: 0, action: recoveryAction},
    ]);
  });
});

describe('new Xid lines', () => {
  const xid = (uptimeMs: number, code = 94) => ({uptimeMs, busId: '00000000:00:00.0', code, pid: null, text: ''});

  it('are those since the look before the first signal, counted by GPU and code', () => {
    const deep = deepLook({xids: [xid(519_999), xid(520_000), xid(550_000), xid(550_001, 48)]});
    expect(ready({closing: {deep, gpus: [aGpu(0)]}}).newXids).toEqual([
      {index: 0, busId: '00000000:00:00.0', code: 94, count: 2},
      {index: 0, busId: '00000000:00:00.0', code: 48, count: 1},
    ]);
  });

  it.each<[string, DeepLook | null, readonly unknown[] | null]>([
    ['none, if the log was read whole', deepLook(), []],
    ['unknown, if it was not', deepLook({sections: []}), null],
    ['unknown, without a deeper look', null, null],
    ['unknown after a reboot', deepLook({machine: {...MACHINE, bootId: 'boot-2'}, xids: [xid(550_000)]}), null],
  ])('are %s', (_what, deep, found) => {
    expect(ready({closing: {deep}}).newXids).toEqual(found);
  });
});

describe('ownerless shared memory', () => {
  const file = (name: string, ageMs: number | null) => ({kind: 'file', name, MiB: 10, uid: 0, ageMs}) as const;

  it('comes newest first, of unknown age last', () => {
    const deep = deepLook({leftovers: [file('a', null), file('b', 900), file('c', 5)]});
    expect(ready({closing: {deep}}).leftovers?.map((one) => one.name)).toEqual(['c', 'b', 'a']);
  });

  it.each<[string, DeepLook | null, readonly unknown[] | null]>([
    ['none, if all was read', deepLook(), []],
    ['unknown, if not', deepLook({sections: []}), null],
    ['unknown, without a deeper look', null, null],
  ])('is %s', (_what, deep, found) => {
    expect(ready({closing: {deep}}).leftovers).toEqual(found);
  });
});

describe('the old port', () => {
  it.each<[string, DeepLook | null, boolean | null]>([
    ['busy while somebody listens', deepLook({listening: [22, 8_000]}), true],
    ['free if nobody does', deepLook({listening: [22]}), false],
    ['unknown if that was not read whole', deepLook({sections: []}), null],
    ['unknown without a deeper look', null, null],
  ])('is %s', (_what, deep, busy) => {
    expect(ready({closing: {deep}}).ports).toEqual([{port: 8_000, busy}]);
  });

  it('is no matter while its server lives', () => {
    const survivor = {pid: 400, name: 'x', observation: 'alive', findings: [], why: 'late'} as const;
    expect(ready({survivors: [survivor], closing: {deep: deepLook()}}).ports).toEqual([]);
  });

  it.each<[readonly string[], readonly number[]]>([
    [['x', '--port=30000'], [30_000]],
    [['x', '--port', 'many'], []],
    [['x', '--port', '70000'], []],
    [['x', '--port'], []],
    [['x', '--port', '0'], []],
  ])('of %j is %j', (words, ports) => {
    const own = aSnapshot([aProcess({pid: 400, words})]);
    const run = aRun(
      {kind: 'surveyed', atMs: 1, snapshot: own},
      {kind: 'planned', atMs: 1, plan: aPlan({targets: [aTarget({pid: 400})]}), digest: 'd', expiresAtMs: 9},
    );
    const outcome: Outcome = {word: 'reclaimed', gpus: [change(0)], survivors: [], because: null, freedAfterMs: 1};
    expect(readinessOf(run, outcome)?.ports.map((one) => one.port)).toEqual(ports);
  });
});

it('needs figures: a run that measured nothing answers nothing', () => {
  const outcome: Outcome = {word: 'failed', gpus: [], survivors: [], because: null, freedAfterMs: null};
  expect(readinessOf(aRun(), outcome)).toBeNull();
});
