/** Mistakes while they are collected: with their place as a path of keys, so that places can be compared. */
import type {ConfigMistake} from '../domain/failure.ts';

export type Place = readonly (string | number)[];

export interface Mistake {
  readonly file: string;
  readonly at: Place;
  readonly problem: string;
  readonly wayOut: string;
}

/** A value that may have cost mistakes; `value` is what could be made of it. */
export interface Read<T> {
  readonly value: T;
  readonly mistakes: readonly Mistake[];
}

/**
 * For people: one line each, none twice. A `later` mistake that only follows from an `earlier` one, because its place
 * lies at, above or below it, is left out: who fixes the first is not told of the second for nothing.
 */
export function listed(earlier: readonly Mistake[], later: readonly Mistake[]): readonly ConfigMistake[] {
  const own = later.filter(
    (mistake) => !earlier.some((cause) => cause.file === mistake.file && overlap(cause, mistake)),
  );
  const lines = [...earlier, ...own].map(({file, at, problem, wayOut}) => ({file, path: written(at), problem, wayOut}));
  return [...new Map(lines.map((line) => [JSON.stringify(line), line])).values()];
}

/** `hosts.gpu-07.groups[1]` */
export function written(at: Place): string {
  return at.map((key, nth) => (typeof key === 'number' ? `[${key}]` : nth === 0 ? key : `.${key}`)).join('');
}

function overlap(cause: Mistake, mistake: Mistake): boolean {
  const [a, b] = [withoutHost(cause.at), withoutHost(mistake.at)];
  const sameHost = cause.at[0] === mistake.at[0] && (mistake.at.length === 1 || cause.at[1] === mistake.at[1]);
  const reaches = cause.at[0] === 'defaults' || sameHost;
  return reaches && a.slice(0, b.length).every((key, nth) => key === b[nth]);
}

/** What defaults and every host have in common is compared without saying whose it is. */
function withoutHost(at: Place): Place {
  return at[0] === 'defaults' ? ['setting', ...at.slice(1)] : at[0] === 'hosts' ? ['setting', ...at.slice(2)] : at;
}
