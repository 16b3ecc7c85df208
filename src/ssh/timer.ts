import type {Clock} from '../engine/ports.ts';

/** Runs `act` once after `ms`, unless the returned function is called first. */
export function after(clock: Clock, ms: number, act: () => void): () => void {
  const stop = new AbortController();
  void clock.wait(ms, stop.signal).then(() => {
    if (!stop.signal.aborted) act();
  });
  return () => stop.abort();
}
