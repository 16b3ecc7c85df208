/** A store that cannot be written: one sentence, its own exit status, and above all no signal. */
import {spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import * as species from '../../src/playground/lab/species.ts';
import {received} from '../../src/playground/story/verdict.ts';
import {makeBench, planned, refusal, startHost} from './bench.ts';

const HOST = 'gpu-07';
const lab = await startHost(HOST, 1);
const bench = makeBench({[HOST]: lab});
const target = await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));
const isRoot = process.getuid?.() === 0;
const mounts = isRoot && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0;

/** Runs shell text with `$store` on a small file system of its own, and `run` as the program. */
function onSmallDisk(options: string, text: string): {readonly code: number | null; readonly out: string} {
  const store = join(bench.folder, 'small');
  mkdirSync(store, {recursive: true});
  const script = `set -u
    mount -t tmpfs -o ${options} small "$store"
    run() { "$node" "$main" "$@" 2>&1; }
    ${text}`;
  const [node = '', main = ''] = bench.argv;
  const done = spawnSync('unshare', ['-m', 'sh', '-c', script], {
    encoding: 'utf8',
    env: {...bench.env, GPU_RECLAIM_DB: join(store, 'runs.db'), store, node, main},
  });
  return {code: done.status, out: done.stdout + done.stderr};
}

describe('a store', () => {
  afterAll(async () => {
    await lab.stop();
    bench.remove();
  });

  test('whose path is a directory is refused', async () => {
    const path = join(bench.folder, 'directory.db');
    mkdirSync(path);
    expect(await refusal(bench, ['reclaim', HOST, 'match=vllm'], {GPU_RECLAIM_DB: path})).toEqual({
      code: 7,
      reason: 'store-unwritable',
      sentence: expect.stringMatching(/directory\.db cannot be written \(not a file\), so nothing was sent/),
    });
  });

  test('whose folder is a file is refused', async () => {
    const path = join(bench.folder, 'plain');
    writeFileSync(path, '');
    expect(await refusal(bench, ['reclaim', HOST], {GPU_RECLAIM_DB: join(path, 'runs.db')})).toMatchObject({
      code: 7,
      reason: 'store-unwritable',
    });
  });

  test('that is no database is refused', async () => {
    const path = join(bench.folder, 'diary.db');
    writeFileSync(path, 'dear diary, '.repeat(500));
    expect(await refusal(bench, ['runs'], {GPU_RECLAIM_DB: path})).toMatchObject({code: 7, reason: 'store-unreadable'});
  });

  test.skipIf(isRoot)(
    'in a folder that we may not write is refused (needs an ordinary user: root may write anywhere)',
    async () => {
      const folder = join(bench.folder, 'locked');
      mkdirSync(folder);
      chmodSync(folder, 0o500);
      const refused = await refusal(bench, ['reclaim', HOST], {GPU_RECLAIM_DB: join(folder, 'runs.db')});
      expect(refused).toMatchObject({code: 7, reason: 'store-unwritable'});
    },
  );

  test.skipIf(!mounts)('on a file system that is read-only is refused (needs root and mount)', () => {
    const answer = onSmallDisk('ro,size=1m', `run reclaim ${HOST} match=vllm`);
    expect(answer).toMatchObject({
      code: 7,
      out: expect.stringMatching(/^The store \S+ cannot be written .*nothing was sent/),
    });
  });

  test.skipIf(!mounts)('on a disk that is full from the start is refused (needs root and mount)', () => {
    const answer = onSmallDisk('size=64k', `head -c 60k /dev/zero > "$store/filler"; run reclaim ${HOST} match=vllm`);
    expect(answer).toMatchObject({
      code: 7,
      out: expect.stringMatching(/^The store \S+ cannot be written .*nothing was sent/),
    });
  });

  test.skipIf(!mounts)(
    'whose disk fills up between the plan and its go: nothing is sent (needs root and mount)',
    () => {
      const answer = onSmallDisk(
        'size=4m',
        `plan=$(run reclaim ${HOST} match=vllm); confirm=$(printf '%s\\n' "$plan" | sed -n 's/.*--confirm //p')
       echo "planned $confirm"
       cat /dev/zero > "$store/filler" 2>/dev/null
       run reclaim ${HOST} --confirm "$confirm"`,
      );
      expect(answer.out).toMatch(/^planned 1:gpu-07:/);
      expect(answer).toMatchObject({code: 7, out: expect.stringMatching(/The store \S+ cannot be written/)});
    },
  );

  test('that was refused has sent nothing', async () => {
    expect(await received(lab)).toEqual([]);
    expect(await lab.alive(target.pid)).toBe(true);
  });

  test('that is there has room for the next plan', async () => {
    expect(await planned(bench, HOST, 'match=vllm')).toMatch(/^1:gpu-07:/);
  });
});
