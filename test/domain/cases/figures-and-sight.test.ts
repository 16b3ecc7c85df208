/** Cases: what a figure means, what could not be seen, and when it is too early to say. */
import {describe, expect, it} from 'vitest';
import {nextMove} from '../../../src/domain/escalation.ts';
import {judge} from '../../../src/domain/judge.ts';
import {parseHost} from '../../../src/domain/parse/host-section.ts';
import {parseCharges} from '../../../src/domain/parse/nvidia-smi.ts';
import type {RunEvent} from '../../../src/domain/run.ts';
import type {Snapshot} from '../../../src/domain/snapshot.ts';
import {timeToFree} from '../../../src/domain/time-to-free.ts';
import {
  aDiagnosis,
  aGpu,
  aHost,
  aPolicy,
  aProcess,
  aProgram,
  aRun,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  keptOf,
  MACHINE,
  monitorFiles,
  NO_FIGURE,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
} from '../../doubles/build.ts';
import {isAlive, listedBySmi, openers, usedMiB} from './naive.ts';

const worker = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']});
const FOREIGN = {...MACHINE, pidNamespace: '4026532288'};

function closed(before: Snapshot, after: Snapshot) {
  return judge({
    plan: planFor(before, {pids: [500]}),
    before: aDiagnosis(before),
    after: aDiagnosis({...after, uptimeMs: 520_000}),
    results: new Map([[500, {signal: 'SIGKILL', result: 'sent', signalled: true}]]),
    observations: new Map([[500, 'gone']]),
    freedAfterMs: null,
    because: null,
    stopped: false,
    toleranceMiB: 64,
  });
}

describe('memory after the signal', () => {
  it('C60: falls long after the process is gone: still falling is neither freed nor failed', () => {
    const before = aSnapshot([billed(worker, {0: 70_493})], {used: [70_984]});
    const after = aSnapshot([], {used: [30_341]});
    expect(isAlive(after, 500)).toBe(false);

    expect(closed(before, after)).toMatchObject({word: 'partly', survivors: []});
    expect(closed(before, aSnapshot([], {used: [70_984]})).word).toBe('nothing-freed');
    const plan = planFor(before, {pids: [500]});
    const atMs = 1_700_000_000_000;
    const sample = (uptimeMs: number, MiB: number): RunEvent => ({
      kind: 'memory',
      atMs,
      uptimeMs,
      usedMiB: {[uuidOf(0)]: MiB},
    });
    const watched = (how: 'timed-out' | 'stalled', ...samples: readonly RunEvent[]) =>
      aRun(
        {kind: 'surveyed', atMs, snapshot: before},
        {kind: 'planned', atMs, plan, digest: 'd', expiresAtMs: atMs},
        {
          kind: 'signal-intended',
          atMs,
          rung: 1,
          identities: plan.targets.map((one) => one.identity),
          signal: 'SIGKILL',
          machine: MACHINE,
          notAfterUptimeMs: 600_000,
        },
        {
          kind: 'signal-result',
          atMs,
          rung: 1,
          pid: 500,
          signal: 'SIGKILL',
          result: 'sent',
          detail: '',
          uptimeMs: 501_000,
        },
        ...samples,
        {kind: 'settled', atMs, how, uptimeMs: 621_000},
      );
    expect(timeToFree(watched('timed-out', sample(502_000, 70_984), sample(620_000, 30_341)))[0]).toMatchObject({
      how: 'still-falling',
      allMs: null,
    });
    expect(timeToFree(watched('stalled', sample(502_000, 30_341), sample(620_000, 30_341)))[0]?.how).toBe('stalled');
    expect(aPolicy().verifyMs).toBe(120_000);
  });

  it('C78: at rest is not 0, and a card is held against its own lowest figure, capped by what the policy allows', () => {
    const idle = [256, 308, 105, 2].map((MiB, index) => aGpu(index, MiB));
    expect(idle.every((_, index) => usedMiB(aSnapshot([], {gpus: idle}), index) > 0)).toBe(true);

    const diagnosis = aDiagnosis(aSnapshot([], {gpus: idle}));
    expect(diagnosis.gpus.map((gpu) => gpu.state)).toEqual(['clean', 'clean', 'clean', 'clean']);
    const [known] = aDiagnosis(aSnapshot([], {used: [256]}), {baselines: new Map([[uuidOf(0), 2]])}).gpus;
    expect(known).toMatchObject({state: 'dirty', baselineMiB: 2, baselineSeen: true});
    // What was left over when a look first saw the card may have been a leak: it is never taken for rest.
    const [leak] = aDiagnosis(aSnapshot([], {used: [11_961]}), {baselines: new Map([[uuidOf(0), 11_448]])}).gpus;
    expect(leak).toMatchObject({state: 'dirty', baselineMiB: 300});
  });

  it('C86: without a figure per GPU, before and after are sums of the same bills', () => {
    const unified = {gpus: [aGpu(0, 0, {usedMiB: NO_FIGURE, totalMiB: NO_FIGURE})]};
    const before = aSnapshot([billed(worker, {0: 19_135})], unified);
    expect(usedMiB(before)).toBe(0);

    expect(aDiagnosis(before).gpus[0]).toMatchObject({
      state: 'occupied',
      usedFrom: 'processes',
      usedMiB: 19_135,
      totalMiB: null,
    });
    const outcome = closed(before, aSnapshot([], unified));
    expect(outcome).toMatchObject({word: 'reclaimed', gpus: [{beforeMiB: 19_135, afterMiB: 0}]});
    const unread = aSnapshot([], {...unified, smi: {state: 'timed-out', exitCode: null, note: ''}});
    expect(closed(before, unread).word).toBe('unknown');
  });
});

describe('what could not be seen', () => {
  const sight = {full: true, euid: 0, hidepid: '0', unreadableFdFolders: 0, foreignPidNamespace: true, stuckAt: []};

  it("C81: from inside a container the driver's numbers are strangers, and nobody is ended by one", () => {
    const look = aSnapshot([aProcess({pid: 19, words: ['vllm']}), aProcess({pid: 40_170})], {
      machine: FOREIGN,
      sight,
      used: [11_637],
      charges: [{gpuUuid: uuidOf(0), pid: 40_170, name: '[Not Found]', usedMiB: {known: true, value: 11_628}}],
    });
    expect(listedBySmi(look).filter((pid) => isAlive(look, pid))).toEqual([40_170]);

    const diagnosis = aDiagnosis(look);
    expect(diagnosis).toMatchObject({foreignPids: true, holders: []});
    expect(diagnosis.gpus[0]).toMatchObject({state: 'unknown', reasons: ['foreign-pid-namespace']});
    expect(targetPids(planFor(look, {match: 'vllm', includeOthers: true, pids: [40_170]}))).toEqual([]);
    const lines = ['boot_id 00000000-0000-0000-0000-000000000000', 'uptime 1.0', 'euid 0', 'clock_ticks 100'];
    expect(parseHost([...lines, 'pid:[4026532288]'], 'k')).toMatchObject({foreignPidNamespace: true});
    expect(parseHost([...lines, 'pid:[4026531836]'], 'k')).toMatchObject({foreignPidNamespace: false});
    expect(aDiagnosis(look, {host: aHost({labPidNamespace: true})}).foreignPids).toBe(false);
  });

  it('C83: "found nobody" is not said where we were not allowed to look; a bill without files names no holder to end', () => {
    const poor = {...sight, full: false, euid: 1000, unreadableFdFolders: 12, foreignPidNamespace: false};
    const look = aSnapshot([], {used: [6_000], sight: poor});
    expect(openers(look)).toEqual([]);

    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'unknown', reasons: ['not-all-readable']});
    expect(closed(aSnapshot([billed(worker, {0: 5_991})], {used: [6_000]}), look).word).not.toBe('reclaimed');
    const theirs = {
      process: aProcess({pid: 600, uid: BO_UID}),
      charges: [{gpuUuid: uuidOf(0), pid: 600, name: 'x', usedMiB: {known: true, value: 5_991}}],
    } as const;
    const seen = aSnapshot([theirs], {used: [6_000], sight: poor});
    expect(keptOf(planFor(seen, {pids: [600]}), 600)).toMatchObject({why: 'no-holder', choosable: false});
    // Back at rest is the one thing that poor sight may say.
    expect(aDiagnosis(aSnapshot([], {used: [4], sight: poor})).gpus[0]?.state).toBe('clean');
  });

  it('C88: a bill of the other system has no figure and no process here: shown, and never a number to signal', () => {
    const row = `${uuidOf(0)}, 63488, [Not Found], [N/A]`;
    const {charges} = parseCharges([row]);
    expect(charges).toMatchObject([{pid: 63_488, usedMiB: {known: false, why: 'not-supported'}}]);

    const look = aSnapshot([], {used: [9_100], charges});
    expect(listedBySmi(look)).toEqual([63_488]);
    const diagnosis = aDiagnosis(look);
    expect(diagnosis.gpus[0]).toMatchObject({state: 'dirty', deadCharged: [{pid: 63_488, usedMiB: null}]});
    expect(targetPids(planFor(look, {includeOthers: true, pids: [63_488]}))).toEqual([]);
    expect(planFor(look, {pids: [63_488]}).gpus[0]?.likelyAfterMiB).toBeGreaterThan(8_000);
  });

  it('C90: a question of ours that an earlier connection left behind is a monitor, and no ghost of a workload', () => {
    const words = [
      'nvidia-smi',
      '--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory',
      '--format=csv,noheader,nounits',
    ];
    const left = aProgram('/usr/bin/nvidia-smi', {pid: 700, ppid: 1, words, state: 'D'});
    const look = aSnapshot([{process: left, holding: monitorFiles(700, [0])}, billed(worker, {0: 9_000})], {
      used: [9_009],
    });
    expect(openers(look)).toContain(700);

    expect(holderOf(aDiagnosis(look), 700).findings).toEqual(['monitor']);
    const plan = planFor(look, {match: 'vllm', includeOthers: true, pids: [700]});
    expect(targetPids(plan)).toEqual([500]);
    expect(keptOf(plan, 700)).toMatchObject({why: 'monitor', choosable: false});
  });
});

describe('how long to wait', () => {
  const state = (plan: ReturnType<typeof planFor>) =>
    ({
      targets: plan.targets.map(({identity, role, takesTerm}) => ({
        pid: identity.pid,
        role,
        takesTerm,
        attempts: [],
        seen: 'alive' as const,
        mayWrite: false,
        excluded: false,
      })),
      choice: 'terminate-then-kill',
      graceMs: plan.graceMs,
      memberDelayMs: plan.memberDelayMs,
      sinceTermMs: 0,
      longestGraceMs: plan.longestGraceMs,
      ranOnMs: 0,
      stops: [],
      writing: null,
    }) as const;

  it('C77: a stopped process cannot hear SIGTERM, so nobody waits for it, and the card says that its user may want it', () => {
    const stopped = {...worker, state: 'T'};
    const look = aSnapshot([billed(stopped, {0: 11_000})], {used: [11_009]});
    const plan = planFor(look, {match: 'vllm'});
    expect(
      nextMove(state(planFor(aSnapshot([billed(worker, {0: 11_000})], {used: [11_009]}), {match: 'vllm'}))),
    ).toMatchObject({
      signal: 'SIGTERM',
    });

    expect(targetOf(plan, 500)).toMatchObject({findings: ['stopped', 'workload'], takesTerm: false});
    expect(nextMove(state(plan))).toMatchObject({signal: 'SIGKILL', pids: [500]});
    expect(targetPids(planFor(look))).toEqual([]);
  });

  it('C92: below a profiler the report is still to be written: minutes, not seconds, unless somebody typed a grace', () => {
    const nsys = aProgram('/opt/nsight/bin/nsys', {pid: 400, words: ['nsys', 'profile', 'python3', 'run.py']});
    const under = billed({...worker, ppid: 400}, {0: 9_000});
    const plan = planFor(aSnapshot([nsys, under], {used: [9_009]}), {match: 'vllm'});
    expect(planFor(aSnapshot([billed(worker, {0: 9_000})], {used: [9_009]}), {match: 'vllm'}).graceMs).toBe(30_000);

    expect(plan.graceMs).toBe(aPolicy().profilerGraceMs);
    expect(targetOf(plan, 500).findings).toContain('writing');
    expect(targetPids(plan)).toEqual([500]);
    expect(planFor(aSnapshot([nsys, under], {used: [9_009]}), {match: 'vllm', graceMs: 2_000}).graceMs).toBe(2_000);
  });
});
