/** Cases: the memory is kept by somebody healthy, by another node, by a kernel module, or it is no GPU memory at all. */
import {describe, expect, it} from 'vitest';
import {needsDeeper} from '../../../src/domain/deepen.ts';
import {withMovedBills} from '../../../src/domain/moved-bill.ts';
import {causeLines} from '../../../src/report/unexplained.ts';
import {
  aDiagnosis,
  aProcess,
  aProgram,
  aSnapshot,
  billed,
  holderOf,
  keptOf,
  monitorFiles,
  planFor,
  targetPids,
  uuidOf,
} from '../../doubles/build.ts';
import {deeper} from '../../doubles/deep.ts';
import {biggest, listedBySmi, openers, usedMiB} from './naive.ts';

describe('kept by another process', () => {
  it('C62: the shared cache that is suddenly the biggest has inherited a dead client, and is not the one to end', () => {
    const gpus = [4, 5, 6, 7];
    const each = (MiB: number) => Object.fromEntries(gpus.map((gpu) => [gpu, MiB]));
    const cache = (MiB: number) =>
      billed(aProcess({pid: 200_742, words: ['python3', '-m', 'lmcache.server']}), each(MiB));
    const client = billed(aProcess({pid: 201_000, words: ['VLLM::EngineCore'], ppid: 200_900}), each(111_900));
    const server = aProcess({pid: 200_900, words: ['python3', '/opt/bin/vllm', 'serve', 'a/model']});
    const used = (MiB: number) => [4, 4, 4, 4, MiB, MiB, MiB, MiB];
    const then = aSnapshot([cache(700), server, client], {used: used(112_609), takenAtMs: 1_699_999_000_000});
    const look = aSnapshot([cache(112_252)], {used: used(112_261)});
    expect(biggest(look)).toBe(200_742);

    const diagnosis = withMovedBills(aDiagnosis(look), [then]);
    expect(holderOf(diagnosis, 200_742).findings[0]).toBe('importer');
    expect(holderOf(diagnosis, 200_742).evidence[0]?.fact).toContain('PID 201000 VLLM::EngineCore, 111900 MiB');
    expect(holderOf(aDiagnosis(look), 200_742).findings).toEqual(['bystander']);
    const plan = planFor(look, {match: 'vllm'}, {earlier: [then]});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 200_742)).toMatchObject({choosable: true, gpuUuids: gpus.map(uuidOf)});
    expect(keptOf(planFor(look, {gpus, includeOthers: true}, {earlier: [then]}), 200_742).why).toBe('importer');
  });

  it('C64: on another node nobody here is to be found, and saying so is the answer: no leak is claimed, nobody signalled', () => {
    const shallow = aSnapshot([], {used: [4_597]});
    expect(openers(shallow)).toEqual([]);
    expect(needsDeeper(aDiagnosis(shallow))).toBe(true);

    const diagnosis = aDiagnosis(deeper(shallow));
    expect(diagnosis.gpus[0]).toMatchObject({state: 'dirty', unexplainedMiB: 4_597, reasons: ['no-holder-anywhere']});
    expect(causeLines(deeper(shallow)).join('\n')).toMatch(
      /possible: memory that was exported .* on another node .*\n.*possible: a leak/s,
    );
    expect(targetPids(planFor(deeper(shallow), {includeOthers: true}))).toEqual([]);
  });

  it('C65: the MPS server is billed for all, and its end would be theirs: a client is let go of by itself', () => {
    const control = aProgram('/usr/bin/nvidia-cuda-mps-control', {pid: 70, ppid: 1, uid: 0});
    const server = billed(aProgram('/usr/bin/nvidia-cuda-mps-server', {pid: 71, ppid: 70}), {0: 9_000});
    const clients = [500, 501].map((pid) => billed(aProcess({pid, words: ['vllm', `${pid}`]}), {0: 600}));
    const look = deeper(aSnapshot([control, server, ...clients], {used: [10_209]}), {
      mps: {controlPid: 70, servers: [{pid: 71, clients: [500, 501]}]},
    });
    expect(biggest(look)).toBe(71);

    const plan = planFor(look, {match: 'vllm', pids: [71]});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 71)).toMatchObject({why: 'protected', choosable: false});
    expect(keptOf(plan, 500)).toMatchObject({
      why: 'contained',
      choosable: true,
      owners: [{kind: 'mps', stopCommand: 'echo terminate_client 71 500 | nvidia-cuda-mps-control'}],
    });
  });
});

describe('kept by no process', () => {
  it('C67: a module of another vendor that is in use explains what no process can', () => {
    const look = deeper(aSnapshot([], {used: [2_000]}), {modules: {gdrdrv: 1, nvidia: 40}});
    expect([listedBySmi(look), openers(look)]).toEqual([[], []]);

    const [gpu] = aDiagnosis(look).gpus;
    expect(gpu?.reasons).toEqual(['no-holder-anywhere', 'kernel-module']);
    expect(gpu?.evidence.map((one) => one.fact)).toEqual(['kernel modules in use: gdrdrv (1)']);
    expect(aDiagnosis(deeper(aSnapshot([], {used: [2_000]}), {modules: {gdrdrv: 0}})).gpus[0]?.reasons).toEqual([
      'no-holder-anywhere',
    ]);
    expect(targetPids(planFor(look, {includeOthers: true}))).toEqual([]);
  });

  it('C68: where only monitors have the devices open, their end frees nothing: the memory stays unexplained', () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7];
    const agents = ['/opt/bin/gpuagent', '/opt/bin/rdcd'].map((path, at) => ({
      process: aProgram(path, {pid: 60 + at, ppid: 1, uid: 0}),
      holding: monitorFiles(60 + at, all),
    }));
    const look = deeper(aSnapshot(agents, {used: all.map(() => 46_111)}));
    expect(openers(look)).toEqual([60, 61]);

    const diagnosis = aDiagnosis(look);
    expect(diagnosis.gpus.map((gpu) => [gpu.state, gpu.unexplainedMiB, gpu.holderPids])).toEqual(
      all.map(() => ['dirty', 46_111, []]),
    );
    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 60).choosable).toBe(true);
    expect(planFor(look, {pids: [60, 61]}).gpus.every((gpu) => (gpu.afterAtMostMiB ?? 0) >= 46_111)).toBe(true);
  });

  it('C72: a kernel client keeps a GPU from a reset, not from a start, and more signals would not change it', () => {
    const look = deeper(aSnapshot([], {used: [4]}), {modules: {nvidia_drm: 2, nvidia_modeset: 1, nvidia: 12}});
    expect(openers(look)).toEqual([]);

    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'clean', reasons: [], holderPids: []});
    expect(targetPids(planFor(look, {includeOthers: true}))).toEqual([]);
  });

  it('C91: shared memory that was left behind is no GPU memory: the GPU is clean, and the files are listed with their owner', () => {
    const leftovers = [
      {kind: 'file', name: '/dev/shm/nccl-abc', MiB: 9, uid: 1000, ageMs: 3_600_000},
      {kind: 'file', name: '/dev/shm/psm_12', MiB: 0, uid: 1001, ageMs: 60_000},
    ] as const;
    const look = deeper(aSnapshot([], {used: [4]}), {leftovers});
    expect(usedMiB(look)).toBe(4);

    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'clean', unexplainedMiB: 4});
    expect(look.deep?.leftovers).toEqual(leftovers);
    expect(targetPids(planFor(look, {includeOthers: true}))).toEqual([]);
  });
});
