/** Slack's limits, kept under a clock that is turned by hand. */
import {describe, expect, it} from 'vitest';
import {EDITS_A_MINUTE, makePace, POST_BURST, PROGRESS_A_MINUTE, PROGRESS_GAP_MS} from '../../src/slack/pace.ts';
import {handClock} from '../doubles/hand-clock.ts';

/** The most that came within any stretch of `ms`. */
function mostWithin(times: readonly number[], ms: number): number {
  return Math.max(0, ...times.map((from) => times.filter((time) => time >= from && time < from + ms).length));
}

describe('messages to a channel', () => {
  it('go at once up to a short burst, then one a second, each channel for itself', async () => {
    const clock = handClock();
    const pace = makePace(clock);
    const times: Record<string, number[]> = {one: [], two: []};
    for (let nth = 0; nth < 20; nth += 1)
      for (const channel of ['one', 'two'])
        void pace.post(channel, 'reply').then(() => times[channel]?.push(clock.ticks()));
    await clock.turn(30_000);
    for (const went of Object.values(times)) {
      expect(went).toHaveLength(20);
      expect(mostWithin(went, 1_000)).toBe(POST_BURST);
      expect(mostWithin(went, 10_000)).toBeLessThanOrEqual(10 + POST_BURST);
      expect(went.at(-1)).toBeLessThanOrEqual(17_000);
    }
  });

  it('put a card before the replies that wait', async () => {
    const clock = handClock();
    const pace = makePace(clock);
    const went: string[] = [];
    for (let nth = 0; nth < 10; nth += 1) void pace.post('one', 'reply').then(() => went.push('reply'));
    void pace.post('one', 'card').then(() => went.push('card'));
    await clock.turn(20_000);
    expect(went.indexOf('card')).toBe(POST_BURST);
  });

  it('wait for as long as Slack says, in that channel only', async () => {
    const clock = handClock();
    const pace = makePace(clock);
    const went: string[] = [];
    pace.holdPosts('one', 30_000);
    void pace.post('one', 'card').then(() => went.push(`one ${clock.ticks()}`));
    void pace.post('two', 'reply').then(() => went.push(`two ${clock.ticks()}`));
    await clock.turn(29_000);
    expect(went).toEqual(['two 0']);
    await clock.turn(2_000);
    expect(went).toEqual(['two 0', 'one 30000']);
  });
});

describe('edits', () => {
  it('stay within the minute, and progress leaves room for what must arrive', async () => {
    const clock = handClock();
    const pace = makePace(clock);
    const progress: number[] = [];
    const all: number[] = [];
    for (let passed = 0; passed < 120_000; passed += 100) {
      if (pace.progressInMs() === 0) {
        pace.progressGoes();
        progress.push(clock.ticks());
        all.push(clock.ticks());
      }
      await clock.turn(100);
    }
    expect(mostWithin(progress, 60_000)).toBe(PROGRESS_A_MINUTE);
    expect(progress.every((time, nth) => nth === 0 || time - (progress[nth - 1] ?? 0) >= PROGRESS_GAP_MS)).toBe(true);
    const before = clock.ticks();
    for (let nth = 0; nth < 60; nth += 1) void pace.edit().then(() => all.push(clock.ticks()));
    await clock.turn(1_000);
    expect(all.filter((time) => time >= before).length).toBeGreaterThanOrEqual(EDITS_A_MINUTE - PROGRESS_A_MINUTE);
    await clock.turn(120_000);
    expect(all.length).toBe(progress.length + 60);
    expect(mostWithin(all, 60_000)).toBeLessThanOrEqual(EDITS_A_MINUTE);
  });

  it('wait for as long as Slack says', async () => {
    const clock = handClock();
    const pace = makePace(clock);
    pace.holdEdits(5_000);
    expect(pace.editInMs()).toBe(5_000);
    expect(pace.progressInMs()).toBe(5_000);
    const went: number[] = [];
    void pace.edit().then(() => went.push(clock.ticks()));
    await clock.turn(6_000);
    expect(went).toEqual([5_000]);
  });
});
