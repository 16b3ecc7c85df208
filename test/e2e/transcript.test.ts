/** `probe HOST --out` and `diagnose --from`: the same findings with no host asked; a damaged file is refused in one sentence. */
import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {freePort} from '../../src/playground/lab/machine.ts';
import * as species from '../../src/playground/lab/species.ts';
import {makeBench, refusal, startHost} from './bench.ts';

const HOST = 'gpu-07';
const lab = await startHost(HOST, 4);
const bench = makeBench({[HOST]: lab});
const file = join(bench.folder, 'probe.json');
await lab.spawn(species.inheritor([[{gpu: 0, MiB: 9_000}], [{gpu: 1, MiB: 9_000}]]));
await lab.spawn(species.deaf([{gpu: 2, MiB: 5_000}]));
await lab.spawn(species.zombieLeader([{gpu: 3, MiB: 100}]));

/** What does not change from one look to the next. */
function findings(answer: Record<string, unknown>): unknown {
  const {gpus, holders, bootId, nvidiaSmi} = answer as {
    gpus: unknown;
    bootId: unknown;
    nvidiaSmi: unknown;
    holders: Record<string, unknown>[];
  };
  return {bootId, gpus, nvidiaSmi, holders: holders.map(({evidence: _changes, ...rest}) => rest)};
}

describe('a saved transcript', () => {
  let live: Record<string, unknown>;
  beforeAll(async () => {
    live = await bench.json('diagnose', HOST);
    const saved = await bench.run('probe', HOST, '--out', file);
    expect(saved, saved.err).toMatchObject({code: 0, out: expect.stringMatching(/diagnose --from/)});
  });
  afterAll(async () => {
    await lab.stop();
    bench.remove();
  });

  test('is its owner’s alone, and names its format and version', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({format: 'gpu-reclaim probe', version: 1, host: HOST});
  });

  test('gives the same findings as the host, with no host asked', async () => {
    bench.setHosts({[HOST]: {...bench.entryOf(lab), port: await freePort()}});
    const offline = await bench.json('diagnose', '--from', file);
    expect(findings(offline)).toEqual(findings(live));
    expect((await bench.run('diagnose', '--from', file)).out).not.toMatch(/gpu-reclaim reclaim/);
  });

  test('can be read where there is no hosts file, and makes no store there', async () => {
    const elsewhere = makeBench({});
    const offline = await elsewhere.runWith({GPU_RECLAIM_HOSTS: '/nowhere/hosts.yaml'}, 'diagnose', '--from', file);
    expect(offline.err).toBe('');
    expect(offline.out).toMatch(/^gpu-07: 4 GPUs/);
    expect(existsSync(elsewhere.databasePath)).toBe(false);
    elsewhere.remove();
  });

  type Saved = Readonly<Record<string, unknown>> & {readonly stdout: readonly string[]};
  const whole = (): Saved => JSON.parse(readFileSync(file, 'utf8')) as Saved;
  const damaged: readonly (readonly [string, () => string, RegExp])[] = [
    ['cut off in the middle of the file', () => readFileSync(file, 'utf8').slice(0, 400), /no readable transcript/],
    ['a later version', () => JSON.stringify({...whole(), version: 9}), /version 9/],
    [
      'cut off in the host’s answer',
      () => JSON.stringify({...whole(), stdout: whole().stdout.slice(0, 12)}),
      /unreadable/,
    ],
    ['garbage from the host', () => JSON.stringify({...whole(), stdout: ['\u0000\u001b[2J', 'MOTD']}), /unreadable/],
  ];
  test.each(damaged)('that is %s is refused, and nothing is taken for clean', async (name, make, sentence) => {
    const bad = join(bench.folder, `${name.replaceAll(/\W/g, '-')}.json`);
    writeFileSync(bad, make());
    const refused = await refusal(bench, ['diagnose', '--from', bad]);
    expect([2, 5]).toContain(refused.code);
    expect(refused.sentence).toMatch(sentence);
  });
});
