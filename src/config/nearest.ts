import {nearest} from '../domain/words.ts';

/** The known word that `given` was most likely meant to be, whatever the case of both; null if none is near. */
export function nearestKey(given: string, known: readonly string[]): string | null {
  const best = nearest(
    given,
    known.map((word) => word.toLowerCase()),
  )[0];
  return known.find((word) => word.toLowerCase() === best) ?? null;
}
