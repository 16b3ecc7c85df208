import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {readStatus} from '../../src/domain/looks-words.ts';
import {refusePractice, STAND_IN_GPU} from '../../src/domain/practice.ts';
import {chosenHosts} from '../../src/domain/report-words.ts';
import {aGpu, aHost, aSnapshot} from '../doubles/build.ts';

describe('a host that is marked as practice', () => {
  const marked = aHost({practice: true});
  it.each<[string, readonly string[], string | null]>([
    ['a lab', [STAND_IN_GPU, STAND_IN_GPU], null],
    ['a real host with the mark', ['NVIDIA H200'], 'NVIDIA H200'],
    ['one real GPU among stand-ins', [STAND_IN_GPU, 'NVIDIA H200'], 'NVIDIA H200'],
    ['a name that only begins like one', [`${STAND_IN_GPU} 2`], `${STAND_IN_GPU} 2`],
  ])('%s', (_, names, real) => {
    const gpus = names.map((name, index) => aGpu(index, 4, {name}));
    const refused = refusePractice(marked, aSnapshot([], {gpus}));
    expect(refused).toEqual(real === null ? null : {reason: 'not-a-practice-host', host: marked.name, gpu: real});
  });

  it('shows no GPU: nothing proves that it is a lab', () => {
    expect(refusePractice(marked, aSnapshot([], {gpus: []}))).toMatchObject({reason: 'not-a-practice-host', gpu: null});
  });

  it('is asked of nobody else', () => {
    expect(refusePractice(aHost(), aSnapshot([], {gpus: [aGpu(0, 4, {name: 'NVIDIA H200'})]}))).toBeNull();
  });
});

describe('a host for drills is no part of the fleet', () => {
  const real = aHost({name: hostName('gpu-07'), groups: ['h200']});
  const drill = aHost({name: hostName('practice-1'), groups: [], practice: true});
  const named = (words: readonly string[], known = [real, drill]) => {
    const read = readStatus(words, known);
    return read.ok ? read.value.map(({name}) => name) : read.failure.reason;
  };

  it.each<[string, readonly string[], readonly string[]]>([
    ['no host named', [], ['gpu-07']],
    ['all', ['all'], ['gpu-07']],
    ['by its name', ['practice-1'], ['practice-1']],
    ['by a pattern that fits it', ['practice-*'], ['practice-1']],
    ['beside all', ['all', 'practice-1'], ['gpu-07', 'practice-1']],
  ])('%s', (_, words, names) => expect(named(words)).toEqual(names));

  it('unless there is nothing else', () => expect(named([], [drill])).toEqual(['practice-1']));

  it('in a report about all, either; named, it is in', () => {
    const known = [real, drill];
    expect(chosenHosts([{kind: 'all'}], known).map(({name}) => name)).toEqual(['gpu-07']);
    const both = chosenHosts([{kind: 'all'}, {kind: 'host', name: drill.name}], known);
    expect(both.map(({name}) => name)).toEqual(['gpu-07', 'practice-1']);
  });
});
