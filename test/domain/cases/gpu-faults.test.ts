/** Cases: the GPU, or the question put to it, is broken. A figure beside a fault is no figure, and no row is no empty GPU. */
import {describe, expect, it} from 'vitest';
import {needsDeeper} from '../../../src/domain/deepen.ts';
import {judge} from '../../../src/domain/judge.ts';
import {parseCharges, parseGpus} from '../../../src/domain/parse/nvidia-smi.ts';
import {parseSmiAnswer, smiState} from '../../../src/domain/parse/smi-answer.ts';
import type {Gpu, Snapshot} from '../../../src/domain/snapshot.ts';
import {GPU_REASON} from '../../../src/report/wording.ts';
import {
  aDiagnosis,
  aGpu,
  aProcess,
  aSnapshot,
  billed,
  keptOf,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
} from '../../doubles/build.ts';
import {usedMiB} from './naive.ts';

const FIELDS = ['index', 'uuid', 'pci.bus_id', 'name', 'memory.total', 'memory.used', 'utilization.gpu'];
const row = (index: number, used: string, use = '0', uuid = uuidOf(index)): string =>
  `${index}, ${uuid}, 00000000:0${index}:00.0, NVIDIA H200, 143771, ${used}, ${use}`;
const UNABLE = 'Unable to determine the device handle for GPU 0000:09:00.0: Unknown Error';

const closed = (before: Snapshot, gpus: readonly Gpu[]) => {
  const plan = planFor(before, {pids: [500]});
  return judge({
    plan,
    before: aDiagnosis(before),
    after: aDiagnosis({...aSnapshot([], {gpus}), uptimeMs: 520_000}),
    results: new Map([[500, {signal: 'SIGKILL', result: 'sent', signalled: true}]]),
    observations: new Map([[500, 'gone']]),
    freedAfterMs: 100,
    because: null,
    stopped: false,
    toleranceMiB: 64,
  });
};
const working = aSnapshot([billed(aProcess({pid: 500}), {1: 58_213})], {used: [4, 58_222]});

describe('a broken GPU', () => {
  it('C51: that fell off the bus leaves the others to be reclaimed, by UUID: the index may be another card by now', () => {
    const {gpus, faults} = parseGpus(
      FIELDS,
      [UNABLE, row(0, '4'), row(1, '58222', '0', uuidOf(2)), row(2, '4', '0', uuidOf(3))],
      [],
    );
    expect(gpus.map((gpu) => [gpu.index, gpu.uuid])).toEqual([
      [0, uuidOf(0)],
      [1, uuidOf(2)],
      [2, uuidOf(3)],
    ]);
    expect(faults).toEqual([UNABLE]);

    const look = aSnapshot([billed(aProcess({pid: 500, words: ['vllm']}), {2: 58_213})], {gpus, gpuFaults: faults});
    const plan = planFor(look, {match: 'vllm', gpus: [1]});
    expect(targetOf(plan, 500).gpuUuids).toEqual([uuidOf(2)]);
    // Who asked for the lost one hears that it is not there, whatever index took its place.
    expect(closed(working, [aGpu(0, 4), aGpu(1, 4, {uuid: uuidOf(2)})]).word).toBe('unknown');
  });

  it('C53: that answers nothing any more is unknown, and nobody waits for its memory to fall', () => {
    const dead = Array.from(FIELDS, (field) =>
      field === 'index' ? '1' : field === 'uuid' ? uuidOf(1) : '[GPU is lost]',
    );
    const {gpus} = parseGpus(FIELDS, [row(0, '4'), dead.join(', ')], []);
    expect(gpus[1]).toMatchObject({uuid: uuidOf(1), fault: '[GPU is lost]', usedMiB: {known: false, why: 'fault'}});

    const look = aSnapshot([billed(aProcess({pid: 500, words: ['vllm']}), {1: 20_000})], {gpus});
    expect(aDiagnosis(look).gpus[1]).toMatchObject({state: 'unknown', usedMiB: null, reasons: ['fault']});
    const plan = planFor(look, {match: 'vllm'});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 500)).toMatchObject({why: 'gpu-fault', choosable: true});
    const onBoth = aSnapshot([billed(aProcess({pid: 500, words: ['vllm']}), {0: 20_000, 1: 20_000})], {gpus});
    expect(targetPids(planFor(onBoth, {match: 'vllm'}))).toEqual([500]);
    expect(plan.gpus[1]).toMatchObject({beforeMiB: null, likelyAfterMiB: null, afterAtMostMiB: null});
  });

  it('C55: with a large stale figure has no holder to be hunted for: the fault is the answer', () => {
    const {gpus} = parseGpus(FIELDS, [row(0, '58222', '[GPU requires reset]')], []);
    const look = aSnapshot([], {gpus});
    expect(usedMiB(look)).toBe(58_222);

    const diagnosis = aDiagnosis(look);
    expect(diagnosis.gpus[0]).toMatchObject({
      state: 'unknown',
      usedMiB: null,
      unexplainedMiB: null,
      reasons: ['fault'],
    });
    expect(needsDeeper(diagnosis)).toBe(false);
    expect(targetPids(planFor(look, {includeOthers: true}))).toEqual([]);
    expect(GPU_REASON.fault).toContain('not to be trusted');
  });

  it('C56: that reads 0 MiB beside "requires reset" is neither clean nor reclaimed', () => {
    const {gpus} = parseGpus(FIELDS, [row(0, '4'), row(1, '0 MiB', '[GPU requires reset]')], []);
    const look = aSnapshot([], {gpus});
    expect(usedMiB(look, 1)).toBe(0);

    expect(aDiagnosis(look).gpus.map((gpu) => gpu.state)).toEqual(['clean', 'unknown']);
    expect(closed(working, gpus).word).toBe('unknown');
    expect(closed(working, [aGpu(0, 4), aGpu(1, 0)]).word).toBe('reclaimed');
  });

  it('C58: in the middle of the list costs no healthy one its row, and no number is made of its words', () => {
    const broken = FIELDS.map(() => '[Unknown Error]').join(', ');
    const sentence = 'Unable to determine the device handle for GPU0000:02:00.0: Unknown Error';
    const lines = [row(0, '4'), row(1, '900'), sentence, broken, row(3, '4')];
    const {gpus, faults} = parseGpus(FIELDS, lines, []);
    expect(gpus.map((gpu) => gpu.index)).toEqual([0, 1, 3]);
    expect(faults).toEqual([sentence, broken]);

    const answer = parseSmiAnswer(`@fields ${FIELDS.join(',')}\n@pid 5 4\n${lines.join('\n')}\n@rc 255`);
    expect(smiState(answer, gpus.length, parseSmiAnswer('@fields pid\n@rc 0'), 0)).toMatchObject({
      state: 'answered',
      exitCode: 255,
    });
    // A row that lost its words and kept its place on the bus is known by that.
    const placed = FIELDS.map((field) => (field === 'pci.bus_id' ? '0000:02:00.0' : '[Unknown Error]')).join(', ');
    const minors = [{uuid: uuidOf(2), busId: '00000000:02:00.0', minor: 2}];
    expect(parseGpus(FIELDS, [placed], minors).gpus[0]).toMatchObject({
      uuid: uuidOf(2),
      index: null,
      fault: '[Unknown Error]',
    });
  });

  it('C59: that claims to be busy with nothing on it is clean: use in percent is evidence of nobody', () => {
    const look = aSnapshot([], {gpus: [aGpu(0, 0, {utilizationPercent: {known: true, value: 100}})]});
    const [gpu] = look.gpus;
    expect(gpu?.utilizationPercent).toEqual({known: true, value: 100});

    expect(aDiagnosis(look).gpus[0]).toMatchObject({state: 'clean', reasons: []});
    expect(targetPids(planFor(look, {includeOthers: true}))).toEqual([]);
  });
});

describe('a broken question', () => {
  it('C84: a blind nvidia-smi has no rows, and that is unknown, never free', () => {
    const text = '@fields index,uuid\n@pid 5 4\nFailed to initialize NVML: Unknown Error\n@rc 255';
    const answer = parseSmiAnswer(text);
    expect(parseCharges(answer.lines).charges).toEqual([]);

    const state = smiState(answer, 0, answer, 0);
    expect(state).toMatchObject({state: 'failed', exitCode: 255});
    const look = aSnapshot([], {smi: state, gpus: parseGpus(answer.fields, answer.lines, []).gpus});
    expect(aDiagnosis(look).gpus).toEqual([]);
    expect(closed(working, look.gpus).word).toBe('unknown');
    // Rows without the list of charges leave us just as blind.
    const half = smiState(parseSmiAnswer('@fields index\n0\n@rc 0'), 1, answer, 0);
    expect(aDiagnosis(aSnapshot([], {smi: half, used: [20_000]})).gpus[0]).toMatchObject({
      state: 'unknown',
      reasons: ['smi-failed'],
    });
  });
});
