const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * Milliseconds of a duration as people write it in files and arguments: digits and one unit, `500ms`, `30s`, `5m`, `2h`.
 * null for anything else: a bare number (seconds or minutes?), a sign, a fraction, a blank, two units, an upper-case unit.
 * At most nine digits, so that the product stays an exact integer.
 */
export function parseDuration(text: string): number | null {
  const parts = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text);
  const unitMs = UNIT_MS.get(parts?.[2] ?? '');
  return parts === null || unitMs === undefined ? null : Number(parts[1]) * unitMs;
}
