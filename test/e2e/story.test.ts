/** The story of the README, by the built program on lab hosts: look, plan, go, ladder, proof. */
import {afterAll, describe, expect, test} from 'vitest';
import {castFor} from '../../src/playground/story/cast.ts';
import {confirmIn, judgeStory, lastRun} from '../../src/playground/story/play.ts';
import {makeBench, startSoundLab} from './bench.ts';

const HOST = 'gpu-07';

describe.concurrent.each([[3], [8]])('the story with seed %i', async (seed) => {
  const lab = await startSoundLab(HOST, 8);
  const bench = makeBench({[HOST]: lab});
  afterAll(async () => {
    await lab.stop();
    bench.remove();
  });

  test('ends with every promise kept, and says so in words and in JSON', async () => {
    const cast = await castFor(lab, seed);
    const before = await lab.ledger();

    const plan = await bench.run('reclaim', HOST, 'match=vllm');
    expect(plan).toMatchObject({code: 3, out: expect.stringMatching(/Nothing has been signalled/)});
    for (const one of cast.guilty) expect(plan.out).toContain(`☑ PID ${one.pid} `);
    expect(plan.out).toContain(`☐ PID ${cast.trainer.pid} `);
    expect(plan.out).toContain(`☐ PID ${cast.otherJob.pid} `);
    expect(plan.out).toMatch(/🔒 PID \d+ nvidia-persistenced/);
    expect(await lab.ledger()).toEqual(before);

    const done = await bench.run('reclaim', HOST, '--confirm', confirmIn(plan.out) ?? '');
    expect(done.code, done.out + done.err).toBe(0);
    expect((await judgeStory(lab, bench, cast, before)).broken).toEqual([]);
    expect(done.out).toMatch(/^✅ gpu-07: reclaimed \d+ GiB \([\d,]+ MiB\), 6 of 8 free$/m);
    expect(done.out).toMatch(/^Surviving targets: none$/m);
    expect(done.out).toMatch(/^GPUs free now: 6 of 8; 8-GPU start not possible: GPU /m);

    const run = await lastRun(bench);
    expect((await bench.run('show', run.id.slice(0, 6))).out).toMatch(/closed: reclaimed/);
    const status = (await bench.json('status', HOST)) as {hosts: {gpus: {index: number; usedMiB: number}[]}[]};
    expect(status.hosts[0]?.gpus.map((gpu) => gpu.usedMiB)).toEqual(await lab.ledger());
  });
});
