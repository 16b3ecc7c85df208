/** Cases: no signal arrives any more. One kill at most, then proof and advice; and a stuck nvidia-smi is no answer. */
import {describe, expect, it} from 'vitest';
import {nextMove} from '../../../src/domain/escalation.ts';
import {judge} from '../../../src/domain/judge.ts';
import {parseSmiAnswer, smiState} from '../../../src/domain/parse/smi-answer.ts';
import type {Snapshot} from '../../../src/domain/snapshot.ts';
import {
  aDiagnosis,
  aProcess,
  aProgram,
  aSnapshot,
  billed,
  holderOf,
  holds,
  keptOf,
  monitorFiles,
  PLAIN_ZOMBIE,
  planFor,
  targetPids,
} from '../../doubles/build.ts';
import {aThread, deeper} from '../../doubles/deep.ts';
import {called, isAlive, listedBySmi, usedMiB} from './naive.ts';

const NO_ANSWER = {
  smi: {state: 'timed-out', exitCode: null, note: ''},
  gpus: [],
} as const;

const facts = (look: Snapshot, pid: number): string =>
  holderOf(aDiagnosis(look), pid)
    .evidence.map((one) => one.fact)
    .join('; ');

describe('a process that got its kill -9 and stays', () => {
  it('C40: runs in the driver for ever: its state is R, its stack is the proof, and it is killed once', () => {
    const spinning = aProcess({pid: 77_637, ppid: 1, state: 'R', words: ['VLLM::EngineCore']});
    const look = deeper(aSnapshot([billed(spinning, {0: 70_000})], {used: [70_009]}), {
      kernel: [
        aThread(77_637, {state: 'R', stack: ['uvm_spin_loop', 'uvm_tracker_wait', 'uvm_api_map_external_allocation']}),
      ],
    });
    expect(look.processes.filter((one) => one.state === 'D')).toEqual([]);

    expect(holderOf(aDiagnosis(look), 77_637).findings[0]).toBe('stuck');
    expect(facts(look, 77_637)).toContain('uvm_spin_loop');
    const plan = planFor(look, {match: 'vllm', pids: [77_637]});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 77_637)).toMatchObject({why: 'stuck', choosable: false});

    const one = {pid: 1, role: 'leader', takesTerm: false, seen: 'alive', mayWrite: false, excluded: false} as const;
    const ladder = {
      choice: 'terminate-then-kill',
      graceMs: 1,
      memberDelayMs: 1,
      sinceTermMs: 10,
      longestGraceMs: 1,
      ranOnMs: 0,
      stops: [],
      writing: null,
    } as const;
    expect(nextMove({...ladder, targets: [{...one, attempts: []}]})).toMatchObject({signal: 'SIGKILL'});
    expect(nextMove({...ladder, targets: [{...one, attempts: ['SIGKILL']}]})).toEqual({do: 'stop'});
  });

  it('C42: a main process and its four loaders are one cause: all named with where they wait, none signalled again', () => {
    const main = aProcess({pid: 500, state: 'D', words: ['python3', 'train.py']});
    const loaders = [501, 502, 503, 504].map((pid) => aProcess({pid, ppid: 500, state: 'D', comm: 'pt_data_worker'}));
    const all = [main, ...loaders];
    const look = deeper(
      aSnapshot(
        all.map((process) => holds(process, [0])),
        {...NO_ANSWER, literals: ['train.py']},
      ),
      {
        kernel: all.map(({pid}) => aThread(pid, {wchan: 'os_acquire_rwlock_read'})),
      },
    );
    expect(all.every(({pid}) => isAlive(look, pid))).toBe(true);

    const plan = planFor(look, {match: 'train.py', includeOthers: true});
    expect(targetPids(plan)).toEqual([]);
    expect(all.map(({pid}) => keptOf(plan, pid).why)).toEqual(['stuck', 'stuck', 'stuck', 'stuck', 'stuck']);
    expect(facts(look, 503)).toContain('os_acquire_rwlock_read');
    expect(plan.gpus).toEqual([]);
  });

  it('C43: waits for a lock without a word in the kernel log: no Xid is no good health', () => {
    const waiting = [500, 501].map((pid) => billed(aProcess({pid, state: 'D'}), {0: 10_000}));
    const look = deeper(aSnapshot(waiting, {used: [20_009]}), {
      kernel: [500, 501].map((pid) => aThread(pid, {wchan: 'rwsem_down_read_slowpath', killPending: pid === 501})),
    });
    expect(look.deep?.xids).toEqual([]);

    expect(facts(look, 501)).toContain('rwsem_down_read_slowpath');
    const plan = planFor(look, {pids: [501]});
    expect(keptOf(plan, 501).why).toBe('stuck');
    // Without a kill -9 behind it one look proves nothing: it may move on.
    expect(holderOf(aDiagnosis(look), 500).findings).not.toContain('stuck');
  });

  it('C45: holds up the agent that waits for its end; the agent is not the one to go', () => {
    const agent = aProcess({pid: 400, words: ['python3', '-m', 'torch.distributed.run', 'vllm_train.py']});
    const look = deeper(
      aSnapshot([agent, billed(aProcess({pid: 500, ppid: 400, state: 'D'}), {0: 30_000})], {used: [30_009]}),
      {kernel: [aThread(500)]},
    );
    expect(called(look, 'vllm_train')).toEqual([400]);

    const plan = planFor(look, {match: 'vllm'});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 500)).toMatchObject({why: 'stuck', owners: [{kind: 'torchrun', pid: 400}]});
  });
});

describe('the look itself is stuck', () => {
  it('C47: a blocked monitor is not dead, a blocked daemon stays protected, and no second question is asked', () => {
    const monitor = aProgram('/usr/bin/nvidia-smi', {pid: 700, ppid: 1, state: 'D'});
    const daemon = aProgram('/usr/bin/nvidia-persistenced', {pid: 60, ppid: 1, uid: 0, state: 'D'});
    const suspended = billed(aProgram('/usr/local/bin/ollama', {pid: 500, state: 'D', words: ['ollama', 'serve']}), {
      0: 9_000,
    });
    const look = aSnapshot(
      [
        {process: monitor, holding: monitorFiles(700, [0])},
        {process: daemon, holding: monitorFiles(60, [0])},
        suspended,
      ],
      {...NO_ANSWER, smi: {state: 'still-stuck', exitCode: 75, note: 'stuck 700'}},
    );
    const diagnosis = aDiagnosis(look);
    expect(diagnosis.holders.map((holder) => [holder.process.pid, holder.findings[0]])).toEqual([
      [60, 'protected'],
      [500, 'bystander'],
      [700, 'monitor'],
    ]);
    expect(diagnosis.holders.some((holder) => holder.findings.includes('unreaped'))).toBe(false);
    expect(
      holderOf(aDiagnosis(aSnapshot([aProcess({pid: 701, comm: 'vllm', ...PLAIN_ZOMBIE})])), 701).findings,
    ).toEqual(['unreaped']);
    expect(smiState(parseSmiAnswer('@stuck 700\n@rc 75'), 0, parseSmiAnswer('@stuck 700\n@rc 75'), 0)).toMatchObject({
      state: 'still-stuck',
    });
    expect(targetPids(planFor(look, {includeOthers: true, pids: [60, 700]}))).not.toContain(60);
  });

  it('C49: without an answer of the driver the holders are still named, and nothing is called free or reclaimed', () => {
    const ghost = aProcess({pid: 500, ppid: 1, words: ['VLLM::Worker_TP0']});
    const look = aSnapshot([holds(ghost, [0])], NO_ANSWER);
    expect([listedBySmi(look), usedMiB(look)]).toEqual([[], 0]);

    const diagnosis = aDiagnosis(look);
    expect(diagnosis.holders.map((holder) => holder.process.pid)).toEqual([500]);
    expect(smiState(parseSmiAnswer('@fields uuid\n@pid 5 4\n'), 0, parseSmiAnswer(''), 0).state).toBe('timed-out');
    const before = aSnapshot([billed(ghost, {0: 30_000})], {used: [30_009]});
    const plan = planFor(before);
    const outcome = judge({
      plan,
      before: aDiagnosis(before),
      after: aDiagnosis({...aSnapshot([], NO_ANSWER), uptimeMs: 520_000}),
      results: new Map([[500, {signal: 'SIGKILL', result: 'sent', signalled: true}]]),
      observations: new Map([[500, 'gone']]),
      freedAfterMs: null,
      because: null,
      stopped: false,
      toleranceMiB: 64,
    });
    expect(outcome.word).toBe('unknown');
  });
});
