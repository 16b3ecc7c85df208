/** The clock of the machine: the one that is handed to everything else. */
import {setTimeout as delay} from 'node:timers/promises';
import type {Clock} from './engine/ports.ts';

export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    ticks: () => performance.now(),
    wait: async (ms, signal) => {
      await delay(ms, undefined, signal === undefined ? {} : {signal}).catch(() => undefined);
    },
  };
}
