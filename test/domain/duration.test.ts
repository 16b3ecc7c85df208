import {describe, expect, test} from 'vitest';
import {parseDuration} from '../../src/domain/duration.ts';

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['0s', 0],
    ['090s', 90_000],
    ['999999999h', 3_599_999_996_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(Number.isSafeInteger(ms)).toBe(true);
  });

  test.each([
    '',
    '30',
    's',
    '-5s',
    '+5s',
    '1.5h',
    '5 m',
    ' 5m',
    '5m\n',
    '5M',
    '1m30s',
    '1d',
    '1e3s',
    '٣s',
    '9999999999s',
  ])('is refused when written %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});
