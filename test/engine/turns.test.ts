import {describe, expect, it} from 'vitest';
import {makeTurns} from '../../src/engine/turns.ts';

const clock = {
  now: () => 0,
  ticks: () => 0,
  wait: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};

describe('turns', () => {
  it('let the event loop breathe between two pieces of work, in order, and outlive one that fails', async () => {
    const turns = makeTurns(clock);
    const seen: string[] = [];
    const work = (name: string) => turns(async () => void seen.push(name));
    const first = work('first');
    const failing = turns(() => Promise.reject(new Error('no')));
    const last = work('last');
    const breath = new Promise<void>((resolve) => setImmediate(() => resolve(void seen.push('breath'))));
    await expect(failing).rejects.toThrow('no');
    await Promise.all([first, last, breath]);
    expect(seen).toEqual(['first', 'breath', 'last']);
  });
});
