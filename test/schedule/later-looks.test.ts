/** When owed looks are made: at their time, once, late only if they came due while nobody was there. The clock is a hand. */
import {describe, expect, it} from 'vitest';
import {fail, ok, type Result} from '../../src/domain/failure.ts';
import {type Run, type RunId, runId} from '../../src/domain/run.ts';
import type {Clock, DueLook} from '../../src/engine/ports.ts';
import {keepLaterLooks} from '../../src/schedule/later-looks.ts';
import {aRun, HOST} from '../doubles/build.ts';

const A = runId('aaaaaaaaaaaa');
const B = runId('bbbbbbbbbbbb');
const BROKEN = fail({reason: 'store-unreadable', path: '/x', detail: 'gone'});

/** Owed looks in a list, and a clock that only moves while it is waited on. Ends after `untilMs`. */
async function play(
  owed: DueLook[],
  untilMs: number,
  make: (id: RunId, nowMs: number) => Result<Run> = () => ok(aRun()),
  list: () => Result<readonly DueLook[]> = () => ok([...owed]),
) {
  const made: string[] = [];
  const errors: string[] = [];
  const over = new AbortController();
  let nowMs = 1_000_000;
  let asked = 0;
  const clock: Clock = {
    now: () => nowMs,
    ticks: () => nowMs,
    wait: async (ms) => {
      nowMs += ms;
      if (nowMs >= 1_000_000 + untilMs) over.abort();
    },
  };
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: unknown, text: string) => void errors.push(text),
  };
  await keepLaterLooks({
    engine: {
      laterLooks: async () => {
        asked += 1;
        return list();
      },
      lookLater: async (id, {late}) => {
        const done = make(id, nowMs);
        made.push(`${id.slice(0, 1)} +${nowMs - 1_000_000}${late ? ' late' : ''}`);
        if (done.ok)
          owed.splice(
            owed.findIndex((look) => look.runId === id),
            1,
          );
        return done;
      },
    },
    clock,
    log,
    everyMs: 5_000,
    over: over.signal,
  });
  return {made, errors, asked};
}

function look(id: RunId, atMs: number): DueLook {
  return {runId: id, host: HOST, dueAtMs: 1_000_000 + atMs};
}

describe('a later look', () => {
  it('is made when it is due, and not before', async () => {
    const {made, asked} = await play([look(A, 7_300), look(B, 12_000)], 20_000);
    expect(made).toEqual(['a +7300', 'b +12000']);
    expect(asked).toBeLessThan(8);
  });

  it('that came due before the start is made at once and marked late', async () => {
    expect((await play([look(A, -1), look(B, 0)], 4_000)).made).toEqual(['a +0 late', 'b +0']);
  });

  it('that something kept us from for over a minute is late as well', async () => {
    let asks = 0;
    const owed = [look(A, 100)];
    const list = (): Result<readonly DueLook[]> => (++asks <= 14 ? BROKEN : ok([...owed]));
    const {made, errors} = await play(owed, 100_000, undefined, list);
    expect(made).toEqual(['a +70000 late']);
    expect(errors).toHaveLength(14);
  });

  it('that cannot be noted is tried again after a while, not at once', async () => {
    const {made, errors} = await play([look(A, 0)], 14_000, (_id, nowMs) => (nowMs < 1_010_000 ? BROKEN : ok(aRun())));
    expect(made).toEqual(['a +0', 'a +5000', 'a +10000']);
    expect(errors).toHaveLength(2);
  });
});
