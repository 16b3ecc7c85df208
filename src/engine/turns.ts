/**
 * One look is thought through at a time, and the event loop breathes between two: twenty answers that arrive together
 * would else hold up a click, or its ack, for as long as all of them take.
 */
import type {Clock} from './ports.ts';

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function makeTurns(clock: Clock): Turns {
  let last: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = last;
    let release: () => void = () => undefined;
    last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    try {
      return await work();
    } finally {
      void clock.wait(0).then(release);
    }
  };
}
