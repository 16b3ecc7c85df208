/** Cases: somebody brings it back, or is the only one who can end it: container, unit, kernel, service. */
import {describe, expect, it} from 'vitest';
import {withFacts} from '../../../src/domain/owner.ts';
import {compareLater} from '../../../src/domain/return.ts';
import type {ProcessFacts} from '../../../src/domain/snapshot.ts';
import {stopHint} from '../../../src/report/owner-words.ts';
import {
  aDiagnosis,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  holds,
  keptOf,
  planFor,
  targetPids,
} from '../../doubles/build.ts';
import {aThread, deeper} from '../../doubles/deep.ts';
import {isAlive, listedBySmi, usedMiB} from './naive.ts';

const ID = '12ab'.repeat(16);
const SHORT = ID.slice(0, 12);
const CONTAINER = [`/system.slice/docker-${ID}.scope`];
const DOCKERD = aProgram('/usr/bin/dockerd', {pid: 40, ppid: 1, uid: 0, cgroups: ['/system.slice/docker.service']});
const SHIM = aProgram('/usr/bin/containerd-shim-runc-v2', {
  pid: 41,
  ppid: 1,
  uid: 0,
  cgroups: ['/system.slice/containerd.service'],
});
const inside = (change: Partial<ProcessFacts> & {readonly pid: number}) =>
  aProcess({
    ppid: 41,
    uid: 0,
    cgroups: CONTAINER,
    words: ['python3', '-m', 'vllm.entrypoints.openai.api_server'],
    ...change,
  });

describe('a container', () => {
  it('C12: that outlived its job is stopped as a container, and neither from inside nor through its daemons', () => {
    const every = {0: 172_032, 1: 172_032, 2: 172_032, 3: 172_032};
    const used = [172_041, 172_041, 172_041, 172_041];
    const look = aSnapshot([DOCKERD, SHIM, billed(inside({pid: 500}), every)], {used});
    expect(listedBySmi(look)).toEqual([500]);

    const plan = planFor(look, {match: 'vllm'});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 500)).toMatchObject({why: 'contained', choosable: true});
    expect(stopHint(keptOf(plan, 500).owners)).toBe(`stop: docker stop ${SHORT} · may start it again`);
    // By hand it can be had; the daemons cannot, and whose it is must be known for the requester to go alone.
    const byHand = planFor(look, {pids: [500, 40, 41]});
    expect(targetPids(byHand)).toEqual([500]);
    expect(byHand.targets[0]).toMatchObject({selfGo: false, ownership: {person: null}});
  });

  it('C14: that cannot be stopped has somebody stuck inside; its shim and its daemon are not the way', () => {
    const look = deeper(
      aSnapshot([DOCKERD, SHIM, billed(inside({pid: 500, state: 'D'}), {0: 40_000})], {used: [40_009]}),
      {kernel: [aThread(500, {wchan: 'rwsem_down_write_slowpath'})]},
    );
    const holder = holderOf(aDiagnosis(look), 500);
    expect(holder.findings).toEqual(expect.arrayContaining(['stuck', 'contained']));
    expect(holder.evidence.map((one) => one.fact).join(' ')).toContain('rwsem_down_write_slowpath');

    const plan = planFor(look, {pids: [500, 40, 41], includeOthers: true});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 500)).toMatchObject({why: 'stuck', choosable: false});
  });

  it('C27: that its runtime starts over and over is a crash loop: the restart must end before anything else', () => {
    const young = inside({pid: 500, startTicks: '49700'});
    const look = aSnapshot([SHIM, billed(young, {0: 30_000})], {used: [30_009]});
    const kept = keptOf(planFor(look, {match: 'vllm'}), 500);
    expect(kept).toMatchObject({why: 'contained', ageMs: 3_000});
    expect(targetPids(planFor(look, {match: 'vllm'}))).not.toEqual(listedBySmi(look));

    const asked = withFacts(kept.owners, [
      {
        kind: 'docker',
        id: ID,
        title: 'vllm',
        state: 'running',
        restarts: 'yes',
        setting: 'restart policy always',
        run: '2026-12-01T11:00:00Z',
        restartCount: 35,
      },
    ]);
    expect(asked[0]).toMatchObject({restarts: 'yes', facts: {restartCount: 35}});
    expect(stopHint(asked)).toBe(`stop: docker stop ${SHORT} · starts it again`);
  });
});

describe('a service', () => {
  it('C25: under a new PID it is the same unit that came back, and ending it again would not help', () => {
    const group = ['/system.slice/ollama.service'];
    const ollama = (pid: number) =>
      billed(
        aProgram('/usr/local/bin/ollama', {
          pid,
          ppid: 1,
          uid: 999,
          cgroups: group,
          words: ['/usr/local/bin/ollama', 'serve'],
        }),
        {0: 9_000},
      );
    const before = aSnapshot([ollama(1_342_356)], {used: [9_009], literals: ['ollama']});
    const later = aSnapshot([ollama(1_342_366)], {used: [9_009], literals: ['ollama'], uptimeMs: 560_000});
    expect(isAlive(later, 1_342_356)).toBe(false);

    const plan = planFor(before, {match: 'ollama'});
    expect(targetPids(plan)).toEqual([]);
    expect(stopHint(keptOf(plan, 1_342_356).owners)).toContain('systemctl stop ollama.service');
    const chosen = planFor(before, {pids: [1_342_356]});
    const compared = compareLater({
      plan: chosen,
      before,
      closing: aDiagnosis(aSnapshot([], {used: [4]})),
      later: aDiagnosis(later),
      noted: {returns: [], starts: []},
      toleranceMiB: 64,
    });
    expect(compared?.returns).toMatchObject([{by: 'restart', supervisor: {kind: 'unit', name: 'ollama.service'}}]);
    expect(compared?.starts).toEqual([]);
  });

  it('C74: whose old children pile up loses none of them to a guess: all are named with their age, its owner decides', () => {
    const MiB = [5_144, 2_070, 1_562, 866, 5_154];
    const app = aProcess({pid: 300, words: ['/srv/app', '--serve'], uid: BO_UID});
    const children = MiB.map((size, at) =>
      billed(aProcess({pid: 400 + at, ppid: 300, uid: BO_UID, words: ['python-inference-process']}), {0: size}),
    );
    const look = aSnapshot([app, ...children], {used: [14_800], literals: ['/srv/app']});
    // All but the biggest.
    expect(listedBySmi(look).filter((pid) => pid !== 404)).toHaveLength(4);

    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([]);
    const ages = [400, 401, 402, 403, 404].map((pid) => [keptOf(plan, pid).why, keptOf(plan, pid).ageMs]);
    expect(ages).toEqual([460_000, 459_900, 459_800, 459_700, 459_600].map((ageMs) => ['in-use', ageMs]));
    expect(targetPids(planFor(look, {match: '/srv/app'}))).toEqual([300, 400, 401, 402, 403, 404]);
  });

  it('C76: a kernel without a notebook still has its variables, and its server would start it again', () => {
    const jupyter = aProcess({pid: 300, comm: 'jupyter-lab', words: ['python3', '/opt/bin/jupyter-lab']});
    const kernel = aProcess({
      pid: 310,
      ppid: 300,
      words: ['python3', '-m', 'ipykernel_launcher', '-f', '/run/kernel-5421.json'],
    });
    const look = aSnapshot([jupyter, holds(kernel, [0])], {used: [8_525], literals: ['ipykernel']});
    expect(listedBySmi(look)).toEqual([]);

    const plan = planFor(look, {match: 'ipykernel'});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 310)).toMatchObject({why: 'contained', choosable: true});
    expect(stopHint(keptOf(plan, 310).owners)).toBe(
      'Jupyter kernel 5421 starts it again; shut it down in Jupyter: its variables are lost with it',
    );
    // Its server is somebody's surroundings, also for one who chose the kernel by hand.
    expect(targetPids(planFor(look, {match: 'jupyter', pids: [310]}))).toEqual([310]);
  });

  it('C80: a reservation without anybody on the GPU leaves nothing to end, and the neighbour is not the one', () => {
    const bos = billed(aProcess({pid: 600, uid: BO_UID}), {1: 20_000});
    const look = aSnapshot([bos], {used: [4, 20_009]});
    expect(usedMiB(look)).toBe(4);
    expect(aDiagnosis(look).gpus[0]?.state).toBe('clean');
    expect(targetPids(planFor(look, {gpus: [0], includeOthers: true}))).toEqual([]);
    expect(keptOf(planFor(look, {gpus: [0], includeOthers: true}), 600)).toMatchObject({
      why: 'outside-gpus',
      choosable: false,
    });
  });
});
