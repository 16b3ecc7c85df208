/** The word a run ends with: a difference between two looks, and unknown whenever one of them cannot be had. */
import {describe, expect, it} from 'vitest';
import {type AttemptResult, type JudgeInput, judge} from '../../src/domain/judge.ts';
import type {Observation, OrderResult} from '../../src/domain/order.ts';
import {isFree} from '../../src/domain/readiness.ts';
import type {Signal} from '../../src/domain/signal.ts';
import type {ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aGpu,
  anExecutable,
  aPlan,
  aProcess,
  aProgram,
  aSnapshot,
  aTarget,
  BO_UID,
  billed,
  holds,
  initFiles,
  MACHINE,
  NO_FIGURE,
  PLAIN_ZOMBIE,
  planFor,
  type Seen,
  uuidOf,
} from '../doubles/build.ts';
import {aThread, deeper} from '../doubles/deep.ts';

const target = aProcess({pid: 500});
const bo = aProcess({pid: 600, uid: BO_UID});
const before = aSnapshot([billed(target, {0: 80_000}), billed(bo, {1: 20_000})], {used: [80_009, 20_009]});
const plan = planFor(before, {pids: [500]});

function sent(signal: Signal = 'SIGKILL', result: OrderResult = 'sent'): AttemptResult {
  return {signal, result, signalled: result === 'sent'};
}

function judged(after: Snapshot | null, change: Partial<JudgeInput> = {}) {
  return judge({
    plan,
    before: aDiagnosis(before),
    after: after === null ? null : aDiagnosis(after),
    results: new Map([[500, sent()]]),
    observations: new Map<number, Observation>(),
    freedAfterMs: 400,
    because: null,
    stopped: false,
    toleranceMiB: 64,
    ...change,
  });
}

const freed = aSnapshot([billed(bo, {1: 20_000})], {used: [4, 20_009]});

describe('reclaimed', () => {
  it('when every requested GPU is at what the others explain and no target lives', () => {
    expect(judged(freed)).toMatchObject({word: 'reclaimed', survivors: [], freedAfterMs: 400});
    expect(judged(freed).gpus).toMatchObject([
      {beforeMiB: 80_009, afterMiB: 4, expectedMiB: 364, heldBy: []},
      {beforeMiB: 20_009, afterMiB: 20_009, expectedMiB: 20_364, heldBy: [{pid: 600, chargedMiB: 20_000}]},
    ]);
  });

  it('also when somebody took the GPU meanwhile: their bill explains it', () => {
    const carol = aProcess({pid: 700, uid: BO_UID});
    expect(
      judged(aSnapshot([billed(bo, {1: 20_000}), billed(carol, {0: 90_000})], {used: [90_009, 20_009]})).word,
    ).toBe('reclaimed');
  });

  it('also when a dead target waits for its parent: it holds nothing', () => {
    const after = aSnapshot([aProcess({pid: 500, ...PLAIN_ZOMBIE}), billed(bo, {1: 20_000})], {used: [4, 20_009]});
    expect(judged(after)).toMatchObject({word: 'reclaimed', survivors: []});
  });

  it('also beside a desktop that is billed nothing and was there before', () => {
    const xorg = holds(aProgram('/usr/lib/xorg/Xorg', {pid: 9, uid: 0}), [0]);
    const desk = aSnapshot([billed(target, {0: 80_000}), xorg], {used: [80_600]});
    const outcome = judge({
      plan: planFor(desk, {pids: [500]}),
      before: aDiagnosis(desk),
      after: aDiagnosis(aSnapshot([xorg], {used: [600]})),
      results: new Map([[500, sent()]]),
      observations: new Map(),
      freedAfterMs: 400,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
    expect(outcome.word).toBe('reclaimed');
  });
});

describe('never reclaimed', () => {
  it('on a count of signals: the memory is still there', () => {
    expect(judged(aSnapshot([billed(bo, {1: 20_000})], {used: [80_009, 20_009]})).word).toBe('nothing-freed');
  });

  it('with memory that is left over, even a little above the tolerance', () => {
    expect(judged(aSnapshot([], {used: [364, 4]})).word).toBe('reclaimed');
    expect(judged(aSnapshot([], {used: [365, 4]})).word).toBe('partly');
  });

  it('while a target lives, whatever the memory says', () => {
    const outcome = judged(aSnapshot([target, billed(bo, {1: 20_000})], {used: [4, 20_009]}));
    expect(outcome).toMatchObject({
      word: 'partly',
      survivors: [{pid: 500, observation: 'alive', why: 'outlived-kill'}],
    });
  });

  it('by the bill of a target that lives on, nor by one dead charge counted for each of its keepers', () => {
    expect(judged(before).word).toBe('nothing-freed');
    const keepers = [1, 2, 3, 4].map((at) =>
      holds(aProcess({pid: 800 + at, ppid: 1, session: 9, processGroup: 9}), [0]),
    );
    const withDead = (deadPid: number) =>
      judged(aSnapshot(keepers, {used: [80_009, 4], charges: [aDeadCharge(deadPid, 0, 20_000)]}));
    expect(withDead(499).gpus[0]).toMatchObject({expectedMiB: 20_364});
    expect(withDead(499).gpus[0]?.movedTo).toBeUndefined();
    // The target's own memory, kept by another: it is neither free nor that one's.
    expect(withDead(500)).toMatchObject({word: 'nothing-freed', gpus: [{expectedMiB: 364}, {}]});
    expect(withDead(500).gpus[0]?.movedTo).toEqual([
      {pid: 801, name: 'train.py', MiB: 20_000, fromPids: [500], how: 'kept'},
    ]);
  });

  it('by the bill of a dead target that nobody is found to keep', () => {
    const after = aSnapshot([], {used: [80_009, 4], charges: [aDeadCharge(500, 0, 80_000)]});
    expect(judged(after).word).toBe('nothing-freed');
  });

  it('when one GPU is freed and another is not', () => {
    const two = aSnapshot([billed(target, {0: 80_000, 1: 80_000})], {used: [80_009, 80_009]});
    const outcome = judge({
      plan: planFor(two, {pids: [500]}),
      before: aDiagnosis(two),
      after: aDiagnosis(aSnapshot([], {used: [4, 80_009]})),
      results: new Map([[500, sent()]]),
      observations: new Map(),
      freedAfterMs: null,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
    expect(outcome.word).toBe('partly');
  });

  it('what somebody else takes elsewhere does not make nothing of what was freed here', () => {
    const after = aSnapshot([target, billed(bo, {1: 140_000})], {used: [30_000, 140_009]});
    expect(judged(after).word).toBe('partly');
  });
});

describe('unknown', () => {
  const facts = (complete: boolean) => [{name: 'facts', exitCode: null, complete, note: ''}];
  it.each<[string, Snapshot | null]>([
    ['no closing look came back', null],
    ['it is of another boot', {...freed, machine: {...MACHINE, bootId: 'boot-2'}}],
    ['it is from another PID namespace', {...freed, machine: {...MACHINE, pidNamespace: '4026532000'}}],
    ['it is of another machine', {...freed, machine: {...MACHINE, hostKey: 'SHA256:other'}}],
    ['a requested GPU is gone from it', {...freed, gpus: freed.gpus.slice(1)}],
    ['a requested GPU has no figure', {...freed, gpus: [aGpu(0, 0, {usedMiB: NO_FIGURE}), aGpu(1, 20_009)]}],
    [
      'a requested GPU shows 0 MiB and requires a reset',
      {...freed, gpus: [aGpu(0, 0, {fault: '[GPU requires reset]'}), aGpu(1, 4)]},
    ],
    ['nvidia-smi failed', {...freed, gpus: [], charges: [], smi: {state: 'failed', exitCode: 255, note: ''}}],
    ['the facts of it are not whole', {...freed, sections: facts(false)}],
    ['it hides others from us', {...freed, sight: {...freed.sight, euid: 1000, hidepid: '2'}}],
  ])('when %s', (_, after) => {
    expect(judged(after)).toMatchObject({word: 'unknown'});
  });

  it('when the first look had no figure', () => {
    const blind = {...before, gpus: [aGpu(0, 0, {usedMiB: NO_FIGURE}), aGpu(1, 20_009)]};
    expect(judged(freed, {before: aDiagnosis(blind)}).word).toBe('unknown');
  });

  it('only by requested GPUs: a broken neighbour spoils nothing', () => {
    const alone = planFor(before, {pids: [500], gpus: [0]});
    const after = {...freed, gpus: [aGpu(0, 4), aGpu(1, 0, {fault: '[GPU is lost]'})]};
    expect(judged(after, {plan: alone}).word).toBe('reclaimed');
  });

  it('keeps what was last seen of each target, and claims no time', () => {
    const outcome = judged(null, {observations: new Map([[500, 'gone']])});
    expect(outcome).toMatchObject({word: 'unknown', survivors: [], freedAfterMs: null});
    expect(judged(null).survivors).toMatchObject([{pid: 500, observation: 'unknown', why: 'no-answer'}]);
  });
});

describe('memory that moved', () => {
  const exporter = aProcess({pid: 500});
  const shared = aProcess({pid: 700, uid: BO_UID, words: ['python3', 'shared_server.py']});
  const both = aSnapshot([billed(exporter, {0: 4_614}), billed(shared, {0: 518})], {used: [5_147]});
  const ended = (after: Snapshot) =>
    judge({
      plan: planFor(both, {pids: [500]}),
      before: aDiagnosis(both),
      after: aDiagnosis(after),
      results: new Map([[500, sent()]]),
      observations: new Map(),
      freedAfterMs: 400,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });

  it('to a shared importer is reported as moved, and not as freed (figures of an H200)', () => {
    const outcome = ended(aSnapshot([billed(shared, {0: 4_614})], {used: [4_623]}));
    expect(outcome).toMatchObject({word: 'partly', survivors: []});
    expect(outcome.gpus[0]).toMatchObject({
      beforeMiB: 5_147,
      afterMiB: 4_623,
      expectedMiB: 518 + 364,
      movedTo: [{pid: 700, name: 'shared_server.py', MiB: 4_096, fromPids: [500], how: 'billed'}],
    });
  });

  it('is no word for a neighbour that took more while the memory did come free', () => {
    const outcome = ended(aSnapshot([billed(shared, {0: 90_000})], {used: [90_009]}));
    expect(outcome.word).toBe('reclaimed');
    expect(outcome.gpus[0]?.movedTo).toBeUndefined();
  });

  it('nor where nothing has', () => {
    const outcome = ended(aSnapshot([billed(shared, {0: 518})], {used: [527]}));
    expect(outcome.word).toBe('reclaimed');
    expect(outcome.gpus[0]).not.toHaveProperty('movedTo');
  });
});

describe('unified memory', () => {
  const blank = (look: Snapshot): Snapshot => ({
    ...look,
    gpus: look.gpus.map((gpu) => ({...gpu, usedMiB: NO_FIGURE, totalMiB: NO_FIGURE})),
  });
  const unified = blank(before);

  it('is judged by what processes are billed, before and after', () => {
    const alone = planFor(unified, {pids: [500]});
    const outcome = judged(blank(freed), {plan: alone, before: aDiagnosis(unified)});
    expect(outcome.word).toBe('reclaimed');
    expect(outcome.gpus[0]).toMatchObject({beforeMiB: 80_000, afterMiB: 0, expectedMiB: 64, usedFrom: 'processes'});
    expect(judged(unified, {plan: alone, before: aDiagnosis(unified)}).word).toBe('nothing-freed');
  });

  it('is never held against a figure of another source', () => {
    expect(judged(blank(freed)).gpus[0]).toMatchObject({beforeMiB: 80_009, afterMiB: null});
    expect(judged(blank(freed)).word).toBe('unknown');
  });
});

describe('a survivor of kill -9', () => {
  const alive = (change: object = {}) =>
    aSnapshot([aProcess({pid: 500, ...change}), billed(bo, {1: 20_000})], {used: [4, 20_009]});
  it.each<[string, Snapshot, string, string | undefined]>([
    [
      'is stuck where a thread of it was seen in state D',
      deeper(alive(), {kernel: [aThread(500, {stack: ['nvidia_close'], wchan: 'os_down'})]}),
      'stuck-in-kernel',
      'thread 500 in state D, kill -9 pending, stands in nvidia_close of the GPU driver, waits in os_down',
    ],
    [
      'is stuck where one runs inside the driver, whatever is pending',
      deeper(alive(), {kernel: [aThread(500, {state: 'R', killPending: false, stack: ['rm_ioctl']})]}),
      'stuck-in-kernel',
      'thread 500 in state R, stands in rm_ioctl of the GPU driver',
    ],
    [
      'is stuck in state D, if only that could be read',
      alive({state: 'D'}),
      'stuck-in-kernel',
      'state D in the closing look; where it stands was not read',
    ],
    ['is only still there where nothing was read of it', alive(), 'outlived-kill', undefined],
    [
      'is only still there where its threads do something else',
      deeper(alive(), {kernel: [aThread(500, {state: 'S'})]}),
      'outlived-kill',
      undefined,
    ],
  ])('%s', (_, after, why, fact) => {
    const [survivor] = judged(after).survivors;
    expect(survivor?.why).toBe(why);
    expect(survivor?.evidence?.[0]?.fact).toBe(fact);
  });

  it('by SIGTERM alone is said to have ignored that, though it may be in state D now', () => {
    expect(judged(alive({state: 'D'}), {results: new Map([[500, sent('SIGTERM')]])}).survivors).toMatchObject([
      {why: 'ignored-sigterm', evidence: [{source: 'process'}]},
    ]);
  });
});

describe('stood down', () => {
  it.each<[OrderResult, string]>([
    ['not-permitted', 'not-permitted'],
    ['denied-by-host', 'denied-by-host'],
    ['late', 'late'],
    ['unreadable', 'cannot-see'],
    ['not-holding', 'not-signalled'],
    ['failed', 'not-signalled'],
  ])('when nothing was sent (%s), and each survivor says why', (result, why) => {
    const outcome = judged(before, {results: new Map([[500, sent('SIGTERM', result)]])});
    expect(outcome).toMatchObject({word: 'stood-down', survivors: [{pid: 500, why}]});
  });

  it('is no word once a signal may have gone out', () => {
    expect(judged(before, {results: new Map([[500, sent('SIGTERM')]])})).toMatchObject({
      word: 'nothing-freed',
      survivors: [{why: 'ignored-sigterm'}],
    });
  });
});

describe('survivors', () => {
  it('another process under the same number is none', () => {
    for (const change of [{startTicks: '9'}, {uid: 0}, {executable: anExecutable('/usr/bin/sleep')}]) {
      const after = aSnapshot([aProcess({pid: 500, ...change})], {used: [4, 4]});
      expect(judged(after)).toMatchObject({word: 'reclaimed', survivors: []});
    }
  });

  it('one in state D is said to be stuck, a zombie leader to be alive', () => {
    expect(judged(aSnapshot([aProcess({pid: 500, state: 'D'})], {used: [4, 4]})).survivors).toMatchObject([
      {observation: 'stuck'},
    ]);
    expect(judged(aSnapshot([aProcess({pid: 500, state: 'Z'})], {used: [4, 4]})).survivors).toMatchObject([
      {observation: 'alive'},
    ]);
  });

  it('a server whose signal was refused is one, though no look asks for it any more', () => {
    const server = aTarget({pid: 400, role: 'server', heldBy: 'nothing'});
    const after = judged(freed, {
      plan: {...plan, targets: [server, ...plan.targets]},
      results: new Map([
        [400, sent('SIGTERM', 'not-permitted')],
        [500, sent()],
      ]),
      observations: new Map([[400, 'alive']]),
    });
    expect(after).toMatchObject({word: 'partly', survivors: [{pid: 400, why: 'not-permitted'}]});
  });
});

it('a GPU that nobody asked for is shown and judges nothing', () => {
  const outcome = judge({
    plan: aPlan({
      gpus: [
        {
          gpuUuid: uuidOf(0),
          index: 0,
          requested: false,
          beforeMiB: 1,
          totalMiB: 1,
          likelyAfterMiB: 1,
          afterAtMostMiB: 1,
        },
      ],
    }),
    before: aDiagnosis(before),
    after: aDiagnosis(aSnapshot([], {used: [4, 4], charges: [aCharge(1, 0, 1)]})),
    results: new Map(),
    observations: new Map(),
    freedAfterMs: null,
    because: null,
    stopped: false,
    toleranceMiB: 64,
  });
  expect(outcome.word).toBe('unknown');
});

describe('work that its supervisor has started again by the closing look', () => {
  const UNIT = ['/system.slice/vllm@2.service'];
  const words = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
  const target = aProcess({pid: 500, words, cgroups: UNIT});
  const before = aSnapshot([billed(target, {0: 80_000})], {used: [80_009]});
  const ended = (...after: readonly Seen[]) =>
    judge({
      plan: planFor(before, {pids: [500]}),
      before: aDiagnosis(before),
      after: aDiagnosis(aSnapshot(after, {used: [80_009], uptimeMs: 600_000})),
      results: new Map([[500, sent()]]),
      observations: new Map(),
      freedAfterMs: 400,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
  const again = (change: Partial<ProcessFacts>) => billed(aProcess({pid: 8_000, words, ...change}), {0: 80_000});

  it('has freed nothing, and the card names who did it and what stops that', () => {
    const outcome = ended(again({cgroups: UNIT}));
    expect(outcome.word).toBe('nothing-freed');
    expect(outcome.gpus[0]?.movedTo).toEqual([
      {
        pid: 8_000,
        name: 'vllm.entrypoints.openai.api_server',
        MiB: 80_000,
        fromPids: [],
        how: 'restarted',
        by: {name: 'vllm@2.service', stopCommand: 'systemctl stop vllm@2.service'},
      },
    ]);
  });

  it('is not what a person has started on the GPU that came free', () => {
    const outcome = ended(again({cgroups: ['/user.slice/user-1500.slice/session-9.scope'], session: 8_000}));
    expect(outcome.word).toBe('reclaimed');
    expect(outcome.gpus[0]).not.toHaveProperty('movedTo');
  });
});

describe('a leak beside a notebook that only called cuInit', () => {
  it('is explained by nobody: the GPU is not reclaimed and not free', () => {
    const notebook = {process: bo, holding: initFiles(600, [0])};
    const leaking = aSnapshot([billed(target, {0: 10_000}), notebook], {used: [70_009]});
    const outcome = judge({
      plan: planFor(leaking, {pids: [500]}),
      before: aDiagnosis(leaking),
      after: aDiagnosis(aSnapshot([notebook], {used: [60_009]})),
      results: new Map([[500, sent()]]),
      observations: new Map(),
      freedAfterMs: 400,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
    expect(outcome.word).toBe('partly');
    expect(outcome.gpus.map(isFree)).toEqual([false]);
  });
});
