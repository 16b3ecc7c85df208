/** At a real terminal: what is typed is a go, or it is none; Ctrl-C stops before the next signal. */
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import * as species from '../../src/playground/lab/species.ts';
import {lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {type Bench, ME, makeBench, QUICK, startHost} from './bench.ts';
import {CTRL_C, ENTER, HAS_SCRIPT, sitDown} from './keyboard.ts';

const HOST = 'gpu-07';
const PROMPT = /anything else leaves it: /;
const stops: (() => Promise<void>)[] = [];

async function stage(policy: Readonly<Record<string, unknown>> = QUICK): Promise<{
  readonly lab: Lab;
  readonly bench: Bench;
  readonly slow: LabProcess;
}> {
  const lab = await startHost(HOST, 1);
  const bench = makeBench({[HOST]: lab}, policy);
  stops.push(async () => {
    await lab.stop();
    bench.remove();
  });
  return {lab, bench, slow: await lab.spawn(species.workload([{gpu: 0, MiB: 700}], {termDelayMs: 60_000}))};
}

const needs = HAS_SCRIPT ? '' : ' (needs script: apt-get install bsdutils)';

const describeIt = HAS_SCRIPT ? describe.concurrent : describe.skip;

describeIt(`at a terminal${needs}`, () => {
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  test('the count and the host are a go for SIGTERM, then kill -9', async () => {
    const {lab, bench, slow} = await stage();
    const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
    await sitting.shown(PROMPT);
    expect(sitting.screen()).toMatch(/Type "1 gpu-07" for SIGTERM, then kill -9 after 1\.5 s/);
    sitting.type(`1 gpu-07${ENTER}`);
    expect(await sitting.done).toMatchObject({code: 0, out: expect.stringMatching(/✅ gpu-07: reclaimed 700 MiB/)});
    expect((await received(lab)).map((one) => one.signal)).toEqual(['TERM', 'KILL']);
    expect(await lab.alive(slow.pid)).toBe(false);
    expect((await lastRun(bench)).events.find((event) => event.kind === 'approved')).toMatchObject({
      by: {kind: 'os-user', name: ME},
      breakGlass: false,
    });
  });

  test('other answers are no go: nothing is sent, and the run says so', async () => {
    const {lab, bench} = await stage();
    for (const typed of ['yes', '2 gpu-07', '1 gpu-08']) {
      const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
      await sitting.shown(PROMPT);
      sitting.type(`${typed}${ENTER}`);
      expect(await sitting.done, typed).toMatchObject({code: 6, out: expect.stringMatching(/denied, nothing sent/)});
      expect((await lastRun(bench)).outcome?.word).toBe('denied');
    }
    expect(await received(lab)).toEqual([]);
  });

  test('term, the count and the host is a go for SIGTERM only', async () => {
    const {lab, bench, slow} = await stage();
    const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
    await sitting.shown(PROMPT);
    sitting.type(`term 1 gpu-07${ENTER}`);
    const done = await sitting.done;
    expect(done, done.out).toMatchObject({code: 4, out: expect.stringMatching(/nothing freed/)});
    expect(await received(lab), done.out).toEqual([{pid: slow.pid, signal: 'TERM'}]);
  });

  test('Ctrl-C at the question leaves it: nothing is sent', async () => {
    const {lab, bench} = await stage();
    const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
    await sitting.shown(PROMPT);
    sitting.type(CTRL_C);
    expect(await sitting.done).toMatchObject({code: 6, out: expect.stringMatching(/denied, nothing sent/)});
    expect(await received(lab)).toEqual([]);
    expect((await lastRun(bench)).phase).toBe('closed');
  });

  test('Ctrl-C during the ladder stops it before the next signal, and the outcome is told', async () => {
    const {lab, bench, slow} = await stage({...QUICK, grace: '5s'});
    const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
    await sitting.shown(PROMPT);
    sitting.type(`1 gpu-07${ENTER}`);
    await expect.poll(async () => (await received(lab)).length, {timeout: 20_000, interval: 5}).toBe(1);
    sitting.type(CTRL_C);
    await sitting.shown(/Stopping before the next signal/);
    expect(await sitting.done).toMatchObject({code: 4, out: expect.stringMatching(/gpu-07: cancelled/)});
    expect(await received(lab)).toEqual([{pid: slow.pid, signal: 'TERM'}]);
  });

  test('who is no listed approver is asked for a reason, which everybody will read', async () => {
    const {lab, bench, slow} = await stage({...QUICK, approvers: ['os:somebody-else']});
    const sitting = sitDown(bench, 'reclaim', HOST, 'match=vllm');
    await sitting.shown(PROMPT);
    sitting.type(`1 gpu-07${ENTER}`);
    await sitting.shown(/Reason \(everybody will read it/);
    expect(await received(lab)).toEqual([]);
    sitting.type(`production start at 3${ENTER}`);
    expect(await sitting.done).toMatchObject({code: 0, out: expect.stringMatching(/BREAK-GLASS/)});
    expect((await lastRun(bench)).events.find((event) => event.kind === 'approved')).toMatchObject({
      breakGlass: true,
      reason: 'production start at 3',
    });
    expect((await received(lab)).every((one) => one.pid === slow.pid)).toBe(true);
  });
});
