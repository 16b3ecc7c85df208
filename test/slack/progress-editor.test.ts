/** The throttle of progress edits under a clock that is turned by hand. */
import {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import {runId} from '../../src/domain/run.ts';
import {makePace} from '../../src/slack/pace.ts';
import {makeProgressEditor} from '../../src/slack/progress-editor.ts';
import {handClock} from '../doubles/hand-clock.ts';

const A = runId('aaaaaaaaaaaa');
const B = runId('bbbbbbbbbbbb');
const LOG = {info: () => undefined, warn: () => undefined, error: () => undefined};

describe('progress edits', () => {
  it('keep 1.5 s apart over all cards, and only the newest frame of a card is sent', async () => {
    const clock = handClock();
    const editor = makeProgressEditor({clock, log: LOG, pace: makePace(clock)});
    const sent: string[] = [];
    const frame = (id: typeof A, text: string) =>
      editor.offer(id, async () => void sent.push(`${text}@${clock.ticks()}`));
    frame(A, 'a1');
    frame(B, 'b1');
    await clock.turn(100);
    frame(B, 'b2');
    frame(A, 'a2');
    frame(A, 'a3');
    await clock.turn(10_000);
    expect(sent[0]).toBe('a1@0');
    expect(sent.map((one) => one.split('@')[0])).toEqual(['a1', 'b2', 'a3']);
    const times = sent.map((one) => Number(one.split('@')[1]));
    expect(times.every((time, nth) => nth === 0 || time - (times[nth - 1] ?? 0) >= 1_500)).toBe(true);
  });

  it('come with growing gaps on one card, and small ones again after a change of state', async () => {
    const clock = handClock();
    const editor = makeProgressEditor({clock, log: LOG, pace: makePace(clock)});
    const times: number[] = [];
    const keepOffering = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 100) {
        editor.offer(A, async () => void times.push(clock.ticks()));
        await clock.turn(100);
      }
    };
    await keepOffering(40_000);
    const gaps = times.slice(1).map((time, nth) => time - (times[nth] ?? 0));
    expect(gaps.slice(0, 4)).toEqual([1_500, 2_000, 4_000, 8_000].map((gap) => expect.closeTo(gap, -2.5)));
    expect(gaps.at(-1)).toBeGreaterThanOrEqual(10_000);
    editor.fresh(A);
    const before = times.length;
    await keepOffering(4_000);
    expect(times.length - before).toBeGreaterThanOrEqual(2);
  });

  it('pause for as long as Slack says, and a dropped frame is never sent', async () => {
    const clock = handClock();
    const editor = makeProgressEditor({clock, log: LOG, pace: makePace(clock)});
    const sent: number[] = [];
    editor.offer(A, async () => {
      throw new webApi.WebAPIRateLimitedError(30);
    });
    await clock.turn(100);
    editor.offer(B, async () => void sent.push(clock.ticks()));
    await clock.turn(29_000);
    expect(sent).toEqual([]);
    await clock.turn(2_000);
    expect(sent).toHaveLength(1);
    editor.offer(A, async () => void sent.push(-1));
    editor.drop(A);
    await clock.turn(20_000);
    expect(sent).toHaveLength(1);
  });

  it('say which edit is still on its way when a card is dropped', async () => {
    const clock = handClock();
    const editor = makeProgressEditor({clock, log: LOG, pace: makePace(clock)});
    let land: () => void = () => undefined;
    editor.offer(
      A,
      () =>
        new Promise((resolve) => {
          land = resolve;
        }),
    );
    await clock.turn(100);
    const flying = editor.drop(A);
    expect(flying).not.toBeNull();
    land();
    await flying;
    expect(editor.drop(A)).toBeNull();
  });
});
