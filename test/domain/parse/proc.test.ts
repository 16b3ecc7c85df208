import {describe, expect, it} from 'vitest';
import {parseStat} from '../../../src/domain/parse/proc-stat.ts';
import {parseStatus} from '../../../src/domain/parse/proc-status.ts';

const stat = (comm: string): string =>
  `490 (${comm}) S 416 491 492 0 -1 4194560 8556 0 0 0 5 31 0 0 20 0 3 0 2472 18222829568 30514 18446744073709551615\n`;

describe('a stat line', () => {
  it.each([
    'python3',
    'x) R 1 1\n(y',
    ') Z 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    '',
    'a b',
    '((((',
    'VLLM::Worker_TP',
  ])('ends the name %j at the last parenthesis', (comm) => {
    expect(parseStat(stat(comm))).toEqual({
      pid: 490,
      comm,
      state: 'S',
      ppid: 416,
      processGroup: 491,
      session: 492,
      kernelThread: false,
      cpuTicks: '36',
      threads: 3,
      startTicks: '2472',
    });
  });

  it('knows a kernel thread by its flag, not by brackets', () => {
    expect(parseStat(stat('kworker').replace('4194560', '2129984'))?.kernelThread).toBe(true);
    expect(parseStat(stat('[nvidia]'))?.kernelThread).toBe(false);
  });

  it.each(['', '490', '490 (x', '490 (x) S 1 2', 'a (x) S', stat('x').replace('2472', 'abc')])(
    'is no stat line: %j',
    (text) => expect(parseStat(text)).toBeNull(),
  );
});

describe('status lines', () => {
  it('takes the effective uid, and joins what is pending for the thread and for the process', () => {
    expect(
      parseStatus([
        'Uid:\t1000\t1001\t1002\t1003',
        'SigPnd:\t0000000000000001',
        'ShdPnd:\t0000000000004000',
        'SigBlk:\t0000000000000000',
        'SigIgn:\t0000000000004000',
        'SigCgt:\t0000000100000000',
      ]),
    ).toEqual({
      uid: 1001,
      blocked: '0000000000000000',
      ignored: '0000000000004000',
      caught: '0000000100000000',
      pending: '0000000000004001',
    });
  });

  it('says nothing of what was not there', () => {
    expect(parseStatus([])).toEqual({uid: null, blocked: '', ignored: '', caught: '', pending: ''});
    expect(parseStatus(['Uid:\tx', 'SigIgn:\tzz']).uid).toBeNull();
  });
});
