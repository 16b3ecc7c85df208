/** Stopping and being second: pause, cancel, and two goes at the same moment. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import * as species from '../../src/playground/lab/species.ts';
import {lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {type Bench, makeBench, planned, QUICK, startHost} from './bench.ts';

const HOST = 'gpu-07';
const stops: (() => Promise<void>)[] = [];
/** Long enough for another program to start and say its word before kill -9, on a busy machine too. */
const LONG_GRACE = {...QUICK, grace: '10s'};

async function stage(policy: Readonly<Record<string, unknown>> = QUICK): Promise<{
  readonly lab: Lab;
  readonly bench: Bench;
  readonly slow: LabProcess;
  /** What confirms the plan that waits. */
  readonly confirm: string;
}> {
  const lab = await startHost(HOST, 1);
  const bench = makeBench({[HOST]: lab}, policy);
  stops.push(async () => {
    await lab.stop();
    bench.remove();
  });
  const slow = await lab.spawn(species.workload([{gpu: 0, MiB: 700}], {termDelayMs: 60_000}));
  return {lab, bench, slow, confirm: await planned(bench, HOST, 'match=vllm')};
}

async function untilTermArrived(lab: Lab): Promise<void> {
  await expect.poll(async () => (await received(lab)).length, {timeout: 20_000, interval: 5}).toBe(1);
}

afterAll(async () => {
  for (const stop of stops) await stop();
});

describe.concurrent('a stop', () => {
  test('by pause before the go refuses the go; after resume the same plan is good', async () => {
    const {lab, bench, slow, confirm} = await stage();
    expect((await bench.run('pause')).code).toBe(0);
    const refused = await bench.run('reclaim', HOST, '--confirm', confirm);
    expect(refused).toMatchObject({code: 6, err: expect.stringMatching(/^Paused by os:\S+ at .*resume/)});
    expect(await bench.run('reclaim', HOST, 'match=vllm')).toMatchObject({code: 6});
    expect(await received(lab)).toEqual([]);
    expect((await bench.run('resume')).out).toMatch(/^Resumed\. It was paused by os:/);
    expect((await bench.run('reclaim', HOST, '--confirm', confirm)).code).toBe(0);
    expect((await received(lab)).map((one) => one.pid)).toEqual([slow.pid, slow.pid]);
  });

  test('by pause between two rungs comes before the next signal', async () => {
    const {lab, bench, slow, confirm} = await stage(LONG_GRACE);
    const working = bench.start('reclaim', HOST, '--confirm', confirm);
    await untilTermArrived(lab);
    await bench.run('pause');
    const done = await working.done;
    expect(done.code, done.out + done.err).toBe(4);
    expect(done.out).toMatch(/gpu-07: cancelled/);
    expect(await received(lab)).toEqual([{pid: slow.pid, signal: 'TERM'}]);
    const run = await lastRun(bench);
    expect(run.outcome?.word).toBe('cancelled');
    expect(run.events.find((event) => event.kind === 'cancelled')).toMatchObject({reason: 'paused'});
  });

  test('by cancel of a working run comes before the next signal', async () => {
    const {lab, bench, slow, confirm} = await stage(LONG_GRACE);
    const {id} = await lastRun(bench);
    const working = bench.start('reclaim', HOST, '--confirm', confirm);
    await untilTermArrived(lab);
    expect(await bench.run('cancel', id.slice(0, 6))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/stops before its next signal/),
    });
    expect(await working.done).toMatchObject({code: 4, out: expect.stringMatching(/cancelled/)});
    expect(await received(lab)).toEqual([{pid: slow.pid, signal: 'TERM'}]);
  });

  test('by cancel of a waiting plan leaves nothing to confirm', async () => {
    const {lab, bench, confirm} = await stage();
    const {id} = await lastRun(bench);
    expect(await bench.run('cancel', id, 'reason=wrong host')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/is cancelled; nothing was sent/),
    });
    expect(await bench.run('reclaim', HOST, '--confirm', confirm)).toMatchObject({
      code: 6,
      err: expect.stringMatching(/was cancelled by os:/),
    });
    expect(await bench.run('cancel', id)).toMatchObject({code: 6, err: expect.stringMatching(/is over \(cancelled\)/)});
    expect((await bench.run('show', id)).out).toMatch(/stopped by os:\S+: wrong host/);
    expect(await received(lab)).toEqual([]);
  });
});

describe('two programs', () => {
  test('that confirm the same plan at once: one wins, the other is told who did, and when', async () => {
    const {lab, bench, slow, confirm} = await stage();
    const both = await Promise.all([1, 2].map(() => bench.run('reclaim', HOST, '--confirm', confirm)));
    const codes = both.map((answer) => answer.code).toSorted();
    expect(codes, JSON.stringify(both)).toEqual([0, 6]);
    const loser = both.find((answer) => answer.code === 6);
    expect(loser?.err).toMatch(/^Run [0-9a-f]{6} was approved by os:\S+ at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
    expect((await received(lab)).toSorted((a, b) => (a.signal < b.signal ? 1 : -1))).toEqual([
      {pid: slow.pid, signal: 'TERM'},
      {pid: slow.pid, signal: 'KILL'},
    ]);
  });

  test('that ask for the same host at once: one plan waits, the other is told by whom the host is busy', async () => {
    const lab = await startHost(HOST, 1);
    const bench = makeBench({[HOST]: lab});
    stops.push(async () => {
      await lab.stop();
      bench.remove();
    });
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const both = await Promise.all([1, 2].map(() => bench.run('reclaim', HOST, 'match=vllm')));
    expect(both.map((answer) => answer.code).toSorted()).toEqual([3, 6]);
    expect(both.find((answer) => answer.code === 6)?.err).toMatch(/gpu-07 is busy with run [0-9a-f]{6} by os:/);
  });

  test('that reach one machine by two names: the second is told which', async () => {
    const {lab, bench} = await stage();
    bench.setHosts({[HOST]: bench.entryOf(lab), other: {...bench.entryOf(lab), address: 'localhost'}});
    expect(await bench.run('reclaim', 'other', 'match=vllm')).toMatchObject({
      code: 6,
      err: expect.stringMatching(/other is the same machine as gpu-07, which is busy with run/),
    });
  });
});
