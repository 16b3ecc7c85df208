/** A clock that is turned by hand: what waits for a moment runs when that moment has come. */
import type {Clock} from '../../src/engine/ports.ts';

export interface HandClock extends Clock {
  /** Goes on in steps of 100 ms, letting everything that waits for one run. */
  turn(ms: number): Promise<void>;
}

export function handClock(): HandClock {
  let at = 0;
  const waiting = new Set<{readonly until: number; readonly wake: () => void}>();
  const settle = async (): Promise<void> => {
    for (let nth = 0; nth < 20; nth += 1) await Promise.resolve();
  };
  return {
    now: () => at,
    ticks: () => at,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const one = {until: at + ms, wake: resolve};
        if (signal?.aborted === true) return resolve();
        waiting.add(one);
        signal?.addEventListener('abort', () => {
          waiting.delete(one);
          resolve();
        });
      }),
    turn: async (ms) => {
      await settle();
      for (const end = at + ms; at < end; ) {
        at += 100;
        for (const one of [...waiting]) {
          if (one.until > at) continue;
          waiting.delete(one);
          one.wake();
        }
        await settle();
      }
    },
  };
}
