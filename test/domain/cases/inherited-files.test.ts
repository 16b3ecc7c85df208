/** Cases: who is billed is dead, and what it had lives on in files, threads or mappings that no list of processes shows. */
import {describe, expect, it} from 'vitest';
import {parseCharges} from '../../../src/domain/parse/nvidia-smi.ts';
import {parseStat} from '../../../src/domain/parse/proc-stat.ts';
import {
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aHolding,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  holds,
  keptOf,
  PLAIN_ZOMBIE,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
  ZOMBIE_LEADER,
} from '../../doubles/build.ts';
import {aThread, deeper} from '../../doubles/deep.ts';
import {called, isAlive, listedBySmi, openers, usedMiB} from './naive.ts';

describe('children that were forked with the device files open', () => {
  it('C20: the loader is the holder, though only the dead rank is on the bill', () => {
    const loader = aProcess({pid: 769, ppid: 1, comm: 'pt_data_worker', words: ['python3', 'pretrain_gpt.py']});
    const look = aSnapshot([holds(loader, [0])], {used: [40_009], charges: [aDeadCharge(768, 0, 40_000)]});
    expect(listedBySmi(look)).toEqual([768]);
    expect(openers(look)).toEqual([769]);

    const plan = planFor(look, {match: 'pretrain_gpt'});
    expect(targetPids(plan)).toEqual([769]);
    expect(targetOf(plan, 769)).toMatchObject({takesTerm: true, findings: ['inheritor'], chargedMiB: 40_000});
  });

  it('C21: an empty process list is no leak, and ending every Python is no cure', () => {
    const children = [701, 702, 703].map((pid) =>
      holds(aProcess({pid, ppid: 1, session: 700, processGroup: 700, words: ['python', 'main.py']}), [0]),
    );
    const display = aProgram('/usr/lib/xorg/Xorg', {pid: 50, ppid: 1, uid: 0});
    const bos = billed(aProcess({pid: 800, uid: BO_UID, words: ['python', 'other.py']}), {1: 3_000});
    const look = aSnapshot([...children, holds(display, [0]), bos], {used: [7_829, 3_009], literals: ['main.py']});
    expect(listedBySmi(look)).toEqual([800]);
    expect(called(look, 'python')).toContain(800);
    expect(openers(look)).toContain(50);

    expect(aDiagnosis(look).gpus[0]?.reasons).toEqual([]);
    const plan = planFor(look, {match: 'main.py'});
    expect(targetPids(plan)).toEqual([701, 702, 703]);
    expect(keptOf(plan, 50)).toMatchObject({why: 'protected', choosable: false});
    expect(keptOf(plan, 800).why).toBe('in-use');
  });

  it('C22: an unknown name beside a bill is a process that cannot be read, no fault of the GPU it shares', () => {
    const row = `${uuidOf(0)}, 31794, Unknown Error, 5371 MiB`;
    expect(parseCharges([row])).toMatchObject({
      charges: [{pid: 31_794, usedMiB: {known: true, value: 5_371}}],
      others: [],
    });

    const zombies = [31_794, 27_707].map((pid) => aProcess({pid, ppid: 50, ...PLAIN_ZOMBIE}));
    const healthy = [
      billed(aProcess({pid: 900, uid: BO_UID}), {0: 5_369}),
      billed(aProgram('/opt/caffe/bin/caffe', {pid: 901, uid: BO_UID}), {1: 1_205}),
    ];
    const look = aSnapshot(
      [
        ...zombies,
        ...healthy,
        holds(aProcess({pid: 31_800, ppid: 31_794}), [0]),
        holds(aProcess({pid: 27_710, ppid: 27_707}), [1]),
      ],
      {
        used: [10_749, 2_225],
        charges: [aCharge(31_794, 0, 5_371, 'Unknown Error'), aCharge(27_707, 1, 1_011, 'Unknown Error')],
      },
    );
    // kill -9 says 0 for a zombie, and changes nothing.
    expect(zombies.every((one) => isAlive(look, one.pid))).toBe(true);

    expect(aDiagnosis(look).gpus.map((gpu) => [gpu.state, gpu.reasons])).toEqual([
      ['dirty', []],
      ['dirty', []],
    ]);
    const plan = planFor(look);
    expect(targetPids(plan)).toEqual([27_710, 31_800]);
    expect(keptOf(plan, 31_794)).toMatchObject({why: 'unreaped', choosable: false});
    expect([keptOf(plan, 900).why, keptOf(plan, 901).why]).toEqual(['in-use', 'in-use']);
  });

  it('C24: memory at its baseline is no free GPU while children of the dead one still map it', () => {
    const children = [501, 502].map((pid) => holds(aProcess({pid, ppid: 1, words: ['python3', 'fit.py']}), [0]));
    const look = aSnapshot(children, {used: [4], literals: ['fit.py']});
    expect(usedMiB(look)).toBe(4);

    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'occupied', holderPids: [501, 502]});
    expect(targetPids(planFor(look, {match: 'fit.py'}))).toEqual([501, 502]);
    // With nobody left there is nobody to signal: BAR1 itself is in no figure that is read.
    expect(targetPids(planFor(aSnapshot([], {used: [4]}), {match: 'fit.py'}))).toEqual([]);
  });
});

describe('a leader in state Z', () => {
  it('C37: with a thread in the driver it is stuck, not dead, and neither it nor the one above it is signalled', () => {
    const leader = aProcess({pid: 600, ppid: 1, ...ZOMBIE_LEADER});
    const look = deeper(
      aSnapshot(
        [
          {
            process: leader,
            holding: aHolding(600, [], {opens: [], mappings: [], threadOpens: [{path: '/dev/nvidia0', count: 60}]}),
            charges: [aCharge(600, 0, 30_000, '[No data]')],
          },
        ],
        {used: [30_009]},
      ),
      {kernel: [aThread(600, {tid: 604, stack: ['nv_wait', 'nvidia_ioctl', 'do_exit']})]},
    );
    expect(leader.state).toBe('Z');

    expect(holderOf(aDiagnosis(look), 600).findings).toEqual(expect.arrayContaining(['stuck', 'zombie-leader']));
    const plan = planFor(look, {pids: [600, 1]});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 600)).toMatchObject({why: 'stuck', choosable: false});
  });

  it('C37: without a thread in the kernel the kill still works, and without any thread there is nothing to kill', () => {
    const threads = {
      process: aProcess({pid: 600, ppid: 1, ...ZOMBIE_LEADER}),
      holding: aHolding(600, [], {opens: [], mappings: [], threadOpens: [{path: '/dev/nvidia0', count: 60}]}),
      charges: [aCharge(600, 0, 30_000, '[No data]')],
    };
    expect(openers(aSnapshot([threads]))).toEqual([]);
    expect(targetPids(planFor(aSnapshot([threads], {used: [30_009]}), {pids: [600]}))).toEqual([600]);
    const plain = aSnapshot([aProcess({pid: 601, ppid: 50, ...PLAIN_ZOMBIE})], {used: [4]});
    expect(keptOf(planFor(plain, {pids: [601]}), 601).why).toBe('unreaped');
  });

  it('C39: the first letter of a state decides, the number of threads tells dead from half dead, and a display stays', () => {
    const stat = (state: string, threads: number) =>
      `50 (Xorg) ${state} 1 50 50 0 -1 4194304 0 0 0 0 10 20 0 0 20 0 ${threads} 0 4242 0 0`;
    expect(parseStat(stat('Z', 3))).toMatchObject({state: 'Z', threads: 3});
    expect(parseStat(stat('D', 1))).toMatchObject({state: 'D', comm: 'Xorg'});
    // As ps prints them, none of these equals a letter.
    expect(['Zsl', 'Ds', 'DN', 'ZNL'].filter((shown) => ['Z', 'D'].includes(shown))).toEqual([]);

    for (const state of ['D', 'Z']) {
      const display = aProgram('/usr/lib/xorg/Xorg', {pid: 50, ppid: 1, uid: 0, state, threads: 3});
      const plan = planFor(aSnapshot([holds(display, [0])], {used: [500]}), {pids: [50], includeOthers: true});
      expect(targetPids(plan)).toEqual([]);
      expect(keptOf(plan, 50)).toMatchObject({why: 'protected', choosable: false});
    }
  });
});
