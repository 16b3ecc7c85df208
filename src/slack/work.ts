/** Work that goes on after the ack: counted, so that a stop can wait for it, and never lost in silence when it throws. */
import type {Clock, Log} from '../engine/ports.ts';

export interface Work {
  /** Starts it; a throw is a bug of ours and goes to `onBug`. */
  start(name: string, act: () => Promise<void>): void;
  /** Counts an act that somebody else awaits. */
  during<T>(act: () => Promise<T>): Promise<T>;
  readonly count: number;
  /** Resolves true once nothing is under way, false after `ms`. */
  drained(ms: number): Promise<boolean>;
}

export function makeWork(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly onBug: (error: unknown, during: string) => void;
}): Work {
  let count = 0;
  const waiting = new Set<() => void>();
  const during = async <T>(act: () => Promise<T>): Promise<T> => {
    count += 1;
    try {
      return await act();
    } finally {
      count -= 1;
      if (count === 0) for (const wake of [...waiting]) wake();
    }
  };
  return {
    start: (name, act) => {
      void during(act).catch((error: unknown) => deps.onBug(error, name));
    },
    during,
    get count() {
      return count;
    },
    drained: async (ms) => {
      if (count === 0) return true;
      const done = new AbortController();
      const wake = (): void => done.abort();
      waiting.add(wake);
      await deps.clock.wait(ms, done.signal);
      waiting.delete(wake);
      return count === 0;
    },
  };
}
