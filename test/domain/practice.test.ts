import {describe, expect, it} from 'vitest';
import {refusePractice, STAND_IN_GPU} from '../../src/domain/practice.ts';
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
