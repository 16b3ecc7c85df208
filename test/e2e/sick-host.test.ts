/** Hosts whose login shell or nvidia-smi misbehaves: what cannot be told is unknown, never clean, and never success. */
import {afterAll, afterEach, describe, expect, test} from 'vitest';
import type {SmiFault} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';
import {makeBench, refusal, startHost} from './bench.ts';

const HOST = 'sick';
const lab = await startHost(HOST, 2);
const bench = makeBench({[HOST]: lab});
await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));

afterAll(async () => {
  expect(receivedSignals(await lab.witness())).toEqual([]);
  await lab.stop();
  bench.remove();
});

const shellsNeed = lab.features.has('etc') ? '' : ' (needs a lab with its own /etc: run as root)';

describe.skipIf(!lab.features.has('etc'))(`a login shell that${shellsNeed}`, () => {
  afterEach(() => lab.setLoginShell('normal'));

  test.each([['prints'], ['sleeps']] as const)('%s does no harm to a look', async (shell) => {
    await lab.setLoginShell(shell, 0.2);
    expect(await bench.run('status', HOST)).toMatchObject({code: 0, out: expect.stringMatching(/1 clean, 1 occupied/)});
  });

  test.each([
    ['eats-stdin', 'shell-interfered', /login shell/],
    ['ends', 'shell-interfered', /login shell ended or ate the script.*exit code 0/],
    ['nologin', 'no-shell', /no usable shell.*not available/],
  ] as const)('%s', async (shell, reason, sentence) => {
    await lab.setLoginShell(shell);
    expect(await refusal(bench, ['reclaim', HOST, 'match=vllm'])).toEqual({
      code: 5,
      reason,
      sentence: expect.stringMatching(sentence),
    });
  });
});

describe('an nvidia-smi that', () => {
  afterEach(() => lab.setFault({kind: 'none'}));

  const faults: readonly (readonly [SmiFault['kind'], SmiFault, RegExp])[] = [
    ['missing', {kind: 'missing'}, /nvidia-smi was not found/],
    ['failed', {kind: 'failed'}, /nvidia-smi failed|Failed to initialize NVML/],
    ['garbage', {kind: 'garbage'}, /unreadable|no GPU seen|no memory figure/],
    ['no-devices', {kind: 'no-devices'}, /no GPU seen.*No devices were found/],
    ['hung', {kind: 'hung'}, /does not answer|did not answer/],
    ['gpu-fault', {kind: 'gpu-fault', index: 0, text: '[GPU requires reset]'}, /fault/],
  ];
  test.each(faults)('is or says: %s', async (_name, fault, words) => {
    lab.setFault(fault);
    const answer = await bench.run('diagnose', HOST);
    expect(answer.code, answer.out + answer.err).toBe(5);
    expect(answer.out + answer.err).toMatch(words);
    if (fault.kind === 'hung') return;
    const coded = (await bench.json('status', HOST)) as {
      ok: boolean;
      hosts: {gpus?: {index: number; state: string}[]}[];
    };
    expect(coded.ok).toBe(false);
    for (const gpu of coded.hosts.flatMap((host) => host.gpus ?? []))
      if (fault.kind !== 'gpu-fault' || gpu.index === 0) expect(gpu.state).toBe('unknown');
  });

  test('cannot tell makes no plan that promises free GPUs', async () => {
    lab.setFault({kind: 'failed'});
    const answer = await bench.run('reclaim', HOST, 'match=vllm');
    expect([3, 5]).toContain(answer.code);
    expect(answer.out).not.toMatch(/After: [1-9]/);
  });
});
