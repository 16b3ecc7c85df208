/** To lock only to what was declared, and to unlock where nothing is: one command for all GPUs that take the same. */
import {describe, expect, it} from 'vitest';
import {clockCommands, lockedOn, NOT_DECLARED, readClockRange} from '../../src/domain/locked-clocks.ts';
import {uuidOf} from '../doubles/build.ts';

const gpus = [0, 1, 2].map((index) => ({uuid: uuidOf(index), index}));
const NOTHING = {graphics: null, memory: null};
const at = (low: number, high = low) => ({low, high});

describe('clocks that may be locked', () => {
  it.each([
    ['1410,1410', at(1410)],
    ['1410', at(1410)],
    ['1200, 1980', at(1200, 1980)],
    ['1980,1200', null],
    ['0,10', null],
    ['99999', null],
    ['1410,1410 -r', null],
    ['1410,1410,1', null],
    ['', null],
    ['-1', null],
    ['1e3', null],
  ])('%j reads as %j', (text, range) => {
    expect(readClockRange(text)).toEqual(range);
  });

  it('are unlocked where nothing is declared, by one command for several GPUs', () => {
    const commands = (whole: boolean, some = gpus) =>
      clockCommands(some, () => NOTHING, whole).map(({kind, command}) => `${kind}: ${command}`);
    expect(commands(false)).toEqual(['unlock: nvidia-smi -i 0,1,2 -rgc', 'unlock: nvidia-smi -i 0,1,2 -rmc']);
    expect(commands(true)).toEqual(['unlock: nvidia-smi -rgc', 'unlock: nvidia-smi -rmc']);
    expect(commands(true, [])).toEqual([]);
  });

  it('are named by UUID where a GPU has no number', () => {
    const [first] = clockCommands([{uuid: uuidOf(3), index: null}], () => NOTHING, false);
    expect(first?.command).toBe(`nvidia-smi -i ${uuidOf(3)} -rgc`);
  });

  it('are locked to what was declared: at the start before the GPU before the host', () => {
    const declared = {
      graphics: at(1410),
      memory: at(2619),
      byGpu: new Map([[2, {graphics: at(1200, 1980), memory: null}]]),
    };
    const told = (given = NOTHING as Parameters<typeof lockedOn>[1]) =>
      clockCommands(gpus, (index) => lockedOn(index, given, declared), true).map(({command}) => command);
    expect(told()).toEqual([
      'nvidia-smi -i 2 -lgc 1200,1980',
      'nvidia-smi -i 0,1 -lgc 1410,1410',
      'nvidia-smi -lmc 2619,2619',
    ]);
    expect(told({graphics: at(900), memory: null})).toEqual(['nvidia-smi -lgc 900,900', 'nvidia-smi -lmc 2619,2619']);
  });

  it('are locked and unlocked side by side', () => {
    const locked = (index: number | null) =>
      lockedOn(index, NOTHING, {...NOT_DECLARED, byGpu: new Map([[1, {graphics: at(1410), memory: null}]])});
    expect(clockCommands(gpus, locked, true).map(({command}) => command)).toEqual([
      'nvidia-smi -i 1 -lgc 1410,1410',
      'nvidia-smi -i 0,2 -rgc',
      'nvidia-smi -rmc',
    ]);
  });
});
