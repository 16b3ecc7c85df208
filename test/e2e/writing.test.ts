/** A file in the middle of being written: seen on the card, waited for after SIGTERM, and cut only when its time is over. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {type Bench, makeBench, planned, QUICK, startHost} from './bench.ts';

const HOST = 'gpu-07';
const END = '\n]}\n';
const stops: (() => Promise<void>)[] = [];

async function stage(
  policy: Readonly<Record<string, unknown>>,
  change: Parameters<typeof species.writer>[1],
): Promise<{readonly lab: Lab; readonly bench: Bench; readonly pid: number; readonly written: () => string}> {
  const lab = await startHost(HOST, 1);
  const bench = makeBench({[HOST]: lab}, {...QUICK, ...policy});
  stops.push(async () => {
    await lab.stop();
    bench.remove();
  });
  const {pid} = await lab.spawn(species.writer([{gpu: 0, MiB: 700}], change));
  const path = join(lab.folder, 'run', 'traces', 'trace.json.gz');
  return {lab, bench, pid, written: () => readFileSync(path, 'latin1')};
}

afterAll(async () => {
  for (const stop of stops) await stop();
});

describe.concurrent('a target that writes a trace', () => {
  test('stands on the card with file and rate, is waited for past its grace, and ends with a whole file', async () => {
    const {lab, bench, pid, written} = await stage(
      {profilerGrace: '2s', writingGrace: '60s'},
      {termDelayMs: 5_000, writes: {file: 'trace.json.gz', KiBPerS: 2_048, closes: true}},
    );
    const shown = await bench.run('reclaim', HOST, 'match=vllm', 'dry-run');
    expect(shown.out.replaceAll(/\s+/g, ' ')).toMatch(/writing trace\.json\.gz, \+[\d.]+ MiB\/s/);

    const confirm = await planned(bench, HOST, 'match=vllm');
    const done = await bench.run('reclaim', HOST, '--confirm', confirm);
    expect(done.code, done.out + done.err).toBe(0);
    expect(done.err).toMatch(
      /kill -9 waits: PID \d+ writing trace\.json\.gz, \+[\d.]+ MiB\/s; until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/,
    );
    expect(await received(lab)).toEqual([{pid, signal: 'TERM'}]);
    expect(written().endsWith(END)).toBe(true);
    const run = await lastRun(bench);
    expect(run.outcome?.word).toBe('reclaimed');
    const waits = run.events.filter((event) => event.kind === 'still-writing');
    expect(waits).toMatchObject([{files: [{pid, what: 'trace'}], unread: []}]);
  });

  test('for ever is killed once the longer grace is over', async () => {
    const {lab, bench, pid, written} = await stage(
      {grace: '1s', profilerGrace: '1s', writingGrace: '3s'},
      {termDelayMs: 3_600_000},
    );
    const confirm = await planned(bench, HOST, 'match=vllm');
    const done = await bench.run('reclaim', HOST, '--confirm', confirm);
    expect(done.code, done.out + done.err).toBe(0);
    expect(await received(lab)).toEqual([
      {pid, signal: 'TERM'},
      {pid, signal: 'KILL'},
    ]);
    expect(written().endsWith(END)).toBe(false);
    const run = await lastRun(bench);
    const [told, killed] = run.events
      .filter((event) => event.kind === 'signal-intended')
      .map((event) => ('atMs' in event ? Number(event.atMs) : 0));
    expect((killed ?? 0) - (told ?? 0)).toBeGreaterThanOrEqual(3_000);
  });

  test('is killed on time by a grace that was typed', async () => {
    const {lab, bench, pid} = await stage({}, {termDelayMs: 3_600_000});
    const confirm = await planned(bench, HOST, 'match=vllm', 'grace=1s');
    const done = await bench.run('reclaim', HOST, '--confirm', confirm);
    expect(done.code, done.out + done.err).toBe(0);
    expect(done.err).not.toContain('kill -9 waits');
    expect((await received(lab)).map((one) => one.pid)).toEqual([pid, pid]);
  });

  test('does so no longer after a pause: that comes between two steps', async () => {
    const {lab, bench, pid} = await stage(
      {grace: '1s', profilerGrace: '1s', writingGrace: '10m'},
      {termDelayMs: 3_600_000},
    );
    const confirm = await planned(bench, HOST, 'match=vllm');
    const working = bench.start('reclaim', HOST, '--confirm', confirm);
    await expect
      .poll(async () => (await lastRun(bench)).events.some((event) => event.kind === 'still-writing'), {
        timeout: 30_000,
      })
      .toBe(true);
    await bench.run('pause');
    const done = await working.done;
    expect(done.code, done.out + done.err).toBe(4);
    expect(await received(lab)).toEqual([{pid, signal: 'TERM'}]);
    expect((await lastRun(bench)).outcome?.word).toBe('cancelled');
  });
});
