/** What does not read is refused in one sentence, in words and as JSON, and nothing is done. */
import {afterAll, describe, expect, test} from 'vitest';
import * as species from '../../src/playground/lab/species.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';
import {makeBench, refusal, startHost} from './bench.ts';

const lab = await startHost('gpu-07', 2);
const bench = makeBench({'gpu-07': lab});
bench.setHosts({
  'gpu-07': bench.entryOf(lab),
  'gpu-08': {...bench.entryOf(lab), port: 1},
  'gpu-09': {...bench.entryOf(lab), address: 'localhost', mode: 'observe'},
});
await lab.spawn(species.workload([{gpu: 0, MiB: 900}]));

describe('a command that does not read', () => {
  afterAll(async () => {
    // The witness has the last word: no refused command reached a process.
    expect(receivedSignals(await lab.witness())).toEqual([]);
    await lab.stop();
    bench.remove();
  });

  const cases: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    ['an unknown verb, with the nearest one', ['reclam', 'gpu-07'], 'verb-unknown', /"reclam".*"reclaim"/],
    ['an unknown host, with the nearest ones', ['reclaim', 'gpu-7'], 'host-unknown', /"gpu-7".*"gpu-07"/],
    ['an address instead of a name', ['reclaim', '127.0.0.1'], 'host-is-address', /address.*gpu-07/],
    ['a login instead of a name', ['probe', 'root@gpu-07'], 'host-is-address', /address/],
    ['two hosts where one is meant', ['reclaim', 'gpu-07', 'gpu-08'], 'one-host-only', /gpu-07, gpu-08/],
    ['a GPU range that runs backwards', ['reclaim', 'gpu-07', 'gpus=3-0'], 'argument-bad', /gpus=3-0.*0-3/],
    ['a GPU that the host lacks', ['reclaim', 'gpu-07', 'gpus=0-3'], 'gpu-absent', /no GPU 2.*0-1/],
    ['a grace without a unit', ['reclaim', 'gpu-07', 'grace=30'], 'argument-bad', /grace=30.*30s/],
    ['a match of two characters', ['reclaim', 'gpu-07', 'match=py'], 'argument-bad', /match=py.*3 to 200/],
    [
      'an unknown argument, with the nearest one',
      ['reclaim', 'gpu-07', 'gups=0'],
      'argument-unknown',
      /"gups".*"gpus"/,
    ],
    ['an unknown option, with the nearest one', ['reclaim', 'gpu-07', '--confrim=x'], 'argument-unknown', /--confirm/],
    ['an option without its value', ['reclaim', 'gpu-07', '--confirm'], 'argument-bad', /--confirm/],
    ['a word too many', ['pause', 'gpu-07'], 'argument-unknown', /"gpu-07"/],
    ['an argument where none belongs', ['diagnose', 'gpu-07', 'gpus=0'], 'argument-unknown', /"gpus/],
    ['a run that does not exist', ['show', 'ffff'], 'run-unknown', /"ffff"/],
    ['a confirmation of no known form', ['reclaim', 'gpu-07', '--confirm', 'yes'], 'argument-bad', /COUNT:HOST:DIGEST/],
    [
      'a confirmation for another host',
      ['reclaim', 'gpu-07', '--confirm', '1:gpu-08:abcd0123'],
      'argument-bad',
      /confirm/,
    ],
    [
      'a dry run that is confirmed',
      ['reclaim', 'gpu-07', 'dry-run', '--confirm', '1:gpu-07:abcd0123'],
      'argument-unknown',
      /dry-run/,
    ],
    ['a transcript that is not there', ['diagnose', '--from', '/nowhere/x.json'], 'transcript-unreadable', /\/nowhere/],
  ];
  test.concurrent.each(cases)('%s', async (_name, words, reason, sentence) => {
    expect(await refusal(bench, words)).toEqual({code: 2, reason, sentence: expect.stringMatching(sentence)});
  });

  test('a host in observe mode is looked at and never signalled', async () => {
    expect(await refusal(bench, ['reclaim', 'gpu-09', 'match=vllm'])).toEqual({
      code: 6,
      reason: 'host-observe-only',
      sentence: expect.stringMatching(/gpu-09 is in observe mode/),
    });
    expect((await bench.run('status', 'gpu-09')).code).toBe(0);
    expect((await bench.run('reclaim', 'gpu-09', 'dry-run')).code).toBe(0);
  });

  test.each([[['help']], [['reclaim', 'gpu-07', '--help']], [[]]])('%j shows what may be typed', async (words) => {
    expect(await bench.run(...words)).toMatchObject({code: 0, out: expect.stringMatching(/gpu-reclaim reclaim HOST/)});
  });

  test('a go without a plan that waits', async () => {
    expect(await refusal(bench, ['reclaim', 'gpu-08', '--confirm', '1:gpu-08:abcd0123'])).toEqual({
      code: 6,
      reason: 'nothing-pending',
      sentence: expect.stringMatching(/No plan waits/),
    });
  });
});
