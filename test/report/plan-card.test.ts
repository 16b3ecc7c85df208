/** One workload, one group: what the card, the terminal and the thread show of it. */
import {describe, expect, it} from 'vitest';
import type {Plan, Target} from '../../src/domain/plan.ts';
import {afterLine, planLines, planTitle} from '../../src/report/plan-card.ts';
import {planEvidence} from '../../src/report/plan-evidence.ts';
import {shortPlanLines} from '../../src/report/short-plan.ts';
import {PHONE_COLUMNS} from '../../src/report/wrapped.ts';
import {aPlan, aTarget, uuidOf} from '../doubles/build.ts';
import {aKept} from '../slack/blocks-runs.ts';

const vllm = {framework: 'vLLM', rootPid: 4_000};
const server = aTarget({
  pid: 4_000,
  role: 'server',
  name: 'vllm.entrypoints.openai.api_server',
  findings: ['server'],
  heldBy: 'nothing',
  family: vllm,
  gpuUuids: [],
  chargedMiB: null,
  ageMs: 11_520_000,
});
const workers = Array.from({length: 8}, (_, at) =>
  aTarget({
    pid: 4_010 + at,
    role: 'member',
    name: `VLLM::Worker_TP${at}`,
    family: vllm,
    gpuUuids: [uuidOf(at)],
    chargedMiB: 96_844,
    belonging: {by: 'parents', ancestorPid: 4_000, ancestorName: 'python3.12'},
  }),
);

function planOf(targets: readonly Target[]): Plan {
  return aPlan({
    targets,
    gpus: Array.from({length: 8}, (_, index) => ({
      gpuUuid: uuidOf(index),
      index,
      requested: true,
      beforeMiB: 96_853,
      totalMiB: 143_771,
      likelyAfterMiB: 9,
      afterAtMostMiB: 300,
    })),
  });
}

/** The workers, some of them otherwise. */
function withWorkers(change: (worker: Target, at: number) => Partial<Target>): Plan {
  return planOf([server, ...workers.map((worker, at) => ({...worker, ...change(worker, at)}))]);
}

const card = (plan: Plan) => shortPlanLines(plan, 60);

it('what is free, busy and unknown afterwards adds up to the GPUs that were asked for', () => {
  const busy = aKept({pid: 6, gpuUuids: [uuidOf(0)]});
  const plan = planOf(workers);
  const gpus = plan.gpus.map((gpu, at) => (at < 2 || at === 4 ? {...gpu, afterAtMostMiB: null} : gpu));
  expect(afterLine({...plan, gpus, kept: [busy]})).toMatch(
    /^After: 5 of 8 free\. GPU 0 busy \(.+\); GPU 1, 4 unknown$/,
  );
});

describe('a server and its workers', () => {
  it('are one group on the card: counts, sums and why', () => {
    expect(card(planOf([server, ...workers]))).toEqual([
      '☑ vLLM, 1 server + 8 workers',
      '  774,752 MiB on GPU 0-7, sole holders',
      '  PID 4000, 4010-4017',
      '  anna · up 3 h 12 m',
      '  · matches "vllm"',
      'After: 8 of 8 free.',
    ]);
  });

  it('have a title that names them', () => {
    expect(planTitle(planOf([server, ...workers]))).toBe('gpu-07: kill -9 9 processes of vLLM? ~757 GiB');
  });

  it.each<[string, (worker: Target, at: number) => Partial<Target>, readonly string[]]>([
    [
      'who ignores SIGTERM',
      (_, at) => (at === 2 || at === 5 ? {findings: ['deaf', 'workload'], takesTerm: false} : {}),
      ['  · ignores SIGTERM: PID 4012, 4015'],
    ],
    ['that all do', () => ({findings: ['deaf', 'workload'], takesTerm: false}), ['  · ignores SIGTERM: all']],
    [
      'who is a ghost, and by which bill',
      (_, at) =>
        at === 7 ? {findings: ['inheritor'], belonging: {by: 'ghost', deadPids: [1, 2, 3]}, takesTerm: true} : {},
      ['  · billed to 3 dead PIDs', '  · ghost: child of a dead process: PID', '    4017'],
    ],
    [
      'what is being written',
      (_, at) =>
        at === 0
          ? {
              findings: ['writing', 'workload'],
              evidence: [{source: 'writes', fact: 'writing x.json.gz, +38 MiB/s'}],
            }
          : {},
      ['  · writing x.json.gz, +38 MiB/s: PID 4010'],
    ],
    [
      'the command of an owner, once',
      () => ({
        findings: ['workload', 'contained'],
        container: {kind: 'docker', name: 'abc', stopCommand: 'docker stop abc'},
      }),
      ['  · contained: all', '  · stop: docker stop abc'],
    ],
    [
      'whether that owner starts it again',
      () => ({
        owners: [
          {
            kind: 'unit',
            name: 'vllm.service',
            id: 'vllm.service',
            pid: null,
            uid: null,
            stopCommand: 'systemctl stop vllm.service',
            restarts: 'yes',
            by: 'cgroup',
            facts: null,
          },
        ],
      }),
      ['  · stop: systemctl stop vllm.service ·', '    starts it again'],
    ],
    [
      'whose they are',
      (_, at) => (at === 0 ? {ownership: {person: 'bo', uid: 1_001, by: 'uid'}} : {}),
      ['  anna, bo · up 3 h 12 m'],
    ],
  ])('tell apart %s', (_what, change, lines) => {
    const shown = card(withWorkers(change));
    for (const line of lines) expect(shown).toContain(line);
    expect(shown.filter((line) => [...line].length > PHONE_COLUMNS)).toEqual([]);
  });

  it('each have a line of their own in the terminal, where no thread follows', () => {
    const lines = planLines(planOf([server, ...workers])).map((line) => line.text);
    for (const {identity} of [server, ...workers])
      expect(lines.filter((line) => line.startsWith(`☑ PID ${identity.pid} `))).toHaveLength(1);
    expect(lines).toContain('☑ PID 4013 VLLM::Worker_TP3 · GPU 3, 96,844 MiB');
    expect(lines).toContain('☑ PID 4000 vllm.entrypoints.openai.api_server · server, holds no GPU');
  });

  it('are all in the evidence, under one title', () => {
    const text = planEvidence(planOf([server, ...workers])).flatMap((entry) => entry.lines());
    expect(text.slice(0, 3)).toEqual(['vLLM, 1 server + 8 workers, 774,752 MiB on', '  GPU 0-7', '☑ PID 4000']);
    for (const {identity} of workers)
      expect(text).toContain(`☑ PID ${identity.pid} VLLM::Worker_TP${identity.pid - 4_010}`);
  });

  it('do not mix with another one, nor with a ghost', () => {
    const other = {...server, identity: {...server.identity, pid: 5_000}, family: {...vllm, rootPid: 5_000}};
    const ghost = aTarget({pid: 6_000, name: 'python3', findings: ['inheritor'], gpuUuids: [uuidOf(7)]});
    const heads = card(planOf([server, other, ghost, ...workers])).filter((line) => line.startsWith('☑'));
    expect(heads).toEqual([
      '☑ vLLM, 1 server + 8 workers',
      '☑ PID 5000 vllm.entrypoints.open… · server',
      '☑ PID 6000 python3 · ghost',
    ]);
  });

  it('leave a ghost that is known by what the dead were called', () => {
    const ghost = aTarget({
      pid: 6_000,
      name: 'python3',
      findings: ['inheritor'],
      belonging: {by: 'ghost', deadPids: [8, 9, 10]},
      evidence: [8, 9, 10].map((pid) => ({
        source: 'earlier-look',
        fact: `dead PID ${pid} was seen 22:40 UTC as VLLM::Worker_TP${pid - 8}`,
      })),
    });
    expect(card(planOf([ghost])).slice(3, 6)).toEqual([
      '  · billed to 3 dead PIDs',
      '  · dead PID 8 was seen 22:40 UTC as',
      '    VLLM::Worker_TP0, 2 more alike',
    ]);
  });

  it('stand on the card whole or not at all, and are counted then', () => {
    const crowd = Array.from({length: 40}, (_, at) =>
      aTarget({pid: 7_000 + at, name: `x${at}y`, chargedMiB: 1, family: {framework: null, rootPid: 7_000 + (at % 20)}}),
    );
    const lines = shortPlanLines(planOf([server, ...workers, ...crowd]), 40);
    const counted = Number(lines.find((line) => line.startsWith('☑ …'))?.match(/\d+/)?.[0]);
    const shown = lines.filter((line) => /^☑ x\d+y, 2 processes$/.test(line)).length;
    expect(counted + 2 * shown + 9).toBe(49);
    expect(lines.length).toBeLessThanOrEqual(42);
  });
});

describe('a workload without a name', () => {
  const family = {framework: null, rootPid: 300};
  const members = [300, 301, 302].map((pid) => aTarget({pid, name: 'train.py', family}));

  it.each<[string, readonly Target[], string]>([
    ['is called after its root', members, '☑ train.py, 3 processes'],
    [
      'has its launcher counted',
      [{...server, family, name: 'torchrun'}, ...members],
      '☑ train.py, 1 server + 3 workers',
    ],
    [
      'and with a long name stays within its columns',
      members.map((one) => ({...one, name: 'x'.repeat(90)})),
      '☑ xxxxxxxxxxxxxxxxx…, 3 processes',
    ],
    ['of a framework without a server', members.map((one) => ({...one, family: vllm})), '☑ vLLM, 3 workers'],
  ])('%s', (_what, targets, line) => {
    expect(card(planOf(targets))[0]).toBe(line);
  });
});
