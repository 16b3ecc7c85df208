/** What people type, good and bad; each bad input comes back in a sentence with the way out. */
import {describe, expect, it} from 'vitest';
import {readVerb} from '../../src/domain/grammar/command.ts';
import {readHost} from '../../src/domain/grammar/host-words.ts';
import {readGpus} from '../../src/domain/grammar/values.ts';
import {hostName} from '../../src/domain/host.ts';
import {nearest} from '../../src/domain/nearest.ts';
import {readReclaim} from '../../src/domain/words.ts';
import {failureSentence} from '../../src/report/failure-sentence.ts';
import {ANNA, aHost, aRequest} from '../doubles/build.ts';

const KNOWN = ['gpu-07', 'gpu-08', 'lab-a'].map((name) => aHost({name: hostName(name)}));

function read(...words: readonly string[]) {
  return readReclaim(words, KNOWN, ANNA);
}

function sentence(...words: readonly string[]): string {
  const answer = read(...words);
  if (answer.ok) throw new Error('was accepted');
  return failureSentence(answer.failure);
}

describe('a reclaim', () => {
  it.each([
    [['gpu-07'], {}],
    [['GPU-07'], {}],
    [['gpu-07', 'match=vllm'], {match: 'vllm'}],
    [['match=VLLM', 'gpu-07'], {match: 'VLLM'}],
    [['gpu-07', 'MATCH=a b'], {match: 'a b'}],
    [['gpu-07', 'match=a=b'], {match: 'a=b'}],
    [['gpu-07', 'gpus=0-3,6'], {gpus: [0, 1, 2, 3, 6]}],
    [['gpu-07', 'gpus=3,1,1-2'], {gpus: [1, 2, 3]}],
    [['gpu-07', 'user=bo'], {user: 'bo'}],
    [['gpu-07', 'user=1001'], {user: '1001'}],
    [['gpu-07', 'pid=4711,4712,4711'], {pids: [4711, 4712]}],
    [['gpu-07', 'include-others', 'dry-run'], {includeOthers: true, dryRun: true}],
    [['gpu-07', 'grace=5m'], {graceMs: 300_000}],
    [['gpu-07', 'grace=0s'], {graceMs: 0}],
    [['gpu-07', 'reason= production down '], {reason: 'production down'}],
    [['gpu-07', 'reason='], {reason: null}],
  ] as const)('%j', (words, change) => {
    expect(read(...words)).toEqual({ok: true, value: aRequest(change)});
  });

  it('keeps a reason short, and whole letters', () => {
    const answer = read('gpu-07', `reason=${'🚀'.repeat(400)}`);
    expect(answer.ok && answer.value.reason).toBe('🚀'.repeat(300));
  });
});

describe('what does not read is named, with the way out', () => {
  it.each<[readonly string[], readonly string[]]>([
    [[], ['reclaim needs a host', 'gpu-07']],
    [
      ['gpu-07', 'gpu-08'],
      ['One host a run', 'gpu-07, gpu-08', 'each by itself'],
    ],
    [['gpu-7'], ['"gpu-7"', 'did you mean "gpu-07"', 'gpu-reclaim hosts']],
    [['somewhere'], ['"somewhere"', 'gpu-reclaim hosts']],
    [['10.0.0.7'], ['"10.0.0.7" is an address', 'gpu-07']],
    [['10.0.0.7:22'], ['is an address']],
    [['[fd00::7]:22'], ['is an address']],
    [['::1'], ['is an address']],
    [['root@gpu-07'], ['"root@gpu-07" is an address']],
    [
      ['gpu-07', 'match=vl'],
      ['match=vl', '3 to 200', 'match=vllm'],
    ],
    [
      ['gpu-07', 'match= v '],
      ['match=v', 'match=vllm'],
    ],
    [
      ['gpu-07', 'match='],
      ['match=', 'match=vllm'],
    ],
    [
      ['gpu-07', 'match=ab\nc'],
      ['match=', 'printable', 'match=vllm'],
    ],
    [
      ['gpu-07', `match=${'x'.repeat(201)}`],
      ['match=xxx', '3 to 200'],
    ],
    [
      ['gpu-07', 'gpus=some'],
      ['gpus=some', '0-3'],
    ],
    [
      ['gpu-07', 'gpus=3-1'],
      ['gpus=3-1', '0-3'],
    ],
    [
      ['gpu-07', 'gpus='],
      ['gpus=', '0-3'],
    ],
    [
      ['gpu-07', 'gpus=0-63,100-163'],
      ['gpus=0-63,100-163', '0-3'],
    ],
    [
      ['gpu-07', 'user=bo;id'],
      ['user=bo;id', 'user=bo'],
    ],
    [
      ['gpu-07', 'user=-bo'],
      ['user=-bo', 'user=bo'],
    ],
    [
      ['gpu-07', 'pid=0'],
      ['pid=0', 'pid=4711'],
    ],
    [
      ['gpu-07', 'pid=-1'],
      ['pid=-1', 'pid=4711'],
    ],
    [
      ['gpu-07', 'pid=1e3'],
      ['pid=1e3', 'pid=4711'],
    ],
    [
      ['gpu-07', 'grace=30'],
      ['grace=30', '30s, 5m'],
    ],
    [
      ['gpu-07', 'grace=2h'],
      ['grace=2h', 'at most 1h'],
    ],
    [
      ['gpu-07', 'dry-run=yes'],
      ['dry-run=yes', 'without a value'],
    ],
    [
      ['gpu-07', 'match=vllm', 'match=sglang'],
      ['match=sglang', 'once only'],
    ],
    [
      ['gpu-07', 'dry-run', 'dry-run'],
      ['dry-run', 'once only'],
    ],
    [
      ['gpu-07', 'gups=0'],
      ['"gups"', 'did you mean "gpus"'],
    ],
    [
      ['gpu-07', 'mach=vllm'],
      ['"mach"', 'did you mean "match"'],
    ],
    [
      ['gpu-07', '=x'],
      ['"=x"', 'no argument here'],
    ],
    [
      ['gpu-07', 'force=1'],
      ['"force"', 'no argument here'],
    ],
  ])('%j', (words, parts) => {
    const said = sentence(...words);
    for (const part of parts) expect(said).toContain(part);
    expect(said).not.toContain('\n');
  });
});

describe('single words', () => {
  it.each([
    ['reclaim', 'reclaim'],
    ['Reclaim', 'reclaim'],
    ['STATUS', 'status'],
  ])('the verb %s', (word, verb) => {
    expect(readVerb(word)).toEqual({ok: true, value: verb});
  });

  it('an unknown verb comes with the nearest and with help', () => {
    const answer = readVerb('reclam');
    expect(answer.ok ? '' : failureSentence(answer.failure)).toMatch(/"reclam".*did you mean "reclaim".*help/);
  });

  it('an address is refused even if a host of the file is called so', () => {
    expect(readHost('10.0.0.7', [hostName('10.0.0.7')])).toMatchObject({
      ok: false,
      failure: {reason: 'host-is-address'},
    });
  });

  it.each([
    ['0', [0]],
    ['7,0-1', [0, 1, 7]],
    ['255', [255]],
    ['256', null],
    ['0-64', null],
    ['1,', null],
    ['-1', null],
    ['0x1', null],
    [' 1', [1]],
  ])('GPUs %j', (text, gpus) => {
    expect(readGpus(text)).toEqual(gpus);
  });

  it.each([
    ['gpu-7', ['gpu-07', 'gpu-08'], ['gpu-07', 'gpu-08']],
    ['HEARTBEAT', ['heartbeats', 'hosts'], ['heartbeats']],
    ['keyfile', ['keyFile', 'user'], ['keyFile']],
    ['sta', ['status', 'start', 'stop'], ['status', 'start']],
    ['xyz', ['pid', 'gpus'], []],
    ['x'.repeat(5_000), ['gpus'], []],
  ])('near %j among %j', (given, known, near) => {
    expect(nearest(given, known)).toEqual(near);
  });
});
