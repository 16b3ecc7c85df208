/** What a request names is what is ticked: nothing beyond it, and never what is protected. */
import {afterAll, afterEach, describe, expect, test} from 'vitest';
import type {LabProcess} from '../../src/playground/lab/process-tree.ts';
import {runInLab} from '../../src/playground/lab/run-in-lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {confirmIn, lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {makeBench, startSoundLab} from './bench.ts';

const HOST = 'gpu-07';
const lab = await startSoundLab(HOST, 4);
const bench = makeBench({[HOST]: lab});
const daemon = await lab.spawn(species.persistenceDaemon(4));
const bo = await lab.spawn(species.bystander([{gpu: 3, MiB: 3_000}]));
const ghost = await lab.spawn(species.inheritor([[{gpu: 0, MiB: 9_000}], [{gpu: 1, MiB: 9_000}]]));
const worker = await lab.spawn(species.workload([{gpu: 2, MiB: 5_000}], {termDelayMs: 60_000}));

interface Planned {
  readonly plan: {readonly targets: readonly {readonly identity: {readonly pid: number}}[]};
  readonly confirm: string;
}

function ticked(answer: Record<string, unknown>): readonly number[] {
  return (answer as unknown as Planned).plan.targets.map((target) => target.identity.pid).toSorted((a, b) => a - b);
}

function pidsOf(...processes: readonly LabProcess[]): readonly number[] {
  return processes.map((one) => one.pid).toSorted((a, b) => a - b);
}

describe('a request', () => {
  afterAll(async () => {
    await lab.stop();
    bench.remove();
  });
  afterEach(async () => {
    const run = await lastRun(bench);
    if (run.phase === 'awaiting-go') await bench.run('cancel', run.id);
  });

  test('that matches nobody says so, and shows the ghost that it found instead', async () => {
    const answer = await bench.run('reclaim', HOST, 'match=sglang');
    expect(answer).toMatchObject({code: 3, out: expect.stringMatching(/Nothing matches "sglang"; 1 ghost found/)});
    expect(answer.out).toContain(`☑ PID ${ghost.pid} `);
    expect(answer.out).not.toContain(`☑ PID ${worker.pid} `);
    expect(answer.out).toContain(`☐ PID ${worker.pid} `);
  });

  test('that finds nobody at all is over, and that is no failure', async () => {
    const answer = await bench.run('reclaim', HOST, 'match=sglang', 'gpus=3');
    expect(answer).toMatchObject({code: 0, out: expect.stringMatching(/no ghost found either/)});
    expect(answer.out).toMatch(/nothing to do/);
    expect(answer.out).not.toMatch(/--confirm/);
  });

  test('with dry-run ends with the plan', async () => {
    const answer = await bench.run('reclaim', HOST, 'match=vllm', 'dry-run');
    expect(answer).toMatchObject({code: 0, out: expect.stringMatching(/dry run, nothing was changed/)});
    expect(confirmIn(answer.out)).toBeNull();
    expect(answer.out).toContain(`☑ PID ${worker.pid} `);
  });

  test('with gpus= reaches no process on other GPUs', async () => {
    expect(ticked(await bench.json('reclaim', HOST, 'match=vllm', 'gpus=0-1'))).toEqual(pidsOf(ghost));
  });

  test('that splits a ghost over GPUs inside and outside the range leaves it alone', async () => {
    const answer = await bench.run('reclaim', HOST, 'gpus=0');
    expect(answer.out).toMatch(new RegExp(`☐ PID ${ghost.pid} .*\\n.*also uses other GPUs`));
  });

  test.skipIf(!lab.features.has('uids'))('with user= ticks what that user runs (needs a root lab)', async () => {
    expect(ticked(await bench.json('reclaim', HOST, 'user=bo', 'gpus=3'))).toEqual(pidsOf(bo));
  });

  test.skipIf(!lab.features.has('uids'))(
    'that reaches for another’s job needs more than one’s own go (needs a root lab)',
    async () => {
      const plan = (await bench.json('reclaim', HOST, `pid=${bo.pid}`, 'gpus=3')) as unknown as Planned;
      const answer = await bench.run('reclaim', HOST, '--confirm', plan.confirm);
      expect(answer).toMatchObject({code: 6, err: expect.stringMatching(/another approver must give the go/)});
      expect(await lab.alive(bo.pid)).toBe(true);
    },
  );

  test('that names a protected process by PID finds it locked', async () => {
    const answer = await bench.run('reclaim', HOST, `pid=${daemon.pid}`);
    expect(answer.out).toMatch(new RegExp(`🔒 PID ${daemon.pid} nvidia-persisten.*\\n.*protected`));
    expect(answer.out).not.toContain(`☑ PID ${daemon.pid} `);
  });

  test('confirmed as terminate-only sends SIGTERM and never kill -9', async () => {
    const plan = await bench.run('reclaim', HOST, 'match=vllm', 'gpus=2', '--terminate-only');
    // The line to copy asks for no more than was asked for.
    expect(plan.out).toMatch(/--confirm \S+ --terminate-only$/m);
    const done = await bench.run('reclaim', HOST, '--confirm', confirmIn(plan.out) ?? '', '--terminate-only');
    expect(done).toMatchObject({code: 4, out: expect.stringMatching(/nothing freed/)});
    expect(done.out).toMatch(
      new RegExp(`PID ${worker.pid} .*did not end by SIGTERM, and kill -9 was not part of this go`),
    );
    expect(await received(lab)).toEqual([{pid: worker.pid, signal: 'TERM'}]);
  });

  test('made while the same host has a plan waiting is told whose that is', async () => {
    await bench.run('reclaim', HOST, 'match=vllm');
    const answer = await bench.run('reclaim', HOST, 'match=vllm');
    expect(answer).toMatchObject({
      code: 6,
      err: expect.stringMatching(/gpu-07 is busy with run [0-9a-f]{6} by .*cancel/),
    });
  });

  test('came to no harm for those it did not name', async () => {
    expect((await received(lab)).filter((one) => one.pid !== worker.pid)).toEqual([]);
    expect((await runInLab(lab, `kill -0 ${bo.pid} ${daemon.pid} ${ghost.pid} && echo all alive`)).stdout).toBe(
      'all alive\n',
    );
  });
});
