/** What is news between two reports, and what one more look means for a schedule that waits. */
import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {type HostReport, hostState, type SeenHost, seenHost, worstFirst} from '../../src/domain/host-report.ts';
import {changesBetween} from '../../src/domain/report-changes.ts';
import {howEnded, pin, watchIdle} from '../../src/domain/watch.ts';
import {changeLine} from '../../src/report/fleet-report.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aGpu,
  aProcess,
  aProgram,
  aSnapshot,
  billed,
  HOST,
  holds,
  MACHINE,
  PLAIN_ZOMBIE,
  ZOMBIE_LEADER,
} from '../doubles/build.ts';

const TOLERANCE = 64;
const job = (pid: number, MiB: Readonly<Record<number, number>>) => billed(aProcess({pid}), MiB);
const ghost = (deadMiB: number) => ({
  seen: [holds(aProcess({pid: 700, ppid: 1}), [0])],
  change: {used: [deadMiB + 4, 4], charges: [aDeadCharge(650, 0, deadMiB)]},
});

function seen(snapshot: ReturnType<typeof aSnapshot>): SeenHost {
  return seenHost(aDiagnosis(snapshot));
}

const CLEAN = seen(aSnapshot([], {used: [4, 4]}));
const BUSY = seen(aSnapshot([job(500, {0: 9_000})], {used: [9_004, 4]}));
const failed = (reason: 'link-lost' | 'too-many-sessions'): HostReport => ({
  state: 'failed',
  host: HOST,
  failure: reason === 'link-lost' ? {reason, host: HOST, mayHaveActed: false} : {reason, host: HOST},
});
const GONE: HostReport = {state: 'gone', host: HOST};

function lines(before: HostReport, now: HostReport): readonly string[] {
  return changesBetween([before], [now], TOLERANCE).map(changeLine);
}

describe('news', () => {
  it.each<[string, HostReport, HostReport, readonly string[]]>([
    ['nothing', BUSY, BUSY, []],
    [
      'somebody took a GPU',
      CLEAN,
      BUSY,
      ['gpu-07 GPU 0: clean → occupied', 'gpu-07: new: PID 500 train.py (in use, 9,000 MiB on GPU 0)'],
    ],
    [
      'and let go of it',
      BUSY,
      CLEAN,
      ['gpu-07 GPU 0: occupied → clean', 'gpu-07: gone: PID 500 train.py (in use, 9,000 MiB on GPU 0)'],
    ],
    ['who lives on only uses more', BUSY, seen(aSnapshot([job(500, {0: 50_000})], {used: [50_004, 4]})), []],
    [
      'more is unexplained',
      seen(aSnapshot([], {used: [5_000, 4]})),
      seen(aSnapshot([], {used: [9_000, 4]})),
      ['gpu-07 GPU 0: unexplained 5,000 → 9,000 MiB'],
    ],
    ['within the tolerance', seen(aSnapshot([], {used: [5_000, 4]})), seen(aSnapshot([], {used: [5_060, 4]})), []],
    [
      'another process of the same number',
      BUSY,
      seen(aSnapshot([billed(aProcess({pid: 500, startTicks: '99999'}), {0: 9_000})], {used: [9_004, 4]})),
      [
        'gpu-07: new: PID 500 train.py (in use, 9,000 MiB on GPU 0)',
        'gpu-07: gone: PID 500 train.py (in use, 9,000 MiB on GPU 0)',
      ],
    ],
    [
      'a reboot',
      BUSY,
      seen(aSnapshot([job(500, {0: 9_000})], {used: [9_004, 4], machine: {...MACHINE, bootId: 'boot-2'}})),
      [
        'gpu-07: was rebooted; processes of the boot before are gone',
        'gpu-07: new: PID 500 train.py (in use, 9,000 MiB on GPU 0)',
        'gpu-07: gone: PID 500 train.py (in use, 9,000 MiB on GPU 0)',
      ],
    ],
    ['a GPU that fell off the bus', CLEAN, seen(aSnapshot([], {used: [4]})), ['gpu-07 GPU 1: is not seen any more']],
    [
      'a GPU that came',
      seen(aSnapshot([], {used: [4]})),
      CLEAN,
      ['gpu-07 GPU 1: there is a GPU that was not seen before'],
    ],
    ['cut off', CLEAN, failed('link-lost'), ['gpu-07: answers → could not be looked at']],
    ['cut off still', failed('link-lost'), failed('link-lost'), []],
    [
      'cut off otherwise',
      failed('link-lost'),
      failed('too-many-sessions'),
      ['gpu-07: could not be looked at → could not be looked at, for another reason'],
    ],
    ['back', failed('link-lost'), CLEAN, ['gpu-07: could not be looked at → answers']],
    ['out of the hosts file', CLEAN, GONE, ['gpu-07: answers → out of the hosts file']],
  ])('%s', (_, before, now, expected) => {
    expect(lines(before, now)).toEqual(expected);
  });

  it('is who joined and who left a group; a first report has none', () => {
    const other: HostReport = {...CLEAN, host: hostName('gpu-08')};
    expect(changesBetween([CLEAN], [other], TOLERANCE).map(changeLine)).toEqual([
      'gpu-08: is among the hosts now',
      'gpu-07: is no longer among the hosts',
    ]);
    expect(changesBetween(null, [BUSY], TOLERANCE)).toEqual([]);
  });

  it('leaves daemons out, and a host is as bad as its worst GPU', () => {
    const daemon = aProgram('/usr/bin/nvidia-persistenced', {
      pid: 400,
      ppid: 1,
      uid: 0,
      cgroups: ['/system.slice/nvidia-persistenced.service'],
    });
    const {seen: who, change} = ghost(9_000);
    const dirty = seen(aSnapshot([...who, holds(daemon, [0, 1])], change));
    expect(dirty.holders.map(({pid}) => pid)).toEqual([700]);
    const named = (state: HostReport, name: string): HostReport => ({...state, host: hostName(name)});
    const all = [named(CLEAN, 'a'), named(GONE, 'b'), named(BUSY, 'c'), named(dirty, 'd'), named(CLEAN, '0')];
    expect(worstFirst(all).map((one) => `${one.host} ${hostState(one)}`)).toEqual([
      'd dirty',
      'b unseen',
      'c occupied',
      '0 clean',
      'a clean',
    ]);
    expect(hostState(seen(aSnapshot([], {gpus: []})))).toBe('unknown');
  });
});

describe('the exit of a process', () => {
  const look = (...processes: readonly ReturnType<typeof aProcess>[]) => aSnapshot(processes);
  const first = pin(look(aProcess({pid: 500})), 500, () => 'train.py');
  if (first === null) throw new Error('it is there');

  it.each([
    ['is there', look(aProcess({pid: 500})), null],
    ['has ended', look(), 'gone'],
    ['is a plain zombie: dead, and only not asked for', look(aProcess({pid: 500, ...PLAIN_ZOMBIE})), 'gone'],
    ['lives on in other threads', look(aProcess({pid: 500, ...ZOMBIE_LEADER})), null],
    ['gave its number to another', look(aProcess({pid: 500, startTicks: '77'})), 'replaced'],
    [
      'did not outlive a reboot, whatever has its number',
      aSnapshot([aProcess({pid: 500})], {machine: {...MACHINE, bootId: 'b'}}),
      'reboot',
    ],
  ] as const)('%s', (_, now, expected) => {
    expect(howEnded(first, now)).toBe(expected);
  });

  it('cannot be waited for where there is none', () => {
    expect(pin(look(), 500, () => '')).toBeNull();
    expect(pin(look(aProcess({pid: 500, ...PLAIN_ZOMBIE})), 500, () => '')).toBeNull();
  });
});

describe('idle', () => {
  const START = {kind: 'idle', sinceMs: null, lastLookMs: null, seen: ''} as const;
  const GAP = 180_000;
  const quiet = aSnapshot([job(500, {0: 9_000})], {used: [9_004, 4]});
  const percent = (value: number) =>
    aSnapshot([job(500, {0: 9_000})], {gpus: [aGpu(0, 9_004, {utilizationPercent: {known: true, value}}), aGpu(1)]});

  it.each([
    ['an unbroken row counts from its first look', [quiet, quiet, quiet], 60_000, 0],
    ['work in between begins it anew', [quiet, percent(3), quiet], 60_000, 120_000],
    ['another bill is work', [quiet, aSnapshot([job(500, {0: 9_100})], {used: [9_104, 4]})], 60_000, 60_000],
    ['a failed look is no idle GPU', [quiet, null, quiet], 60_000, 120_000],
    ['nor is a figure that is missing', [quiet, percent(Number.NaN)], 60_000, null],
    ['a gap, when nobody looked, begins it anew', [quiet, quiet], 200_000, 200_000],
    ['a host without a GPU is never idle', [aSnapshot([], {gpus: []})], 60_000, null],
  ] as const)('%s', (_, looks, stepMs, since) => {
    let watch: Parameters<typeof watchIdle>[0] = START;
    for (const [nth, look] of looks.entries()) watch = watchIdle(watch, [look], nth * stepMs, GAP);
    expect(watch.sinceMs).toBe(since);
  });

  it('needs every host', () => {
    expect(watchIdle(START, [quiet, percent(1)], 5, GAP).sinceMs).toBeNull();
    expect(watchIdle(START, [quiet, quiet], 5, GAP).sinceMs).toBe(5);
    expect(watchIdle(START, [], 5, GAP).sinceMs).toBeNull();
  });
});
