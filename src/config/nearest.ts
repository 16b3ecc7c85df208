import {nearest} from '../domain/nearest.ts';

/** The known word that `given` was most likely meant to be; null if none is near. */
export function nearestKey(given: string, known: readonly string[]): string | null {
  return nearest(given, known)[0] ?? null;
}
