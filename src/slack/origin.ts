/**
 * Where a request came from, for the card of the run that it opens. The engine knows no channels: it announces a run
 * inside of the very call that opened it, so the place travels with that call.
 */
import {AsyncLocalStorage} from 'node:async_hooks';

const place = new AsyncLocalStorage<{readonly channel: string}>();

export function from<T>(channel: string, act: () => Promise<T>): Promise<T> {
  return place.run({channel}, act);
}

/** The channel of the request that is being worked on; null outside of one. */
export function originChannel(): string | null {
  return place.getStore()?.channel ?? null;
}
