/** Samples and signals of a run on one clock, the host's. */
import {describe, expect, it} from 'vitest';
import {memoryCurve} from '../../src/domain/memory-curve.ts';
import {memory, sceneRun, sent, settled} from '../report/picture-scenes.ts';

const GPU = [{before: 80_000, after: 4}];

describe('a memory curve', () => {
  it('counts from the first signal, and begins with what was used then', () => {
    const run = sceneRun(GPU, [
      memory(-400, [79_000]),
      ...sent('SIGTERM', 0, [500]),
      ...sent('SIGKILL', 30_000, [500], 2),
      memory(30_080, [12]),
      settled('expected', 30_080),
    ]);
    expect(memoryCurve(run)).toMatchObject({
      signals: [
        {ms: 0, what: 'SIGTERM', count: 1},
        {ms: 30_000, what: 'SIGKILL', count: 1},
      ],
      gpus: [
        {
          points: [
            {ms: 0, usedMiB: 79_000},
            {ms: 30_080, usedMiB: 12},
          ],
        },
      ],
      endMs: 30_080,
    });
  });

  it('takes signals of one kind within a second for one moment', () => {
    const run = sceneRun(GPU, [
      ...sent('SIGTERM', 0, [500]),
      ...sent('SIGTERM', 900, [501, 502]),
      ...sent('SIGTERM', 5_900, [503]),
      memory(6_000, [12]),
    ]);
    expect(memoryCurve(run)?.signals).toEqual([
      {ms: 0, what: 'SIGTERM', count: 3},
      {ms: 5_900, what: 'SIGTERM', count: 1},
    ]);
  });

  it('is none without a signal or without a figure after it', () => {
    expect(memoryCurve(sceneRun(GPU, [memory(5, [4])]))).toBeNull();
    expect(memoryCurve(sceneRun(GPU, [memory(-5, [80_000]), ...sent('SIGKILL', 0, [500])]))).toBeNull();
  });
});
