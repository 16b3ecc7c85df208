/** What the host's own tools know of an owner stands on the card; a tool that hangs or is not there costs nothing else. */
import {chmodSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {Lab} from '../../src/playground/lab/lab.ts';
import * as species from '../../src/playground/lab/species.ts';
import {lastRun} from '../../src/playground/story/play.ts';
import {type Bench, makeBench, startHost} from './bench.ts';

const HOST = 'gpu-07';
const ID = 'c0ffee'.padEnd(64, '0');
let lab: Lab;
let bench: Bench;
let pid: number;

/** Where the lab's own stand-in for nvidia-smi is: first on the path of every look. */
function standIn(body: string): void {
  const path = join(lab.folder, 'bin', 'docker');
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

async function card(): Promise<string> {
  const shown = await bench.run('reclaim', HOST, 'match=vllm', 'dry-run');
  return `${shown.out}${shown.err}`.replaceAll(/\s+/g, ' ');
}

beforeAll(async () => {
  lab = await startHost(HOST, 1);
  bench = makeBench({[HOST]: lab});
  if (lab.features.has('containers')) ({pid} = await lab.spawn(species.contained([{gpu: 0, MiB: 700}], ID)));
});
afterAll(async () => {
  await lab?.stop();
  bench?.remove();
});

test('a container that its runtime would start again is shown so, with the setting that says it', async (context) => {
  if (!lab.features.has('containers')) context.skip('needs a control group of its own');
  standIn(
    `printf 'Id ${ID}\\nName /inf-server\\nStatus running\\nStartedAt 2026-12-01T11:00:00Z\\nRestart always\\nRestartCount 3\\n'`,
  );
  expect(await card()).toContain(`stop: docker stop ${ID.slice(0, 12)} · starts it again`);
  const planned = (await lastRun(bench)).events.find((event) => event.kind === 'planned');
  expect(planned).toMatchObject({
    plan: {
      targets: [],
      kept: expect.arrayContaining([
        expect.objectContaining({
          pid,
          why: 'contained',
          owners: [
            expect.objectContaining({
              kind: 'docker',
              restarts: 'yes',
              facts: expect.objectContaining({
                title: 'inf-server',
                setting: 'restart policy always',
                run: '2026-12-01T11:00:00Z',
                restartCount: 3,
              }),
            }),
          ],
        }),
      ]),
    },
  });
});

test.for([
  ['hangs', 'while :; do sleep 1000; done'],
  ['fails', 'echo "Cannot connect to the Docker daemon" >&2; exit 1'],
])('a tool that %s leaves it at "may", and the plan as it is', async ([, body = ''], context) => {
  if (!lab.features.has('containers')) context.skip('needs a control group of its own');
  standIn(body);
  expect(await card()).toContain(`stop: docker stop ${ID.slice(0, 12)} · may start it again`);
});
