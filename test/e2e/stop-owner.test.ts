/** Stopping the owner first: only where the policy says so, only what was shown, and back to the ladder where it fails. */
import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {afterAll, describe, expect, type TestContext, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import * as species from '../../src/playground/lab/species.ts';
import {confirmIn, lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {type Bench, makeBench, planned, QUICK, startHost} from './bench.ts';

const HOST = 'gpu-07';
const UNIT = 'vllm@2.service';
const RUN = '0123456789abcdef0123456789abcdef';
const ON = {...QUICK, stopOwner: {unit: true}};
/** Whoever is in a container or a unit is nobody's own: a go takes a second person, or a reason. */
const REASON = 'reason=needed for production';
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

interface Stage {
  readonly lab: Lab;
  readonly bench: Bench;
  /** Holds no GPU, and starts a worker again that was killed. */
  readonly server: number;
  readonly workers: readonly number[];
  /** What `systemctl stop` was called with, a line each. */
  readonly called: () => readonly string[];
  readonly systemctl: (stop: string, change?: Readonly<Record<string, string>>) => void;
  /** Every process of the unit. */
  readonly pids: () => Promise<readonly number[]>;
}

/** A supervised unit of a server and two workers, with a stand-in systemctl that really ends what is in its group. */
async function stage(context: TestContext, policy: Readonly<Record<string, unknown>>): Promise<Stage> {
  const lab = await startHost(HOST, 2);
  const bench = makeBench({[HOST]: lab}, policy);
  stops.push(async () => {
    await lab.stop();
    bench.remove();
  });
  if (!lab.features.has('containers')) context.skip('needs a control group of its own');
  const workers = [0, 1].map((gpu) => species.worker(gpu, [{gpu, MiB: 700}]));
  const family: LabProcess = await lab.spawn(species.server(workers, {container: UNIT, respawns: true}));
  const slice = `/lab-${basename(lab.folder)}.slice`;
  const log = join(lab.folder, 'run', 'called');
  const systemctl: Stage['systemctl'] = (stop, change = {}) => {
    const says = {
      Id: UNIT,
      LoadState: 'loaded',
      ActiveState: 'active',
      Restart: 'always',
      InvocationID: RUN,
      ControlGroup: `${slice}/${UNIT}`,
      SendSIGKILL: 'yes',
      RequiredBy: '',
      ...change,
    };
    const path = join(lab.folder, 'bin', 'systemctl');
    const shown = Object.entries(says).map(([key, value]) => `echo '${key}=${value}'`);
    writeFileSync(
      path,
      [
        '#!/bin/sh',
        `G=$(ls -d /sys/fs/cgroup${slice}/${UNIT} /sys/fs/cgroup/*${slice}/${UNIT} 2>/dev/null | head -n 1)`,
        `case "$*" in *show*) ${shown.join('; ')}; exit ;; esac`,
        `echo "$*" >>'${log}'`,
        stop,
      ].join('\n'),
    );
    chmodSync(path, 0o755);
  };
  systemctl(ENDS);
  return {
    lab,
    bench,
    server: family.pid,
    workers: family.workers.map((worker) => worker.pid),
    called: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    systemctl,
    pids: async () => {
      const alive = await Promise.all(
        [family.pid, ...family.workers.map((one) => one.pid)].map((pid) => lab.alive(pid)),
      );
      return alive.map(Number);
    },
  };
}

/** As systemd ends a unit: the server first hears that it is over, so that nothing is started again. */
const ENDS = 'kill -KILL $(cat "$G/cgroup.procs")';

describe.concurrent('the owner', () => {
  test('is stopped before anything is signalled, and nothing is started again', async (context) => {
    const {lab, bench, workers, server, called} = await stage(context, ON);
    const shown = await bench.run('reclaim', HOST, `pid=${workers.join(',')}`);
    const card = shown.out.replaceAll(/\s+/g, ' ');
    expect(card).toContain(`stop unit ${UNIT} first (3 processes), then SIGTERM, kill -9`);
    expect(card).toContain(`PID ${server}`);
    const done = await bench.run('reclaim', HOST, '--confirm', confirmIn(shown.out) ?? '', REASON);
    expect(done.code, done.out + done.err).toBe(0);
    expect(called()).toEqual([`--no-ask-password stop --no-block -- ${UNIT}`]);
    expect(await lab.ledger()).toEqual([0, 0]);
    const run = await lastRun(bench);
    expect(run.outcome).toMatchObject({word: 'reclaimed', survivors: []});
    expect(run.events.filter((event) => event.kind.startsWith('s')).map((event) => event.kind)).toEqual(
      expect.arrayContaining(['stop-intended', 'stop-result']),
    );
    expect(run.events.filter((event) => event.kind === 'signal-intended')).toEqual([]);
    expect(lab.journal().join('\n')).toContain(`stop=unit:${UNIT}`);
  });

  test('is left alone by a policy that says nothing, and starts again what was killed', async (context) => {
    const {lab, bench, workers, called} = await stage(context, QUICK);
    const shown = await bench.run('reclaim', HOST, `pid=${workers.join(',')}`);
    expect(shown.out).not.toContain('stop unit');
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain(`stop: systemctl stop ${UNIT}`);
    const done = await bench.run('reclaim', HOST, '--confirm', confirmIn(shown.out) ?? '', REASON);
    expect(called()).toEqual([]);
    expect((await received(lab)).map((one) => one.pid).toSorted()).toEqual([...workers].toSorted());
    expect(done.out).toMatch(/started the same work again/);
    expect(await lab.ledger()).toEqual([700, 700]);
  });

  test.for<[string, Readonly<Record<string, string>>, string]>([
    ['other units stop with it', {RequiredBy: 'frontend.service'}, 'other units would stop with it'],
    ['it stands in another folder', {ControlGroup: '/system.slice/other.service'}, 'nothing proves that its name'],
    ['its tool knows no run of it', {InvocationID: ''}, 'what it owns could not be read'],
  ])('is not stopped where %s, and the card says so', async ([, change, words], context) => {
    const {bench, workers, systemctl} = await stage(context, ON);
    systemctl(ENDS, change);
    const shown = await bench.run('reclaim', HOST, `pid=${workers.join(',')}`, 'dry-run');
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain(`unit ${UNIT} is not stopped first: ${words}`);
    expect(shown.out).not.toContain('(3 processes)');
  });

  test('is not stopped for one of its two holders', async (context) => {
    const {bench, workers} = await stage(context, ON);
    const shown = await bench.run('reclaim', HOST, `pid=${workers[0]}`, 'dry-run');
    expect(shown.out.replaceAll(/\s+/g, ' ')).toContain(`unit ${UNIT} is not stopped first: PID ${workers[1]} stays`);
  });

  test('that refuses, or started anew since, falls back to SIGTERM of the same targets', async (context) => {
    const {lab, bench, workers, server, systemctl, called} = await stage(context, ON);
    const confirm = await planned(bench, HOST, `pid=${workers.join(',')}`);
    systemctl(ENDS, {InvocationID: 'f'.repeat(32)});
    const done = await bench.run('reclaim', HOST, '--confirm', confirm, REASON);
    expect(done.err).toContain(`unit ${UNIT}: not stopped, changed since the plan (run)`);
    expect(called()).toEqual([]);
    expect((await received(lab)).map((one) => one.pid)).toContain(server);
    expect(await lab.ledger()).toEqual([0, 0]);
  });

  test('with a newcomer in it is not stopped', async (context) => {
    const {lab, bench, workers, called} = await stage(context, ON);
    const confirm = await planned(bench, HOST, `pid=${workers.join(',')}`);
    const newcomer = await lab.spawn(species.renamed([], {container: UNIT, label: 'newcomer'}));
    const done = await bench.run('reclaim', HOST, '--confirm', confirm, REASON);
    expect(done.err).toContain(`not stopped, changed since the plan (newcomer-${newcomer.pid})`);
    expect(called()).toEqual([]);
    expect(await lab.alive(newcomer.pid)).toBe(true);
    expect((await received(lab)).map((one) => one.pid)).not.toContain(newcomer.pid);
  });

  test('whose daemon hangs costs its time, then the ladder goes on', async (context) => {
    const {lab, bench, workers, systemctl} = await stage(context, ON);
    systemctl('while :; do sleep 1000; done');
    const done = await bench.run(
      'reclaim',
      HOST,
      '--confirm',
      await planned(bench, HOST, `pid=${workers.join(',')}`),
      REASON,
    );
    expect(done.err).toContain(`unit ${UNIT}: not stopped in time`);
    expect(await lab.ledger()).toEqual([0, 0]);
    expect((await lastRun(bench)).outcome?.word).toBe('reclaimed');
  });

  test('is no part of a go that ends at SIGTERM', async (context) => {
    const {lab, bench, workers, called} = await stage(context, ON);
    const confirm = await planned(bench, HOST, `pid=${workers.join(',')}`);
    await bench.run('reclaim', HOST, '--confirm', confirm, REASON, '--terminate-only');
    expect(called()).toEqual([]);
    expect(await lab.ledger()).toEqual([0, 0]);
  });

  test('is forbidden by the deny file, and nothing else is sent', async (context) => {
    const {lab, bench, workers, called} = await stage(context, ON);
    const confirm = await planned(bench, HOST, `pid=${workers.join(',')}`);
    await lab.setDeny(true);
    const done = await bench.run('reclaim', HOST, '--confirm', confirm, REASON);
    expect(done.err).toContain('not stopped, forbidden by /etc/gpu-reclaim/deny');
    expect([called(), await received(lab)]).toEqual([[], []]);
    // It speaks of the host: no signal is even tried after it.
    expect((await lastRun(bench)).events.map((event) => event.kind)).not.toContain('signal-intended');
  });

  test('is not asked twice when the program dies between intent and answer', async (context) => {
    const {lab, bench, workers, systemctl, called, pids} = await stage(context, {...ON, lateAfter: '2s', grace: '1s'});
    systemctl('while :; do sleep 1000; done');
    const confirm = await planned(bench, HOST, `pid=${workers.join(',')}`);
    const working = bench.start('reclaim', HOST, '--confirm', confirm, REASON);
    await context.expect.poll(() => called().length, {timeout: 20_000, interval: 5}).toBe(1);
    working.child.kill('SIGKILL');
    await working.done;
    const told = (await bench.json('runs')) as {runs: {outcome: {word: string} | null}[]};
    // The next command looked, closed that run, and asks anew once nothing of the old stop can come any more.
    expect(told.runs.map((run) => run.outcome?.word)).toEqual([undefined, 'interrupted']);
    expect(called()).toHaveLength(1);
    expect(await received(lab)).toEqual([]);
    expect(await pids()).toEqual([1, 1, 1]);
  });
});
