/** Which targets are one workload. A family is for the eyes only; what is ticked does not change with it. */
import {describe, expect, it} from 'vitest';
import type {Plan} from '../../src/domain/plan.ts';
import {
  aDeadCharge,
  allOpen,
  aProcess,
  aProgram,
  aSnapshot,
  billed,
  holds,
  idle,
  planFor,
  SHELL,
  targetPids,
} from '../doubles/build.ts';

const SERVE = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
const server = aProcess({pid: 400, ppid: SHELL.pid, session: 400, processGroup: 400, words: SERVE});
const worker = (pid: number, at: number, change = {}) =>
  aProcess({
    pid,
    ppid: 400,
    session: 400,
    processGroup: 400,
    comm: `VLLM::Worker_TP`,
    words: [`VLLM::Worker_TP${at}`],
    ...change,
  });
const workers = Array.from({length: 4}, (_, at) => billed(worker(500 + at, at), {[at]: 90_000}));
const used = [90_100, 90_100, 90_100, 90_100];

/** PIDs of each family, by its root. */
function families(plan: Plan): Readonly<Record<string, readonly number[]>> {
  const found: Record<string, number[]> = {};
  for (const {family, identity} of plan.targets)
    found[`${family.framework} ${family.rootPid}`] = [
      ...(found[`${family.framework} ${family.rootPid}`] ?? []),
      identity.pid,
    ];
  return found;
}

describe('one workload', () => {
  it('is its server and all workers, named by its framework', () => {
    const plan = planFor(aSnapshot([idle(server), ...workers], {used}), {match: 'vllm'});
    expect(families(plan)).toEqual({'vLLM 400': [400, 500, 501, 502, 503]});
  });

  it('is not another one of the same kind below the same shell', () => {
    const second = aProcess({pid: 600, ppid: SHELL.pid, session: 600, processGroup: 600, words: SERVE});
    const others = [billed(worker(700, 0, {ppid: 600, session: 600, processGroup: 600}), {3: 90_000})];
    const plan = planFor(aSnapshot([idle(server), ...workers.slice(0, 3), idle(second), ...others], {used}), {
      match: 'vllm',
    });
    expect(families(plan)).toEqual({'vLLM 400': [400, 500, 501, 502], 'vLLM 600': [600, 700]});
  });

  it('is not two jobs that share nothing but init', () => {
    const jobs = [0, 1].map((at) =>
      billed(aProgram('/usr/bin/train', {pid: 800 + at, ppid: 1, session: 800 + at, processGroup: 800 + at}), {
        [at]: 500,
      }),
    );
    const plan = planFor(aSnapshot(jobs, {used: [600, 600]}), {pids: [800, 801]});
    expect(families(plan)).toEqual({'null 800': [800], 'null 801': [801]});
  });
});

describe('what is left of one', () => {
  const orphans = [0, 1].map((at) => billed(worker(500 + at, at, {ppid: 1, session: 500 + at}), {[at]: 90_000}));

  it('is one by the group of the leader that is gone', () => {
    const plan = planFor(aSnapshot(orphans, {used}));
    expect(families(plan)).toEqual({'vLLM 500': [500, 501]});
  });

  it('is two where the groups differ and nothing else ties them', () => {
    const [first, second] = orphans;
    if (first === undefined || second === undefined) throw new Error('two orphans');
    const other = {...second, process: {...second.process, processGroup: 401}};
    expect(families(planFor(aSnapshot([first, other], {used})))).toEqual({'vLLM 500': [500], 'vLLM 501': [501]});
  });

  it('is one by the dead server that an earlier look saw above it, and is called after that', () => {
    const scattered = orphans.map((one, at) => ({...one, process: {...one.process, processGroup: 500 + at}}));
    const before = aSnapshot([idle(server), ...workers], {used, takenAtMs: 1});
    const plan = planFor(aSnapshot(scattered, {used}), {}, {earlier: [before]});
    expect(families(plan)).toEqual({'vLLM 400': [500, 501]});
  });

  it('is no family with a stranger that has got the PID since', () => {
    const scattered = orphans.map((one, at) => ({
      ...one,
      process: {...one.process, processGroup: 500 + at, startTicks: '9'},
    }));
    const before = aSnapshot([idle(server), ...workers], {used, takenAtMs: 1});
    const plan = planFor(aSnapshot(scattered, {used}), {}, {earlier: [before]});
    expect(families(plan)).toEqual({'vLLM 500': [500], 'vLLM 501': [501]});
  });

  it('is told by the dead worker whose files a child keeps', () => {
    const child = holds(aProgram('/usr/bin/python3.12', {pid: 900, ppid: 1, session: 900, processGroup: 900}), [0]);
    const before = aSnapshot([idle(server), ...workers], {used, takenAtMs: 1});
    const look = aSnapshot([child], {used: [90_100], charges: [aDeadCharge(500, 0, 90_000)]});
    expect(families(planFor(look, {}, {earlier: [before]}))).toEqual({'vLLM 400': [900]});
    expect(families(planFor(look))).toEqual({'null 900': [900]});
  });

  it('is one by the dead PID that all are billed for', () => {
    const children = [900, 901].map((pid) => ({
      process: aProgram('/usr/bin/python3.12', {pid, ppid: 1, session: pid, processGroup: pid}),
      holding: allOpen(pid, 1, [0]),
    }));
    const plan = planFor(aSnapshot(children, {used: [5_000], charges: [aDeadCharge(699, 0, 4_600)]}));
    expect(families(plan)).toEqual({'null 900': [900, 901]});
    expect(targetPids(plan)).toEqual([900, 901]);
  });
});
