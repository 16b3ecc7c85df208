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
  monitorFiles,
  NO_FIGURE,
  planFor,
  targetPids,
  uuidOf,
} from '../doubles/build.ts';

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
    ['no permission to read it', aGpu(0, 0, {usedMiB: {known: false, why: 'no-permission', token: ''}}), 'figure-missing'],
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
