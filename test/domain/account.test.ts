/** What each GPU is: its figures held against what the holders explain. */
import {describe, expect, it} from 'vitest';
import type {GpuReason, GpuState} from '../../src/domain/diagnosis.ts';
import {figure, type Snapshot} from '../../src/domain/snapshot.ts';
import {
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aGpu,
  aPolicy,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holds,
  initFiles,
  monitorFiles,
  NO_FIGURE,
  planFor,
  targetPids,
  uuidOf,
} from '../doubles/build.ts';
import {deeper} from '../doubles/deep.ts';

const trainer = aProcess({pid: 500, uid: BO_UID});
const fault = (why: 'fault', token: string) => ({known: false, why, token}) as const;

function first(look: Snapshot, baselines: ReadonlyMap<string, number> = new Map()) {
  const gpu = aDiagnosis(look, {baselines}).gpus[0];
  if (gpu === undefined) throw new Error('no GPU');
  return gpu;
}

describe('the state of a GPU', () => {
  it.each([
    ['clean at 0 MiB', 0, [], 'clean'],
    ['clean at the reserve that a driver counts as used', 256, [], 'clean'],
    ['clean at 364 MiB: baseline and tolerance', 364, [], 'clean'],
    ['dirty at 365 MiB with nobody there', 365, [], 'dirty'],
    ['occupied when the bills explain it', 4_623, [billed(trainer, {0: 4_614})], 'occupied'],
    ['occupied with a holder although at its baseline', 300, [billed(trainer, {0: 20})], 'occupied'],
    ['dirty when the bills explain only a part', 46_111, [billed(trainer, {0: 4_614})], 'dirty'],
    [
      'clean with a protected daemon on it',
      4,
      [holds(aProgram('/usr/bin/nv-hostengine', {pid: 9, uid: 0}), [0])],
      'clean',
    ],
    [
      'clean with a monitor on it',
      4,
      [{process: aProgram('/usr/bin/nvtop', {pid: 9}), holding: monitorFiles(9, [0])}],
      'clean',
    ],
  ] as const)('is %s', (_, usedMiB, seen, state) => {
    expect(first(aSnapshot(seen, {used: [usedMiB]})).state).toBe<GpuState>(state);
  });

  it('counts charges by UUID, several processes on one GPU and several GPUs of one process', () => {
    const look = aSnapshot([billed(trainer, {0: 4_000, 1: 2_000}), billed(aProcess({pid: 501}), {0: 6_000})], {
      used: [10_018, 2_009],
    });
    expect(aDiagnosis(look).gpus.map((gpu) => [gpu.explainedMiB, gpu.unexplainedMiB, gpu.holderPids])).toEqual([
      [10_000, 18, [500, 501]],
      [2_000, 9, [500]],
    ]);
  });

  it('says "no holder anywhere" only when no process could own what is left over', () => {
    expect(first(aSnapshot([], {used: [46_111]})).reasons).toEqual<GpuReason[]>(['no-holder-anywhere']);
    const desktop = holds(aProgram('/usr/lib/xorg/Xorg', {pid: 9, uid: 0}), [0]);
    expect(first(aSnapshot([desktop], {used: [544]})).reasons).toEqual([]);
    const opener = {process: aProcess({pid: 9}), holding: monitorFiles(9, [0])};
    expect(first(aSnapshot([opener], {used: [46_111]})).reasons).toEqual(['no-holder-anywhere']);
  });

  it('who only called cuInit owns nothing of what is left over, whose every file is a context’s may', () => {
    const leak = {used: [60_000]};
    const notebook = {process: trainer, holding: initFiles(500, [0])};
    expect(first(aSnapshot([notebook], leak))).toMatchObject({state: 'dirty', loose: true});
    expect(first(aSnapshot([notebook], leak)).reasons).toEqual(['no-holder-anywhere']);
    expect(first(aSnapshot([holds(trainer, [0])], leak)).reasons).toEqual([]);
  });

  it('unexplained memory gives nobody to signal', () => {
    expect(planFor(aSnapshot([], {used: [46_111]}), {match: 'vllm'})).toMatchObject({targets: [], kept: []});
  });

  it('a dead charge that nobody keeps is unexplained, and is named as such', () => {
    const gpu = first(aSnapshot([], {used: [4_623], charges: [aDeadCharge(1_403, 0, 4_614)]}));
    expect(gpu).toMatchObject({
      state: 'dirty',
      explainedMiB: 0,
      unexplainedMiB: 4_623,
      deadCharged: [{pid: 1_403, usedMiB: 4_614}],
      reasons: ['dead-charge-without-holder'],
    });
  });
});

describe('the baseline', () => {
  it('is the lowest ever seen, else the policy says so', () => {
    expect(first(aSnapshot([], {used: [120]}), new Map([[uuidOf(0), 4]]))).toMatchObject({
      baselineMiB: 4,
      baselineSeen: true,
      state: 'dirty',
    });
    expect(first(aSnapshot([], {used: [120]}))).toMatchObject({baselineMiB: 300, baselineSeen: false, state: 'clean'});
  });

  it('is never a leak that was there when a look first saw the GPU', () => {
    expect(first(aSnapshot([], {used: [46_111]}), new Map([[uuidOf(0), 46_111]]))).toMatchObject({
      baselineMiB: 300,
      baselineSeen: false,
      state: 'dirty',
    });
  });

  it('and the tolerance come from the policy', () => {
    const diagnosis = aDiagnosis(aSnapshot([], {used: [900]}), {
      policy: aPolicy({baselineMiB: 800, toleranceMiB: 100}),
    });
    expect(diagnosis.gpus[0]?.state).toBe('clean');
  });
});

describe('a GPU whose figures are not to be trusted is unknown', () => {
  it.each([
    ['[GPU requires reset] beside 0 MiB is not freed memory', aGpu(0, 0, {fault: '[GPU requires reset]'}), 'fault'],
    ['ERR! in its sensors beside a large figure', aGpu(0, 58_222, {fault: 'ERR!'}), 'fault'],
    ['[Unknown Error] in the figure', aGpu(0, 0, {usedMiB: fault('fault', '[Unknown Error]')}), 'figure-missing'],
    [
      'no permission to read it',
      aGpu(0, 0, {usedMiB: {known: false, why: 'no-permission', token: ''}}),
      'figure-missing',
    ],
  ] as const)('%s', (_, gpu, reason) => {
    const account = first(aSnapshot([billed(trainer, {0: 4_614})], {gpus: [gpu]}));
    expect(account).toMatchObject({state: 'unknown', usedMiB: null, unexplainedMiB: null, reasons: [reason]});
  });

  it('and condemns no other: the healthy ones are accounted for', () => {
    const look = aSnapshot([], {gpus: [aGpu(0, 0, {fault: '[GPU is lost]'}), aGpu(1, 4)]});
    expect(aDiagnosis(look).gpus.map((gpu) => gpu.state)).toEqual(['unknown', 'clean']);
  });

  it('a utilisation of 100 % without memory or holder is no ghost', () => {
    expect(first(aSnapshot([], {gpus: [aGpu(0, 0, {utilizationPercent: figure(100)})]})).state).toBe('clean');
  });

  it.each(['failed', 'missing', 'timed-out', 'still-stuck'] as const)(
    'nvidia-smi %s: nothing is accounted, nobody is a ghost',
    (state) => {
      const look = aSnapshot([holds(aProcess({pid: 500}), [0])], {smi: {state, exitCode: null, note: ''}});
      expect(aDiagnosis(look).gpus).toEqual([]);
      expect(targetPids(planFor(look))).toEqual([]);
    },
  );
});

describe('unified memory has no figure of its own ([N/A])', () => {
  const unified = (seen: Parameters<typeof aSnapshot>[0], change: Parameters<typeof aSnapshot>[1] = {}) =>
    aSnapshot(seen, {gpus: [aGpu(0, 0, {usedMiB: NO_FIGURE, totalMiB: NO_FIGURE})], ...change});
  const poor = {...aSnapshot([]).sight, full: false, euid: 1000, unreadableFdFolders: 3};

  it.each<[string, Snapshot, object]>([
    [
      'what processes are billed stands in, and says so',
      unified([billed(trainer, {0: 19_135}), billed(aProcess({pid: 501}), {0: 104_277})]),
      {usedMiB: 123_412, state: 'occupied', unexplainedMiB: 0, baselineMiB: 0, baselineSeen: false},
    ],
    ['nobody billed, nobody there: clean', unified([]), {usedMiB: 0, state: 'clean'}],
    ['a holder that is billed nothing keeps it from being clean', unified([holds(trainer, [0])]), {state: 'occupied'}],
    ['a dead bill is in use too', unified([], {charges: [aDeadCharge(9, 0, 4_614)]}), {usedMiB: 4_614, state: 'dirty'}],
    ['no bill is no proof while others are hidden from us', unified([], {sight: poor}), {usedMiB: 0, state: 'unknown'}],
  ])('%s', (_, look, account) => {
    expect(first(look)).toMatchObject({usedFrom: 'processes', ...account});
    expect(first(look).evidence[0]).toEqual({
      source: 'charges',
      fact: 'no figure for this GPU (unified memory): the sum of what processes are billed',
    });
  });

  it.each<[string, Snapshot]>([
    ['one bill without a figure spoils the sum', unified([billed(trainer, {0: 5})], {charges: [aCharge(9, 0, null)]})],
    ['nvidia-smi failed on the bills', unified([], {smi: {state: 'failed', exitCode: 4, note: ''}})],
  ])('%s: unknown', (_, look) => {
    expect(first(look)).toMatchObject({state: 'unknown', usedMiB: null});
    expect(first(look).reasons).toContain('figure-missing');
  });

  it('and a plan for it says what its end would free', () => {
    const plan = planFor(unified([billed(trainer, {0: 104_277})]), {pids: [500]});
    expect(plan.gpus[0]).toMatchObject({beforeMiB: 104_277, totalMiB: null, likelyAfterMiB: 0, afterAtMostMiB: 0});
  });
});

describe('a bill counts once', () => {
  it('when the driver lists the same PID on the same GPU twice: the higher figure is all of it', () => {
    const twice = aSnapshot([billed(trainer, {0: 4_614})], {used: [4_623], charges: [aCharge(500, 0, 4_614)]});
    expect(first(twice)).toMatchObject({explainedMiB: 4_614, unexplainedMiB: 9});
    expect(aDiagnosis(twice).holders).toMatchObject([{chargedMiB: 4_614}]);
    const lower = aSnapshot([billed(trainer, {0: 20})], {used: [4_623], charges: [aCharge(500, 0, 4_614)]});
    expect(first(lower).explainedMiB).toBe(4_614);
    const blank = aSnapshot([billed(trainer, {0: 4_614})], {used: [4_623], charges: [aCharge(500, 0, null)]});
    expect(first(blank).explainedMiB).toBe(4_614);
  });

  it('but not when it is on two GPUs, or on two instances of one', () => {
    const two = aSnapshot([billed(trainer, {0: 4_614, 1: 4_614})], {used: [4_623, 4_623]});
    expect(aDiagnosis(two).holders).toMatchObject([{chargedMiB: 9_228}]);
    const parts = ['MIG-a', 'MIG-b'].map((instance) => ({...aCharge(500, 0, 2_000), instance}));
    const split = aSnapshot([holds(trainer, [0])], {used: [4_009], charges: parts});
    expect(first(split)).toMatchObject({explainedMiB: 4_000, state: 'occupied'});
    expect(aDiagnosis(split).holders[0]?.evidence).toContainEqual({source: 'charges', fact: '2000 MiB of it on MIG-b'});
  });

  it('when several keep the same dead one’s files: no sum over them is more than the memory', () => {
    const workers = Array.from({length: 126}, (_, at) =>
      holds(aProcess({pid: 800 + at, ppid: 1, session: 700, processGroup: 700}), [0, 1]),
    );
    const charges = [aDeadCharge(700, 0, 39_000), aDeadCharge(700, 1, 39_000)];
    const look = aSnapshot(workers, {used: [39_009, 39_009], charges});
    const plan = planFor(look);
    expect(plan.targets).toHaveLength(126);
    expect(plan.targets.reduce((sum, one) => sum + (one.chargedMiB ?? 0), 0)).toBe(78_000);
    expect(plan.gpus.map((gpu) => gpu.likelyAfterMiB)).toEqual([0, 0]);
    expect(first(look)).toMatchObject({explainedMiB: 39_000, deadCharged: [{pid: 700, kept: true}]});
    // Ticked all but one: it all stays.
    const only = new Set(plan.targets.slice(1).map((one) => one.identity.pid));
    expect(planFor(look, {}, {only}).gpus[0]?.likelyAfterMiB).toBe(39_000);
  });
});

describe('MIG', () => {
  const split = {migMode: 'Enabled'};
  const onInstance = {...aCharge(500, 0, 9_807), gpuUuid: 'MIG-a', instance: 'MIG-a'};

  it('a bill on an instance of nobody knows which GPU is named, and keeps "nobody" from being said', () => {
    const look = aSnapshot([trainer], {gpus: [aGpu(0, 9_850, split), aGpu(1, 9_850, split)], charges: [onInstance]});
    expect(first(look)).toMatchObject({state: 'unknown', reasons: ['instance-unplaced']});
    expect(first(look).evidence).toEqual([
      {source: 'charges', fact: 'PID 500 is billed 9807 MiB on MIG-a, a part of a GPU that was not named'},
    ]);
    expect(aDiagnosis(look).holders).toMatchObject([{gpus: [{gpuUuid: 'MIG-a', how: 'charged'}], chargedMiB: 9_807}]);
  });

  it('says nothing of a GPU that is whole, nor of one whose memory is explained', () => {
    const look = aSnapshot([trainer], {gpus: [aGpu(0, 9_850), aGpu(1, 40, split)], charges: [onInstance]});
    expect(aDiagnosis(look).gpus.map((gpu) => gpu.reasons)).toEqual([['no-holder-anywhere'], []]);
  });
});

describe('what a deeper look adds to an account', () => {
  const leak = aSnapshot([], {used: [46_111, 4]});
  const xid = (at: number, change: object = {}) => ({
    uptimeMs: at * 1000,
    busId: '00000000:00:00.0',
    code: 79,
    pid: null,
    text: 'GPU has fallen off the bus.',
    ...change,
  });

  it('Xid lines of that GPU, the newest first, on any GPU', () => {
    const look = deeper(leak, {xids: [xid(1), xid(2), xid(3), xid(400, {code: 31, pid: 500, text: 'MMU Fault'})]});
    const [hit, other] = aDiagnosis(look).gpus;
    expect(hit?.reasons).toEqual(['no-holder-anywhere', 'xid']);
    expect(hit?.evidence.map((one) => `${one.source}: ${one.fact}`)).toEqual([
      'kernel-log: Xid 31, 400 s after boot, called by PID 500: MMU Fault',
      'kernel-log: Xid 79, 3 s after boot: GPU has fallen off the bus.',
      'kernel-log: Xid 79, 2 s after boot: GPU has fallen off the bus.',
      'kernel-log: 1 Xid lines before these',
    ]);
    expect(other).toMatchObject({reasons: [], evidence: []});
  });

  it('modules that keep memory by themselves, where there is memory to explain', () => {
    const modules = {nvidia: 40, nvidia_uvm: 4, gdrdrv: 2, nvidia_peermem: 0};
    expect(first(deeper(leak, {modules}))).toMatchObject({
      reasons: ['no-holder-anywhere', 'kernel-module'],
      evidence: [{source: 'kernel', fact: 'kernel modules in use: gdrdrv (2)'}],
    });
    expect(first(deeper(leak, {modules: {nvidia: 40, nvidia_uvm: 4}})).reasons).toEqual(['no-holder-anywhere']);
    const busy = aSnapshot([billed(trainer, {0: 4_614})], {used: [4_623]});
    expect(first(deeper(busy, {modules})).reasons).toEqual([]);
  });
});

describe('poor sight', () => {
  const full = aSnapshot([]).sight;
  it.each([
    ['unread fd folders', {...full, full: false, euid: 1000, unreadableFdFolders: 3}, 'not-all-readable'],
    ['hidepid', {...full, full: false, euid: 1000, hidepid: '2'}, 'hidepid'],
    ['a foreign PID namespace', {...full, foreignPidNamespace: true}, 'foreign-pid-namespace'],
    ['a scan that stood still', {...full, full: false, stuckAt: [77]}, 'scan-incomplete'],
  ] as const)(
    '%s: memory at its baseline is clean, anything unexplained is unknown, never "nobody"',
    (_, sight, reason) => {
      expect(first(aSnapshot([], {used: [4], sight})).state).toBe('clean');
      expect(first(aSnapshot([], {used: [4_623], sight}))).toMatchObject({
        state: 'unknown',
        reasons: [reason],
      });
    },
  );

  it('what a PID is billed that we cannot see explains nothing: from inside a container all is unknown', () => {
    const inside = aSnapshot([], {
      used: [4_623],
      charges: [aCharge(40_170, 0, 4_614, '[Not Found]')],
      sight: {...full, foreignPidNamespace: true},
    });
    expect(first(inside).state).toBe('unknown');
    expect(targetPids(planFor(inside, {pids: [40_170]}))).toEqual([]);
  });

  it('a stranger inside with the number of a billed PID is nobody’s holder', () => {
    const inside = aSnapshot([aProcess({pid: 19})], {
      used: [4_623],
      charges: [aCharge(19, 0, 4_614)],
      sight: {...full, foreignPidNamespace: true},
    });
    expect(aDiagnosis(inside).holders).toEqual([]);
  });

  it('a reader without rights still sees whom the driver bills, if that one is in /proc', () => {
    const look = aSnapshot([billed(trainer, {0: 4_614})], {
      used: [4_623],
      sight: {...full, full: false, euid: 1000, unreadableFdFolders: 3},
    });
    expect(first(look).state).toBe('occupied');
  });
});

it('inside another PID namespace a holder is billed nothing by the number it happens to have', () => {
  const look = aSnapshot([billed(aProcess({pid: 19}), {0: 4_614})], {
    used: [4_623],
    sight: {...aSnapshot([]).sight, foreignPidNamespace: true},
  });
  expect(aDiagnosis(look).holders).toMatchObject([{chargedMiB: null, gpus: [{how: 'mapped', chargedMiB: null}]}]);
});
