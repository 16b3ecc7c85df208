/** Long lines and long lists for a phone. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {shortPlanLines} from '../../src/report/short-plan.ts';
import {PHONE_COLUMNS, shortened, wrapped} from '../../src/report/wrapped.ts';
import {aTarget} from '../doubles/build.ts';
import {aKept, ghostPlan} from './blocks-runs.ts';

const entry = (count: number, MiB: number | null) => ({lines: () => Array.from({length: count}, () => 'x'), MiB});

describe('a long line', () => {
  it.each([
    ['stays whole if it fits', 'a b', 10, ['a b']],
    ['goes on below, set in', '  · one two three', 10, ['  · one', '    two', '    three']],
    ['breaks a word that is too long', 'abcdefghijkl', 5, ['abcde', '  fgh', '  ijk', '  l']],
    ['of nothing is nothing', '   ', 10, []],
  ])('%s', (_what, line, columns, lines) => {
    expect(wrapped(line, columns)).toEqual(lines);
  });

  it('is never wider than a phone and loses no character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'bc', ' ', '  ', '😀', 'x'.repeat(50), '·'), {maxLength: 30}),
        (parts) => {
          const line = parts.join('');
          const lines = wrapped(line);
          for (const one of lines) expect([...one].length).toBeLessThanOrEqual(PHONE_COLUMNS);
          expect(lines.join('').replaceAll(/\s/g, '')).toBe(line.replaceAll(/\s/g, ''));
        },
      ),
    );
  });
});

describe('a long list', () => {
  it.each([
    ['that fits stays whole', [entry(2, 5), entry(2, 5)], 4, ['x', 'x', 'x', 'x']],
    [
      'is counted and summed from where it does not fit',
      [entry(2, 5), entry(2, 5), entry(1, 7)],
      4,
      ['x', 'x', '… 2 more, 12 MiB'],
    ],
    ['without figures is only counted', [entry(1, null), entry(3, null)], 2, ['x', '… 1 more']],
    ['of nothing is nothing', [], 2, []],
  ])('%s', (_what, entries, room, lines) => {
    expect(shortened(entries, room)).toEqual(lines);
  });
});

describe('the card of any plan', () => {
  it('shows or counts every target and everybody who may be chosen, within its room', () => {
    fc.assert(
      fc.property(fc.nat({max: 200}), fc.nat({max: 200}), fc.nat({max: 200}), (targets, choosable, locked) => {
        const lines = shortPlanLines(
          {
            ...ghostPlan(),
            targets: Array.from({length: targets}, (_, at) =>
              aTarget({pid: 1_000 + at, name: `p${at}x`, chargedMiB: 2}),
            ),
            kept: [
              ...Array.from({length: choosable}, (_, at) => aKept({pid: 5_000 + at, chargedMiB: 3})),
              ...Array.from({length: locked}, (_, at) => aKept({pid: 8_000 + at, choosable: false, why: 'protected'})),
            ],
          },
          60,
        );
        expect(lines.length).toBeLessThanOrEqual(62);
        const told = (mark: string) =>
          lines.filter((line) => line.startsWith(`${mark} PID`)).length +
          Number(lines.find((line) => line.startsWith(`${mark} …`))?.match(/\d+/)?.[0] ?? 0);
        expect([told('☑'), told('☐'), told('🔒')]).toEqual([targets, choosable, locked]);
        expect(lines.at(-1)).toMatch(/^After: /);
      }),
      {numRuns: 40},
    );
  });
});
