/** What samples add up to: the highest figure, what it rests on, and gaps that are told and never filled. */
import {describe, expect, it} from 'vitest';
import {parseSample} from '../../src/domain/parse/sample.ts';
import {
  closedAt,
  type HostSamples,
  noSamples,
  type Sample,
  slotsBefore,
  withGap,
  withSample,
} from '../../src/domain/samples.ts';
import {HOST, uuidOf} from '../doubles/build.ts';

const all = () => true;

function sample(usedMiB: number | null, change: Partial<Sample> = {}, utilizationPercent: number | null = 0): Sample {
  return {
    host: HOST,
    bootId: 'b',
    costMs: 30,
    gpus: [{uuid: uuidOf(0), index: 0, usedMiB, utilizationPercent}],
    bills: [],
    ...change,
  };
}

function added(...samples: readonly Sample[]): HostSamples {
  return samples.reduce((sum, one, at) => withSample(sum, one, at * 60_000, all), noSamples(HOST));
}

describe('samples of one host', () => {
  it('keep the highest figure, its time, the count and the cost', () => {
    const sum = added(sample(100), sample(900, {costMs: 50}), sample(300));
    expect(sum).toMatchObject({count: 3, missed: 0, costMs: 110, dearestMs: 50, lastAtMs: 120_000});
    expect(sum.gpus).toMatchObject([{maxMiB: 900, maxAtMs: 60_000, lastMiB: 300, count: 3}]);
  });

  it('keep the fall of memory between the two samples that show it', () => {
    expect(added(sample(900), sample(890), sample(4), sample(4)).gpus[0]?.fell).toEqual({
      afterMs: 60_000,
      byMs: 120_000,
      fromMiB: 890,
      toMiB: 4,
    });
    expect(added(sample(4), sample(100), sample(20)).gpus[0]?.fell).toBeNull();
  });

  it('count the samples that had a figure of a GPU, and forget none that has none', () => {
    expect(added(sample(900), sample(null), sample(5)).gpus).toMatchObject([{maxMiB: 900, count: 2}]);
  });

  it('are of the campaign’s GPUs only', () => {
    const sum = withSample(
      noSamples(HOST),
      sample(1, {
        gpus: [0, 1].map((index) => ({uuid: uuidOf(index), index, usedMiB: 10, utilizationPercent: 0})),
        bills: [`${uuidOf(1)} 7`],
      }),
      0,
      (index) => index === 0,
    );
    expect(sum.gpus.map(({index}) => index)).toEqual([0]);
    expect(sum.bills).toEqual([]);
  });

  it.each<[string, readonly Sample[], number | null]>([
    ['0 % all the time', [sample(9), sample(9), sample(9)], 0],
    ['load in the middle', [sample(9), sample(9, {}, 3), sample(9)], 120_000],
    ['load at the end', [sample(9), sample(9, {}, 1)], null],
    ['no figure for the load', [sample(9), sample(9, {}, null)], null],
    ['a new bill', [sample(9), sample(9, {bills: [`${uuidOf(0)} 7`]}), sample(9, {bills: [`${uuidOf(0)} 7`]})], 60_000],
    ['a bill that goes', [sample(9, {bills: [`${uuidOf(0)} 7`]}), sample(9)], 0],
    ['bills that could not be read', [sample(9), sample(9, {bills: null})], null],
    ['no GPU', [sample(9, {gpus: []})], null],
  ])('are quiet since: %s', (_, samples, since) => {
    expect(added(...samples).quietSinceMs).toBe(since);
  });

  it('are quiet no more after a gap', () => {
    const gap = {fromMs: 60_000, toMs: 60_000, missed: 1, why: 'failed'} as const;
    expect(withGap(added(sample(9)), gap).quietSinceMs).toBeNull();
    expect(withSample(withGap(added(sample(9)), gap), sample(9), 120_000, all).quietSinceMs).toBe(120_000);
  });
});

describe('gaps', () => {
  const gap = (fromMs: number, why: 'failed' | 'run' = 'failed') => ({fromMs, toMs: fromMs, missed: 1, why}) as const;

  it('join while nothing was seen between, and for one reason', () => {
    let sum = added(sample(9));
    for (const one of [gap(1), gap(2), gap(3, 'run'), gap(4)]) sum = withGap(sum, one);
    expect(sum).toMatchObject({
      missed: 4,
      gaps: [
        {fromMs: 1, toMs: 2, missed: 2},
        {fromMs: 3, why: 'run'},
        {fromMs: 4, missed: 1},
      ],
    });
    const later = withGap(withSample(sum, sample(9), 5, all), gap(6));
    expect(later.gaps.at(-1)).toMatchObject({fromMs: 6, missed: 1});
  });

  it('are bounded in the store, and those left out counted', () => {
    let sum = noSamples(HOST);
    for (let at = 0; at < 50; at += 1) sum = withGap(withSample(sum, sample(9), at * 2, all), gap(at * 2 + 1));
    expect(sum).toMatchObject({missed: 50, gapsLeftOut: 30});
    expect(sum.gaps).toHaveLength(20);
  });

  it.each([
    [60, 60, 59, 0],
    [60, 60, 60, 0],
    [60, 60, 61, 1],
    [60, 60, 120, 1],
    [60, 60, 181, 3],
  ])('slots from %i every %i before %i: %i', (nextMs, everyMs, endMs, missed) => {
    expect(slotsBefore(nextMs, everyMs, endMs)).toEqual({missed, nextMs: nextMs + missed * everyMs});
  });

  it('reach to the campaign’s end', () => {
    const due = {nextMs: 120_000, samples: added(sample(9))};
    expect(closedAt(due, 60_000, 100_000)).toBe(due.samples);
    expect(closedAt(due, 60_000, 301_000)).toMatchObject({
      missed: 3,
      gaps: [{fromMs: 120_000, toMs: 240_000, missed: 3, why: 'not-made'}],
    });
  });
});

describe('a sample that is read', () => {
  const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
  const BOOT = '11111111-2222-3333-4444-555555555555';
  const USAGE = `@fields uuid,memory.used,utilization.gpu,index\n@pid 7 6\n${uuidOf(0)}, 512, [N/A], 3\n@rc 0`;
  const BILLS = `@fields gpu_uuid,pid,process_name,used_gpu_memory\n${uuidOf(0)}, 12, a, b, 9\n@rc 0`;

  function read(usage: string, bills: string, last = `boot_id ${BOOT}\ntook 10.00 10.31`) {
    const section = (name: string, body: string) => `\n@@${NONCE} begin ${name}\n${body}\n\n@@${NONCE} end ${name} 0\n`;
    const text = `\n@@${NONCE} BEGIN sample 1\n${section('usage', usage)}${section('bills', bills)}${section('sample', last)}\n@@${NONCE} END 0\n`;
    const stdout = new TextEncoder().encode(text);
    return parseSample({host: HOST, hostKey: 'k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 1});
  }

  it('has figures, bills and its price', () => {
    expect(read(USAGE, BILLS)).toEqual({
      ok: true,
      value: {
        host: HOST,
        bootId: BOOT,
        costMs: 310,
        gpus: [{uuid: uuidOf(0), index: 3, usedMiB: 512, utilizationPercent: null}],
        bills: [`${uuidOf(0)} 12`],
      },
    });
  });

  it.each([
    ['nvidia-smi that did not answer', '@fields uuid\n@pid 7 6', BILLS],
    ['none that is there', '@missing\n@rc 127', BILLS],
    [
      'a sentence in place of rows',
      '@fields uuid,memory.used,utilization.gpu,index\nNo devices were found\n@rc 6',
      BILLS,
    ],
    ['nothing', '', ''],
  ])('is no sample: %s', (_, usage, bills) => {
    expect(read(usage, bills)).toMatchObject({ok: false, failure: {reason: 'probe-unreadable'}});
  });

  it('knows no bills where they were not told whole', () => {
    expect(read(USAGE, '@fields x\n@rc 9')).toMatchObject({value: {bills: null}});
    expect(read(USAGE, BILLS.replace('@rc', 'odd line\n@rc'))).toMatchObject({value: {bills: null}});
    expect(read(USAGE, BILLS, 'took 1.00 2.00')).toMatchObject({ok: false});
  });
});
