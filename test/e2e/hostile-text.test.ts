/** What a process calls itself is hostile: it never breaks a line, drives a terminal, or carries a secret out. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import * as species from '../../src/playground/lab/species.ts';
import {confirmIn, lastRun} from '../../src/playground/story/play.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {makeBench, startHost, storedText} from './bench.ts';

const HOST = 'gpu-07';
const lab = await startHost(HOST, 3);
const bench = makeBench({[HOST]: lab});
const SECRETS = ['hf_abcdefghijklmnop1234', 'sk-proj-zyxwvutsrqpo9876', 'hunter2hunter2', 'xoxb-1111-2222-abcdefgh'];
const MARKS = '\n☑ PID 1 init\n\r\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e <!channel> `rm -rf /` *bold*';

const words = await lab.spawn(
  species.workload([{gpu: 0, MiB: 700}], {
    argv: [
      'python3',
      '-m',
      `vllm.entrypoints${MARKS}`,
      '--api-key',
      SECRETS[2] ?? '',
      `--hf-token=${SECRETS[0]}`,
      `OPENAI_API_KEY=${SECRETS[1]}`,
      MARKS,
    ],
  }),
);
const title = await lab.spawn(
  species.workload([{gpu: 1, MiB: 900}], {argv: [`VLLM::Worker ${SECRETS[3]}${MARKS}`], comm: 'evil\n\u001b[31m`x`'}),
);
const innocent = await lab.spawn(species.bystander([{gpu: 2, MiB: 300}], {argv: [`python3\n☑ PID 1`, MARKS]}));

function harmless(text: string, what: string): void {
  // C0 but for the line break, DEL, C1, and marks that turn the reading direction.
  const bad = [...text].filter((one) =>
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(one),
  );
  expect(
    bad.map((one) => one.charCodeAt(0).toString(16)),
    what,
  ).toEqual([]);
  for (const secret of SECRETS) expect(text.includes(secret), `${what} holds ${secret}`).toBe(false);
  expect(text, `${what} was broken into lines`).not.toMatch(/^\s*☑ PID 1 init/m);
}

describe('hostile titles', () => {
  afterAll(async () => {
    await lab.stop();
    bench.remove();
  });

  test.each([
    [['status', HOST]],
    [['diagnose', HOST]],
    [['reclaim', HOST, 'match=\u001b[31mvllm\n']],
    [['reclaim', HOST, 'reason=\u001b[2J\n<!channel>', 'match=vllm', 'dry-run']],
    [['runs']],
  ])('come out as plain lines: %j', async (command) => {
    for (const json of [[], ['--json']]) {
      const answer = await bench.runWith({GPU_RECLAIM_LOG_LEVEL: 'debug'}, ...command, ...json);
      harmless(answer.out, `standard output of ${[...command, ...json].join(' ')}`);
      harmless(answer.err, `standard error of ${[...command, ...json].join(' ')}`);
      if (json.length > 0) JSON.parse(answer.out);
    }
  });

  test('leave no secret in a saved transcript, which still reads', async () => {
    const file = join(bench.folder, 'probe.json');
    expect((await bench.run('probe', HOST, '--out', file)).code).toBe(0);
    harmless(readFileSync(file, 'utf8'), 'the saved transcript');
    const offline = await bench.run('diagnose', '--from', file);
    expect(offline.code, offline.err).toBe(0);
    harmless(offline.out, 'diagnose --from');
    expect(offline.out).toContain(`PID ${words.pid} `);
  });

  test('do not keep a go from reaching exactly what was ticked, and the record is as harmless', async () => {
    const plan = await bench.run('reclaim', HOST, 'match=vllm');
    harmless(plan.out, 'the plan');
    const done = await bench.runWith(
      {GPU_RECLAIM_LOG_LEVEL: 'debug'},
      'reclaim',
      HOST,
      '--confirm',
      confirmIn(plan.out) ?? '',
    );
    expect(done.code, done.out + done.err).toBe(0);
    harmless(done.out + done.err, 'the run');
    const pids = (await received(lab)).map((one) => one.pid);
    expect(new Set(pids)).toEqual(new Set([words.pid, title.pid]));
    expect(await lab.alive(innocent.pid)).toBe(true);
    const {id} = await lastRun(bench);
    for (const json of [[], ['--json']]) harmless((await bench.run('show', id, ...json)).out, `show ${json.join()}`);
  });

  test('leave no secret in the store', () => {
    const stored = storedText(bench);
    expect(stored).toContain('vllm.entrypoints');
    for (const secret of SECRETS) expect(stored.includes(secret), secret).toBe(false);
  });
});
