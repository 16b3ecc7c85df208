/** Cases: the server is gone, its workers are not, and their parent is whoever the kernel chose. */
import {describe, expect, it} from 'vitest';
import {refusePlan} from '../../../src/domain/authority.ts';
import {nextMove} from '../../../src/domain/escalation.ts';
import {judge} from '../../../src/domain/judge.ts';
import type {ProcessFacts} from '../../../src/domain/snapshot.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aGpu,
  aHolding,
  aPolicy,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  holds,
  keptOf,
  NO_FIGURE,
  planFor,
  targetOf,
  targetPids,
} from '../../doubles/build.ts';
import {called, isAlive, listedBySmi, orphansOfInit, usedMiB} from './naive.ts';

const worker = (title: string, change: Partial<ProcessFacts> & {readonly pid: number}) =>
  aProcess({comm: title.slice(0, 15), words: [title], ...change});

describe('a server was killed and its workers went on', () => {
  it('C01: engine and workers under the launching shell are one workload, and the shell that started it all is not', () => {
    const shell = aProgram('/usr/bin/bash', {pid: 21_913, words: ['bash', '-c', 'vllm serve a/model; wait']});
    const look = aSnapshot(
      [
        shell,
        worker('VLLM::EngineCore', {pid: 22_010, ppid: 21_913}),
        billed(worker('VLLM::Worker_TP0', {pid: 22_011, ppid: 22_010}), {0: 14_900}),
        billed(worker('VLLM::Worker_TP1', {pid: 22_012, ppid: 22_010}), {1: 14_900}),
      ],
      {used: [14_909, 14_909]},
    );
    expect(isAlive(look, 21_950)).toBe(false);
    expect(orphansOfInit(look, 'VLLM')).toEqual([]);
    expect(called(look, 'vllm serve')).toEqual([21_913]);

    const plan = planFor(look, {match: 'vllm'});
    expect(plan.targets.map((target) => [target.identity.pid, target.role])).toEqual([
      [22_010, 'server'],
      [22_011, 'member'],
      [22_012, 'member'],
    ]);
    expect(holderOf(aDiagnosis(look), 22_011)).toMatchObject({orphaned: true});
    expect(targetPids(planFor(look))).toEqual([22_011, 22_012]);
    expect(new Set(plan.targets.map((target) => target.family.rootPid)).size).toBe(1);
  });

  it('C02: on unified memory the bill of the orphan is all the evidence there is, and no figure is not 0', () => {
    const look = aSnapshot([billed(worker('VLLM::EngineCore', {pid: 7_001}), {0: 104_277})], {
      gpus: [aGpu(0, 0, {usedMiB: NO_FIGURE, totalMiB: NO_FIGURE, reservedMiB: NO_FIGURE})],
    });
    expect(usedMiB(look)).toBe(0);
    expect(isAlive(look, 7_000)).toBe(false);

    const [gpu] = aDiagnosis(look).gpus;
    expect(gpu).toMatchObject({state: 'dirty', usedFrom: 'processes', usedMiB: 104_277});
    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([7_001]);
    expect(plan.gpus[0]).toMatchObject({beforeMiB: 104_277, likelyAfterMiB: 0});
  });

  it('C04: workers that hang on their way out get their SIGTERM, a whole grace, and then the kill that ends them', () => {
    const look = aSnapshot(
      [
        billed(worker('VLLM::Worker_TP0', {pid: 810}), {4: 60_000}),
        billed(worker('VLLM::Worker_TP1', {pid: 811}), {7: 60_000}),
      ],
      {used: [4, 4, 4, 4, 60_009, 4, 4, 60_009]},
    );
    expect(called(look, 'EngineCore')).toEqual([]);

    const plan = planFor(look, {match: 'vllm'});
    expect(targetPids(plan)).toEqual([810, 811]);
    const targets = plan.targets.map(({identity, role, takesTerm}) => ({
      pid: identity.pid,
      role,
      takesTerm,
      attempts: ['SIGTERM'] as const,
      seen: 'alive' as const,
      mayWrite: false,
      excluded: false,
    }));
    const {graceMs, memberDelayMs, longestGraceMs} = plan;
    const ladder = {
      targets,
      choice: 'terminate-then-kill',
      graceMs,
      memberDelayMs,
      longestGraceMs,
      ranOnMs: 0,
      stops: [],
      writing: null,
    } as const;
    expect(nextMove({...ladder, sinceTermMs: graceMs})).toMatchObject({signal: 'SIGKILL', pids: [810, 811]});
    expect(nextMove({...ladder, sinceTermMs: 0})).not.toMatchObject({signal: 'SIGKILL'});
  });

  it('C06: a framework with two names is known by both, and 4 MiB left on an idle card are its baseline', () => {
    const orphans = [0, 1].map((gpu) =>
      billed(worker(`sgl_diffusion::scheduler_U${gpu}`, {pid: 900 + gpu, ppid: 1}), {[gpu]: 9_626}),
    );
    const look = aSnapshot(orphans, {used: [9_630, 9_630]});
    expect(called(look, 'sglang')).toEqual([]);

    const plan = planFor(look, {match: 'sglang'});
    expect(targetPids(plan)).toEqual([900, 901]);
    const after = aSnapshot([], {used: [4, 4], uptimeMs: 520_000});
    expect(usedMiB(after)).not.toBe(0);
    const outcome = judge({
      plan,
      before: aDiagnosis(look),
      after: aDiagnosis(after),
      results: new Map([900, 901].map((pid) => [pid, {signal: 'SIGTERM', result: 'sent', signalled: true}])),
      observations: new Map([900, 901].map((pid) => [pid, 'gone'])),
      freedAfterMs: 400,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
    expect(outcome.word).toBe('reclaimed');
  });

  it('C07: workers that compute nothing hold everything: use in percent says nothing', () => {
    const blocked = [0, 1, 2, 3].map((gpu) =>
      billed(aProcess({pid: 700 + gpu, ppid: 1, comm: 'ATOM::EngineCor', words: []}), {[gpu]: 275_000}),
    );
    const look = aSnapshot(blocked, {used: [275_300, 275_300, 275_300, 275_300]});
    expect(look.gpus.filter((gpu) => gpu.utilizationPercent.known && gpu.utilizationPercent.value > 0)).toEqual([]);

    expect(targetPids(planFor(look))).toEqual([700, 701, 702, 703]);
    const inside = `/docker/${'07'.repeat(32)}`;
    const contained = aSnapshot(
      blocked.map((seen) => ({...seen, process: {...seen.process, cgroups: [inside]}})),
      {used: [275_300, 275_300, 275_300, 275_300]},
    );
    // What is stale inside the container outlives them there: its own stop is the way.
    expect(targetPids(planFor(contained))).toEqual([]);
    expect(keptOf(planFor(contained), 700)).toMatchObject({why: 'contained', choosable: true});
  });

  it('C10: a shell that adopts orphans is nobody to signal, and the earlier look knows whose children they were', () => {
    const adopter = aProgram('/usr/bin/bash', {pid: 12_393, words: ['bash', '/srv/run.sh']});
    const server = aProcess({
      pid: 12_400,
      ppid: 12_393,
      words: ['python3', '-m', 'vllm.entrypoints.openai.api_server'],
    });
    const ranks = (ppid: number) =>
      [12_410, 12_411].map((pid) => billed(aProcess({pid, ppid, words: ['python3', 'run.py']}), {0: 20_000}));
    const then = aSnapshot([adopter, server, ...ranks(12_400)], {used: [40_009], takenAtMs: 1_699_999_000_000});
    const look = aSnapshot([adopter, ...ranks(12_393)], {used: [40_009]});
    expect(orphansOfInit(look, 'python3')).toEqual([]);

    expect(targetPids(planFor(look, {match: 'vllm'}))).toEqual([]);
    const plan = planFor(look, {match: 'vllm'}, {earlier: [then]});
    expect(targetPids(plan)).toEqual([12_410, 12_411]);
    expect(targetOf(plan, 12_410)).toMatchObject({
      takesTerm: true,
      belonging: {by: 'earlier-look', ancestorPid: 12_400, ancestorName: 'vllm.entrypoints.openai.api_server'},
    });
  });
});

describe('a job was over and its processes were not', () => {
  const MiB = [100_998, 101_044, 101_044, 100_804];

  it("C16: an empty queue is no owner, and another user's server of the same name is", () => {
    const escaped = (cgroups: readonly string[]) =>
      MiB.map((size, gpu) =>
        billed(worker(`sglang::scheduler_DP${gpu}_TP${gpu}_EP${gpu}`, {pid: 300 + gpu, ppid: 1, cgroups}), {
          [gpu]: size,
        }),
      );
    const theirServer = aProcess({pid: 400, uid: BO_UID, words: ['python3', '-m', 'sglang.launch_server']});
    const theirs = worker('sglang::scheduler_TP0', {pid: 410, ppid: 400, uid: BO_UID});
    const look = aSnapshot([...escaped([]), theirServer, billed(theirs, {4: 90_000})], {
      used: [...MiB.map((size) => size + 9), 90_009],
    });
    expect(called(look, 'sglang')).toContain(410);

    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([300, 301, 302, 303]);
    expect(keptOf(plan, 410)).toMatchObject({why: 'in-use'});
    const withJob = aSnapshot(escaped(['/slurm/uid_1000/job_7/step_0/task_0']), {used: MiB});
    expect(keptOf(planFor(withJob), 300).owners.map((owner) => [owner.kind, owner.id])).toEqual([
      ['slurm-step', '7.0'],
      ['slurm-job', '7'],
    ]);
  });

  it('C17: the billed ranks are dead, and 126 loaders that nobody lists keep what they had', () => {
    const every = [0, 1, 2, 3, 4, 5, 6, 7];
    const loaders = Array.from({length: 126}, (_, at) =>
      holds(aProcess({pid: 2_000 + at, ppid: 1, comm: 'pt_data_worker', processGroup: 900, session: 900}), every),
    );
    const ranks = Array.from({length: 7}, (_, gpu) => aDeadCharge(900 + gpu, gpu, 39_000));
    const look = aSnapshot(loaders, {used: [...ranks.map(() => 39_009), 4], charges: ranks});
    expect(listedBySmi(look).filter((pid) => isAlive(look, pid))).toEqual([]);

    const plan = planFor(look);
    expect(plan.targets).toHaveLength(126);
    expect(targetPids(plan).some((pid) => pid < 1_000)).toBe(false);
    expect(refusePlan(plan, aPolicy())).toBeNull();
    expect(plan.gpus.map((gpu) => gpu.afterAtMostMiB)).toEqual([300, 300, 300, 300, 300, 300, 300, 4]);
  });

  it("C19: what could not be asked is no answer, and one's own session is nobody's leftover", () => {
    const mine = aProgram('/usr/bin/bash', {pid: 4_000, ppid: 3_990, words: ['sh', '-s']});
    const session = aProgram('/usr/sbin/sshd', {pid: 3_990, ppid: 90, uid: 0});
    const work = billed(aProcess({pid: 500}), {0: 20_000});
    const seen = aSnapshot([session, mine, work], {used: [20_009], ownPids: [4_000, 3_990]});
    // killall -u anna
    expect(seen.processes.filter((one) => one.uid === 1000).map((one) => one.pid)).toContain(4_000);
    expect(targetPids(planFor(seen, {user: 'anna'}))).toEqual([500]);
    expect(targetPids(planFor(seen, {pids: [3_990, 4_000]}))).toEqual([]);

    const loader = holds(aProcess({pid: 769, ppid: 1}), [0]);
    const dead = {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]};
    const cut = [{name: 'facts', exitCode: null, complete: false, note: 'cut'}];
    expect(targetPids(planFor(aSnapshot([loader], dead)))).toEqual([769]);
    expect(targetPids(planFor(aSnapshot([loader], {...dead, sections: cut})))).toEqual([]);
    const stranger = {process: aProcess({pid: 600, uid: 4_242}), holding: aHolding(600, [0])};
    expect(targetOf(planFor(aSnapshot([stranger], {used: [4]}), {pids: [600]}), 600).selfGo).toBe(false);
  });
});
