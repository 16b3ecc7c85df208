/** When memory came back: by a run before looks before samples, and never guessed. */
import {describe, expect, it} from 'vitest';
import {freedGpus} from '../../src/domain/campaign-freed.ts';
import {runId} from '../../src/domain/run.ts';
import {noSamples} from '../../src/domain/samples.ts';
import type {GpuTime} from '../../src/domain/time-to-free.ts';
import {freedLines} from '../../src/report/campaign-memory-lines.ts';
import {HOST, uuidOf} from '../doubles/build.ts';
import {someFacts} from '../doubles/campaign.ts';

const GPUS = [0, 1].map((index) => ({uuid: uuidOf(index), index}));

function facts(takenAtMs: number, ...used: readonly number[]) {
  const gpu = (index: number, usedMiB: number) =>
    ({uuid: uuidOf(index), index, state: 'clean', usedMiB, unexplainedMiB: 0}) as const;
  return someFacts({see: {takenAtMs, gpus: used.map((usedMiB, index) => gpu(index, usedMiB))}});
}

function sampled(lastMiB: number, fell: {afterMs: number; byMs: number} | null = null) {
  const gpu = {uuid: uuidOf(0), index: 0, maxMiB: 40_000, maxAtMs: 1, count: 9, lastMiB, lastAtMs: 50_000};
  return {
    ...noSamples(HOST),
    count: 9,
    gpus: [{...gpu, fell: fell === null ? null : {...fell, fromMiB: 40_000, toMiB: 4}}],
  };
}

const END = facts(60_000, 4, 4);
const TIME: GpuTime = {
  gpuUuid: uuidOf(0),
  index: 0,
  fromMiB: 2_048,
  lastMiB: 0,
  halfMs: 100,
  allMs: 100,
  how: 'free',
};

describe('time to free', () => {
  const base = {samples: null, runs: [], after: END, now: END};

  it.each([
    ['nothing that nobody saw', base, []],
    ['between the end and a later look', {...base, after: facts(60_000, 4_000, 4)}, [[0, 'looks', 60_000, 60_000]]],
    ['between two samples', {...base, samples: sampled(4, {afterMs: 10, byMs: 20})}, [[0, 'samples', 10, 20]]],
    ['between the last sample and the end', {...base, samples: sampled(40_000)}, [[0, 'looks', 50_000, 60_000]]],
    [
      'the last of two falls',
      {...base, samples: sampled(30_000, {afterMs: 10, byMs: 20})},
      [[0, 'looks', 50_000, 60_000]],
    ],
    ['no fall of a few MiB', {...base, after: facts(60_000, 200, 4), samples: sampled(210)}, []],
    ['nothing of a figure that is not known', {...base, after: facts(60_000)}, []],
  ])('is %s', (_, seen, freed) => {
    expect(
      freedGpus(GPUS, seen).map(({index, how}) => (how.kind === 'run' ? [] : [index, how.kind, how.afterMs, how.byMs])),
    ).toEqual(freed);
  });

  it('is a run’s own where one was watched: the newest', () => {
    const runs = ['1', '2'].map((id) => ({id: runId(id.repeat(12)), times: [TIME]}));
    const seen = {...base, after: facts(1, 9_000, 9_000), runs};
    expect(freedGpus(GPUS, seen)).toMatchObject([
      {index: 0, how: {kind: 'run', id: '222222222222'}},
      {index: 1, how: {kind: 'looks'}},
    ]);
  });
});

describe('time to free in words', () => {
  const runs = [{id: runId('7f3a00112233'), times: [TIME]}];

  it.each([
    [{freed: [], samples: null}, ['  time to free: not known; nobody looked between start and stop']],
    [{freed: [], samples: sampled(4)}, ['  time to free: no memory was seen to come back']],
    [
      {
        freed: freedGpus(GPUS, {samples: null, runs, after: facts(1_000, 0, 9_000), now: facts(61_000, 0, 4)}),
        samples: null,
      },
      [
        '  time to free: GPU 0: half and all after 0.1 s; run 7f3a00, from its last signal',
        '  time to free: GPU 1 between 1970-01-01 00:00:01 UTC and 1970-01-01 00:01:01 UTC, by two looks',
      ],
    ],
  ])('%#', (host, lines) => {
    expect(freedLines(host)).toEqual(lines);
  });
});
