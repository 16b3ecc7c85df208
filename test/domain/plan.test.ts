/** The plan as a value: its order, its grace, what it expects of each GPU, and the text that a go is bound to. */
import {describe, expect, it} from 'vitest';
import {digestText} from '../../src/domain/make-plan.ts';
import type {Plan, Target} from '../../src/domain/plan.ts';
import {
  aDeadCharge,
  allOpen,
  aPlan,
  aProcess,
  aProgram,
  aSnapshot,
  aTarget,
  BO_UID,
  billed,
  holds,
  keptOf,
  MACHINE,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
} from '../doubles/build.ts';

const VLLM = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];

describe('the digest', () => {
  const plan = aPlan({targets: [aTarget({pid: 500}), aTarget({pid: 501, role: 'member'})]});
  const withTarget = (change: Partial<Target>): Plan => ({
    ...plan,
    targets: plan.targets.map((one, at) => (at === 0 ? {...one, ...change} : one)),
  });
  const [first, second] = plan.targets;
  if (first === undefined || second === undefined) throw new Error('no targets');

  it.each<[string, Plan]>([
    ['a PID', withTarget({identity: {...first.identity, pid: 777}})],
    ['start ticks', withTarget({identity: {...first.identity, startTicks: '1'}})],
    ['a uid', withTarget({identity: {...first.identity, uid: 0}})],
    ['a program', withTarget({identity: {...first.identity, executable: '1:1'}})],
    ['a role', withTarget({role: 'server'})],
    ['who takes SIGTERM', withTarget({takesTerm: false})],
    ['who must hold the device', withTarget({heldBy: 'nothing'})],
    ['one target more', {...plan, targets: [...plan.targets, aTarget({pid: 502})]}],
    ['one target less', {...plan, targets: [first]}],
    ['the order', {...plan, targets: [second, first]}],
    ['the boot', {...plan, machine: {...MACHINE, bootId: 'boot-2'}}],
    ['the host key', {...plan, machine: {...MACHINE, hostKey: 'SHA256:x'}}],
    ['the PID namespace', {...plan, machine: {...MACHINE, pidNamespace: '1'}}],
    ['the version', {...plan, version: plan.version + 1}],
    ['the grace', {...plan, graceMs: 1}],
    ['the delay of members', {...plan, memberDelayMs: 1}],
    ['the requested GPUs', {...plan, gpus: plan.gpus.map((gpu) => ({...gpu, requested: false}))}],
  ])('changes with %s', (_, other) => {
    expect(digestText(other)).not.toBe(digestText(plan));
  });

  it.each<[string, Plan]>([
    ['names', withTarget({name: 'x', evidence: [{source: 'process', fact: 'y'}]})],
    ['ages', withTarget({ageMs: 1})],
    ['memory', withTarget({chargedMiB: 1})],
    ['the figures of the GPUs', {...plan, gpus: plan.gpus.map((gpu) => ({...gpu, beforeMiB: 1, afterAtMostMiB: 0}))}],
    ['the moment', {...plan, madeAtMs: 1}],
    ['who stays', {...plan, kept: [keptOf(planFor(aSnapshot([billed(aProcess({pid: 9}), {0: 5})], {used: [9]})), 9)]}],
  ])('stays with %s', (_, other) => {
    expect(digestText(other)).toBe(digestText(plan));
  });

  it('reads the same for the same look: nothing in it comes from a clock or from chance', () => {
    const look = aSnapshot([billed(aProcess({pid: 500, words: VLLM}), {0: 4_614})], {used: [4_623]});
    expect(planFor(look, {match: 'vllm'})).toEqual(planFor(structuredClone(look), {match: 'vllm'}));
  });
});

describe('order and grace', () => {
  it('ancestors come before descendants, whatever their numbers', () => {
    const server = aProcess({pid: 900, words: VLLM});
    const engine = billed(aProcess({pid: 300, ppid: 900}), {0: 10});
    const worker = billed(aProcess({pid: 200, ppid: 300}), {0: 10});
    const alone = billed(aProcess({pid: 100_000, words: VLLM}), {0: 10});
    const plan = planFor(aSnapshot([worker, alone, engine, server], {used: [40]}), {match: 'vllm'});
    expect(plan.targets.map((target) => [target.identity.pid, target.role])).toEqual([
      [900, 'server'],
      [100_000, 'leader'],
      [300, 'member'],
      [200, 'member'],
    ]);
  });

  it('a profiler in it or above it has time to write; a typed grace is a typed grace', () => {
    const nsys = aProgram('/opt/nvidia/nsys', {pid: 300, comm: 'nsys'});
    const traced = aSnapshot([nsys, billed(aProcess({pid: 500, ppid: 300, words: VLLM}), {0: 10})], {used: [20]});
    expect(planFor(traced, {match: 'vllm'}).graceMs).toBe(300_000);
    expect(planFor(traced, {match: 'vllm', graceMs: 1_000}).graceMs).toBe(1_000);
    const plain = aSnapshot([
      billed(aProcess({pid: 500, ppid: 300, words: VLLM}), {0: 10}),
      aProgram('/usr/bin/ncurses', {pid: 300}),
    ]);
    expect(planFor(plain, {match: 'vllm'}).graceMs).toBe(30_000);
  });

  it('the age is told by the clock of the host', () => {
    const plan = planFor(aSnapshot([billed(aProcess({pid: 500, startTicks: '20000'}), {0: 10})], {used: [20]}), {
      pids: [500],
    });
    expect(targetOf(plan, 500).ageMs).toBe(300_000);
  });
});

describe('what stays in use if every target ends', () => {
  const mine = (MiB: number) => billed(aProcess({pid: 500, words: VLLM}), {0: MiB});
  const bos = (MiB: number) => billed(aProcess({pid: 600, uid: BO_UID}), {0: MiB});
  const staysMiB = (plan: Plan) => plan.gpus[0]?.afterAtMostMiB;

  it('is the bill of the others and the baseline', () => {
    expect(staysMiB(planFor(aSnapshot([mine(50_000), bos(20_000)], {used: [70_018]}), {match: 'vllm'}))).toBe(20_300);
    expect(staysMiB(planFor(aSnapshot([bos(20_000)], {used: [20_009]}), {match: 'vllm'}))).toBe(20_009);
  });

  it('is what nobody was found for, too', () => {
    expect(staysMiB(planFor(aSnapshot([mine(50_000)], {used: [60_000]}), {match: 'vllm'}))).toBe(10_000);
  });

  it('counts a dead charge without a keeper once', () => {
    const look = aSnapshot([mine(5_000)], {used: [14_300], charges: [aDeadCharge(768, 0, 9_000)]});
    expect(staysMiB(planFor(look, {match: 'vllm'}))).toBe(9_300);
  });

  it('keeps a dead charge whose keepers do not all end', () => {
    const keeper = (pid: number) => holds(aProcess({pid, ppid: 1, session: 768, processGroup: 768}), [0]);
    const look = aSnapshot([keeper(769), keeper(770)], {used: [9_009], charges: [aDeadCharge(768, 0, 9_000)]});
    expect(staysMiB(planFor(look))).toBe(300);
    const other = {process: aProcess({pid: 770, ppid: 1}), holding: allOpen(770, 2, [0, 1])};
    const split = aSnapshot([keeper(769), other], {
      used: [9_009, 4_000],
      charges: [aDeadCharge(768, 0, 9_000), aDeadCharge(768, 1, 4_000)],
    });
    const partial = planFor(split, {gpus: [0]});
    expect(targetPids(partial)).toEqual([769]);
    expect(staysMiB(partial)).toBe(9_009);
  });

  it('is put down to a process without a bill only if none without a bill stays', () => {
    const unbilled = holds(aProcess({pid: 500, words: VLLM}), [0], {opens: []});
    const xorg = holds(aProgram('/usr/lib/xorg/Xorg', {pid: 9, uid: 0}), [0]);
    expect(staysMiB(planFor(aSnapshot([unbilled], {used: [4_623]}), {match: 'vllm'}))).toBe(300);
    expect(staysMiB(planFor(aSnapshot([unbilled, xorg], {used: [4_623]}), {match: 'vllm'}))).toBe(4_623);
  });

  it('cannot be said without a figure', () => {
    const look = aSnapshot([mine(50_000)], {used: [60_000]});
    const broken = {...look, gpus: look.gpus.map((gpu) => ({...gpu, fault: '[GPU requires reset]'}))};
    expect(planFor(broken, {match: 'vllm'}).gpus).toMatchObject([
      {gpuUuid: uuidOf(0), beforeMiB: null, afterAtMostMiB: null},
    ]);
  });
});
