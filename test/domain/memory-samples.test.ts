import fc from 'fast-check';
import {expect, it} from 'vitest';
import {tellingSamples} from '../../src/domain/memory-samples.ts';

const of = (...used: readonly number[]) => used.map((MiB) => ({usedMiB: {a: MiB}}));
const figures = (samples: readonly {readonly usedMiB: Readonly<Record<string, number>>}[]) =>
  samples.map((sample) => sample.usedMiB['a']);

it('keeps all where there is room', () => {
  expect(figures(tellingSamples(of(9, 8, 7), 3))).toEqual([9, 8, 7]);
});

it('keeps the first, the last and the largest changes, in order', () => {
  const noisy = of(80_000, 80_001, 80_000, 40_000, 40_001, 40_000, 5, 6, 5, 7);
  expect(figures(tellingSamples(noisy, 4))).toEqual([80_000, 40_000, 5, 7]);
});

it('never keeps more than asked, and never loses the ends', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(100_000), {minLength: 1, maxLength: 200}),
      fc.integer({min: 2, max: 60}),
      (used, most) => {
        const samples = of(...used);
        const kept = tellingSamples(samples, most);
        expect(kept.length).toBe(Math.min(most, samples.length));
        expect(kept[0]).toBe(samples[0]);
        expect(kept.at(-1)).toBe(samples.at(-1));
        expect(samples.filter((sample) => kept.includes(sample))).toEqual(kept);
      },
    ),
  );
});
