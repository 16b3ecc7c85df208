/** Devices known by number only: under other names, deleted, or in another mount namespace. The same findings as by path. */
import {describe, expect, it} from 'vitest';
import type {NumberedDevice} from '../../src/domain/deep.ts';
import {keepsControlOnly, minorByNumber} from '../../src/domain/devices.ts';
import {
  aCharge,
  aDeadCharge,
  aDiagnosis,
  aHolding,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  holderOf,
  holds,
  keptOf,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
  ZOMBIE_LEADER,
} from '../doubles/build.ts';
import {aNode, aThread, controlOnly, deeper, namelessContext, uvm} from '../doubles/deep.ts';

const VLLM = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
const byNumber = (pid: number, devices: readonly NumberedDevice[] = namelessContext(0)) => ({
  numbered: [{pid, devices}],
});

describe('a holder by number', () => {
  it('is billed and alive: it has its GPU by the minor, and the number is said', () => {
    const process = aProcess({pid: 500, words: VLLM});
    const look = aSnapshot([{process, charges: [aCharge(500, 0, 4_614)]}], {used: [4_623]});
    expect(keptOf(planFor(look, {match: 'vllm'}), 500).why).toBe('no-holder');
    const seen = holderOf(aDiagnosis(deeper(look, byNumber(500))), 500);
    expect(seen).toMatchObject({
      findings: ['workload'],
      heldBy: 'numbers',
      gpus: [{gpuUuid: uuidOf(0), how: 'charged', chargedMiB: 4_614}],
    });
    expect(seen.evidence).toContainEqual({
      source: 'device-numbers',
      fact: '195:0 of nvidia open as /srv/gpu0',
    });
    expect(targetOf(planFor(deeper(look, byNumber(500)), {match: 'vllm'}), 500).heldBy).toBe('numbers');
  });

  it('keeps a dead process’s memory: the proof is the same', () => {
    const orphan = aProcess({pid: 769, ppid: 1, session: 768, processGroup: 768});
    const look = aSnapshot([orphan], {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]});
    const deep = deeper(look, byNumber(769));
    expect(holderOf(aDiagnosis(deep), 769)).toMatchObject({
      findings: ['inheritor'],
      deadCharged: [768],
      heldBy: 'numbers',
    });
    expect(targetPids(planFor(deep))).toEqual([769]);
    expect(planFor(deep).gpus[0]?.likelyAfterMiB).toBe(0);
    // Without nvidia-uvm it has no context's files; with a mapping alone it is no forked child.
    for (const devices of [[aNode(0)], [aNode(0, 'mapped'), uvm('mapped')]])
      expect(holderOf(aDiagnosis(deeper(look, byNumber(769, devices))), 769).findings).not.toContain('inheritor');
    expect(holderOf(aDiagnosis(deeper(look, byNumber(769, namelessContext(1)))), 769).findings).not.toContain(
      'inheritor',
    );
  });

  it('has closed its files and kept a mapping', () => {
    const look = aSnapshot([aProcess({pid: 500, words: VLLM})], {used: [4_623]});
    const deep = deeper(look, byNumber(500, [aNode(0, 'mapped')]));
    expect(holderOf(aDiagnosis(deep), 500)).toMatchObject({
      findings: ['mapping-only', 'workload'],
      gpus: [{gpuUuid: uuidOf(0), how: 'mapped', chargedMiB: null}],
    });
    expect(planFor(deep, {match: 'vllm'}).gpus[0]?.likelyAfterMiB).toBe(0);
    expect(holderOf(aDiagnosis(deep), 500).evidence[0]).toEqual({
      source: 'device-numbers',
      fact: 'no device file open, 1 mapped',
    });
  });

  it('is a zombie whose threads live', () => {
    const process = aProcess({pid: 500, ppid: 1, ...ZOMBIE_LEADER});
    const look = aSnapshot([{process, charges: [aCharge(500, 0, 4_614, '[No data]')]}], {used: [4_623]});
    expect(holderOf(aDiagnosis(deeper(look, byNumber(500))), 500).findings).toEqual(['zombie-leader', 'bystander']);
  });

  it('was handed exported memory', () => {
    const look = aSnapshot([aProcess({pid: 500})], {used: [4_096]});
    expect(holderOf(aDiagnosis(deeper(look, byNumber(500, [aNode(255)]))), 500)).toMatchObject({
      findings: ['importer', 'bystander'],
      mayKeep: [uuidOf(0)],
    });
  });

  it('is protected, whatever it calls its devices', () => {
    const daemon = aProgram('/usr/bin/nvidia-persistenced', {pid: 500, ppid: 1, uid: 0});
    const look = deeper(aSnapshot([daemon], {used: [46_111]}), byNumber(500));
    expect(keptOf(planFor(look, {pids: [500]}), 500)).toMatchObject({why: 'protected', choosable: false});
  });

  it('is in use by somebody else, and stays', () => {
    const look = deeper(aSnapshot([aProcess({pid: 500, uid: BO_UID})], {used: [46_111]}), byNumber(500));
    expect(keptOf(planFor(look), 500)).toMatchObject({why: 'in-use', choosable: true});
  });

  it('only opened it: that says nothing of use, and the memory stays unexplained', () => {
    const look = deeper(aSnapshot([aProcess({pid: 500})], {used: [46_111]}), byNumber(500, [aNode(0), aNode(255)]));
    expect(holderOf(aDiagnosis(look), 500).gpus).toEqual([{gpuUuid: uuidOf(0), how: 'opened', chargedMiB: null}]);
    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'dirty', reasons: ['no-holder-anywhere']});
  });

  it('that a path shows as well is told by the path', () => {
    const look = deeper(aSnapshot([holds(aProcess({pid: 500}), [0])], {used: [46_111]}), {
      numbered: [{pid: 500, devices: [aNode(0, 'open', '/dev/nvidia0')]}],
    });
    const seen = holderOf(aDiagnosis(look), 500);
    expect(seen.heldBy).toBe('paths');
    expect(seen.evidence.map((one) => one.source)).not.toContain('device-numbers');
  });
});

describe('between the first look and the deeper one', () => {
  const dead = {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]};
  const plainNames = [
    aNode(0, 'open', '/dev/nvidia0'),
    uvm('open', '/dev/nvidia-uvm'),
    aNode(0, 'mapped', '/dev/nvidia0'),
  ];

  it('a job that started is no ghost, though its bill is not there yet and a dead PID’s is', () => {
    // 500,000 ms after boot the first look began.
    const job = aProcess({pid: 900, ppid: 1, startTicks: '50001'});
    const look = deeper(aSnapshot([], dead), {...byNumber(900), processes: [job]});
    expect(aDiagnosis(look).holders).toEqual([]);
    expect(targetPids(planFor(look))).toEqual([]);
    const before = {...job, startTicks: '49999'};
    const seen = deeper(aSnapshot([], dead), {...byNumber(900), processes: [before]});
    expect(holderOf(aDiagnosis(seen), 900).findings).toEqual(['inheritor']);
  });

  it('a process that opened its GPU is no ghost: the first look would have found it by its name', () => {
    const job = aProcess({pid: 900, ppid: 1});
    const look = deeper(aSnapshot([job], dead), {...byNumber(900, plainNames), processes: [job]});
    expect(targetPids(planFor(look))).toEqual([]);
    // Where not all could be read, the first look may have missed it.
    const blind = deeper(aSnapshot([job], {...dead, sight: {...aSnapshot([]).sight, full: false}}), {
      ...byNumber(900, plainNames),
      processes: [job],
    });
    expect(holderOf(aDiagnosis(blind), 900).findings).toEqual(['inheritor']);
  });

  it('a PID got another process: nothing of the one is said of the other', () => {
    const shell = aProcess({pid: 500, words: VLLM});
    const other = aProcess({pid: 500, startTicks: '50002'});
    const look = deeper(aSnapshot([shell], {used: [4_623]}), {
      ...byNumber(500),
      queued: [{pid: 500, fd: 5, count: 23}],
      kernel: [aThread(500)],
      processes: [other],
    });
    expect(aDiagnosis(look).holders).toEqual([]);
    expect(look.deep?.kernel).toEqual([]);
  });
});

describe('device numbers', () => {
  it.each<[string, NumberedDevice, number | null]>([
    ['a GPU', aNode(3), 3],
    ['a GPU, where /proc/devices has the old name', {...aNode(3), driver: 'nvidia-frontend'}, 3],
    ['nvidiactl', aNode(255), null],
    ['nvidia-modeset', aNode(254), null],
    ['nvidia-uvm', uvm(), null],
    ['a capability of MIG', {...aNode(3), driver: 'nvidia-caps', major: 241}, null],
  ])('%s', (_, device, minor) => {
    expect(minorByNumber(device)).toBe(minor);
  });

  it.each<[boolean, string, readonly NumberedDevice[]]>([
    [true, 'nvidiactl', [aNode(255)]],
    [false, 'nvidiactl and a GPU', [aNode(255), aNode(0)]],
    [false, 'nvidiactl and nvidia-uvm', [aNode(255), uvm()]],
    [false, 'another driver’s 255', [{...aNode(255), driver: 'nvidia-caps'}]],
    [false, 'a mapping alone', [aNode(255, 'mapped')]],
    [false, 'nothing', []],
  ])('(%s) nothing but the control node: %s', (only, _, devices) => {
    expect(keepsControlOnly({...controlOnly(1), opens: [], numbered: devices})).toBe(only);
    expect(keepsControlOnly({...aHolding(1, []), numbered: devices})).toBe(false);
  });
});
