/** Runs a schema over what was written and names every mistake, while keeping all that is right. */
import type {z} from 'zod';
import type {Mistake, Place, Read} from './mistake.ts';
import {nearestKey} from './nearest.ts';

/**
 * `value` is null only if nothing is left. What is wrong is cut out and the rest read again, so that one wrong port does
 * not hide the missing key file of the same host from the rules that come later.
 */
export function checkWritten<T>(schema: z.ZodType<T>, written: unknown, file: string): Read<T | null> {
  const whole = schema.safeParse(written, {reportInput: true});
  if (whole.success) return {value: whole.data, mistakes: []};
  const mistakes = whole.error.issues.map((issue) => mistakeOf(issue, file));
  const rest = schema.safeParse(
    without(
      written,
      mistakes.map((mistake) => mistake.at),
    ),
  );
  return {value: rest.success ? rest.data : null, mistakes};
}

function mistakeOf(issue: z.core.$ZodIssue, file: string): Mistake {
  const at = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'invalid_key') {
    const inner = issue.issues[0];
    const {expected, example} = (inner?.code === 'custom' && inner.params) || {};
    return {
      file,
      at,
      problem: `the key ${shown(at.at(-1))} is not ${expected}`,
      wayOut: `write for example ${example}`,
    };
  }
  if (issue.code === 'invalid_type') {
    const kind =
      issue.expected === 'array' ? 'a list' : issue.expected === 'string' ? 'text' : 'keys with values below it';
    return {file, at, problem: `is ${shown(issue.input)}; expected ${kind}`, wayOut: wayOutTo(kind, at)};
  }
  if (issue.code === 'custom' && Array.isArray(issue.params?.['known']))
    return unknownKey(file, at, issue.params['known']);
  if (issue.code === 'custom' && issue.params !== undefined) {
    const {expected, example, unseen, value} = issue.params;
    const problem = `is ${unseen === true ? 'something else' : shown(value)}; expected ${expected}`;
    return {file, at, problem, wayOut: `write for example ${example}`};
  }
  return {file, at, problem: issue.message, wayOut: 'see the commented example file'};
}

function unknownKey(file: string, at: Place, known: readonly string[]): Mistake {
  const near = nearestKey(String(at.at(-1)), known);
  const wayOut = near === null ? `known here: ${known.join(', ')}` : `did you mean \`${near}\`?`;
  return {file, at, problem: 'this key is not known', wayOut};
}

function wayOutTo(kind: string, at: Place): string {
  if (kind === 'a list') return 'write [one, two], or one per line after "- "';
  return kind === 'text' ? 'write it in quotes' : `indent its keys below it, or write ${at.at(-1) ?? ''}: {}`;
}

/** Short, on one line, and never a whole pasted key. */
function shown(value: unknown): string {
  if (value === undefined || value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys with values';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** A copy without what stands at `places`. Later items of a list move up: no later rule speaks of an item by number. */
function without(value: unknown, places: readonly Place[]): unknown {
  if (places.some((place) => place.length === 0)) return undefined;
  const inside = (key: string | number) => places.filter((place) => place[0] === key).map((place) => place.slice(1));
  const isCut = (key: string | number) => inside(key).some((place) => place.length === 0);
  if (Array.isArray(value)) {
    return value.flatMap((item, nth) => (isCut(nth) ? [] : [without(item, inside(nth))]));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (isCut(key) ? [] : [[key, without(item, inside(key))]])),
  );
}
