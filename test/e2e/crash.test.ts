/** kill -9 of the program: nothing goes on by itself, nothing is sent twice, and what was asked is asked again. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {confirmIn, lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {type Bench, jsonOf, makeBench, planned, QUICK, startHost} from './bench.ts';

const HOST = 'gpu-07';
const stops: (() => Promise<void>)[] = [];

async function stage(policy: Readonly<Record<string, unknown>> = QUICK): Promise<{lab: Lab; bench: Bench}> {
  const lab = await startHost(HOST, 2);
  const bench = makeBench({[HOST]: lab}, policy);
  stops.push(async () => {
    await lab.stop();
    bench.remove();
  });
  return {lab, bench};
}

describe.concurrent('a program that is killed', () => {
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  test('while its plan waits leaves a plan that can still be confirmed', async () => {
    const {lab, bench} = await stage();
    const target = await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
    const asking = bench.start('reclaim', HOST, 'match=vllm');
    let out = '';
    await new Promise<void>((resolve) => {
      asking.child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        if (confirmIn(out) !== null && out.endsWith('\n')) resolve();
      });
    });
    asking.child.kill('SIGKILL');
    await asking.done;
    const done = await bench.run('reclaim', HOST, '--confirm', confirmIn(out) ?? '');
    expect(done, done.out + done.err).toMatchObject({code: 0, out: expect.stringMatching(/reclaimed/)});
    expect(await received(lab)).toEqual([{pid: target.pid, signal: 'TERM'}]);
  });

  test('between its signal and its end is taken up by the next command: looked at, told, asked, never signalled', async () => {
    // It cleans up for a minute: the program dies in the middle of the grace.
    const {lab, bench} = await stage({...QUICK, grace: '20s', lateAfter: '2s'});
    const slow = await lab.spawn(species.workload([{gpu: 0, MiB: 700}], {termDelayMs: 60_000}));
    const quick = await lab.spawn(species.workload([{gpu: 1, MiB: 300}], {label: 'quick'}));
    const plan = await planned(bench, HOST, 'match=vllm');
    const working = bench.start('reclaim', HOST, '--confirm', plan);
    await expect.poll(async () => (await received(lab)).length, {timeout: 20_000, interval: 5}).toBe(2);
    working.child.kill('SIGKILL');
    await working.done;
    const before = await received(lab);
    // The next ladder need not be as slow.
    bench.setPolicy({...QUICK, lateAfter: '2s'});

    const next = await bench.run('runs');
    expect(next.code, next.err).toBe(0);
    expect(next.out).toMatch(/was interrupted: the program that worked on it is gone.*nothing was signalled/);
    expect(next.out).toMatch(/🟡 gpu-07: interrupted/);
    expect(next.out).toMatch(/^ 0 +700 +700/m);
    expect(next.out).toMatch(/^ 1 +300 +0 +free/m);
    expect(next.out).toMatch(new RegExp(`PID ${slow.pid} `));
    expect(await received(lab)).toEqual(before);
    expect(before.map((one) => one.pid).toSorted()).toEqual([slow.pid, quick.pid].toSorted());
    expect(await lab.alive(slow.pid)).toBe(true);

    const confirm = confirmIn(next.out);
    expect(confirm, next.out).not.toBeNull();
    const done = await bench.run('reclaim', HOST, '--confirm', confirm ?? '', '--json');
    expect(jsonOf(done)).toMatchObject({outcome: {word: 'reclaimed'}});
    expect(await lab.ledger()).toEqual([0, 0]);
    expect((await received(lab)).filter((one) => one.signal === 'KILL')).toEqual([{pid: slow.pid, signal: 'KILL'}]);
  });

  test('is told in the JSON of whichever command comes next', async () => {
    const {lab, bench} = await stage({...QUICK, grace: '20s', lateAfter: '2s'});
    await lab.spawn(species.workload([{gpu: 0, MiB: 700}], {termDelayMs: 60_000}));
    const plan = await planned(bench, HOST, 'match=vllm');
    const working = bench.start('reclaim', HOST, '--confirm', plan);
    await expect.poll(async () => (await received(lab)).length, {timeout: 20_000, interval: 5}).toBe(1);
    working.child.kill('SIGKILL');
    await working.done;
    const next = (await bench.json('status', HOST)) as {
      recovered?: {outcome: {word: string}; confirm: string | null}[];
    };
    expect(next.recovered).toMatchObject([
      {outcome: {word: 'interrupted'}, confirm: expect.stringMatching(/^1:gpu-07:/)},
    ]);
    expect((await received(lab)).map((one) => one.signal)).toEqual(['TERM']);
    expect((await lastRun(bench)).phase).toBe('awaiting-go');
  });
});
