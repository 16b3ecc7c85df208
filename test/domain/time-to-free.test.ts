/** T50 and T100 per GPU, and what kept a GPU from them. */
import {describe, expect, it} from 'vitest';
import type {Plan} from '../../src/domain/plan.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {timeToFree} from '../../src/domain/time-to-free.ts';
import {timeToFreeLines} from '../../src/report/time-to-free-lines.ts';
import {aPlan, aRun, aSnapshot, aTarget, MACHINE, uuidOf} from '../doubles/build.ts';

/** Uptime of the last signal; the look before it was at 500,000. */
const SIGNAL = 600_000;
const AT = 1_700_000_000_000;

function planOver(gpus: readonly number[], change: Partial<Plan> = {}): Plan {
  return aPlan({
    targets: gpus.map((gpu) => aTarget({pid: 500 + gpu, gpuUuids: [uuidOf(gpu)]})),
    gpus: gpus.map((index) => ({
      gpuUuid: uuidOf(index),
      index,
      requested: true,
      beforeMiB: 80_000,
      totalMiB: 143_771,
      likelyAfterMiB: 4,
      afterAtMostMiB: 300,
    })),
    ...change,
  });
}

function memory(afterMs: number, ...usedMiB: readonly (number | null)[]): RunEvent {
  const known = usedMiB.flatMap((MiB, gpu) => (MiB === null ? [] : [[uuidOf(gpu), MiB]]));
  return {kind: 'memory', atMs: AT, uptimeMs: SIGNAL + afterMs, usedMiB: Object.fromEntries(known)};
}

function settled(how: Extract<RunEvent, {kind: 'settled'}>['how'], afterMs: number): RunEvent {
  return {kind: 'settled', atMs: AT, how, uptimeMs: SIGNAL + afterMs};
}

function gone(pid: number, afterMs: number): RunEvent {
  return {kind: 'seen', atMs: AT, pid, observation: 'gone', uptimeMs: SIGNAL + afterMs};
}

function signal(pid: number, uptimeMs: number, result: 'sent' | 'gone' = 'sent'): readonly RunEvent[] {
  const identity = {pid, startTicks: String(pid * 10), uid: 1000, executable: '2049:20'};
  return [
    {
      kind: 'signal-intended',
      atMs: AT,
      rung: 1,
      identities: [identity],
      signal: 'SIGKILL',
      machine: MACHINE,
      notAfterUptimeMs: SIGNAL + 10_000,
    },
    {kind: 'signal-result', atMs: AT, rung: 1, pid, signal: 'SIGKILL', result, detail: '', uptimeMs},
  ];
}

function runWith(plan: Plan, used: readonly number[], ...events: readonly RunEvent[]): Run {
  return aRun(
    {kind: 'surveyed', atMs: AT, snapshot: aSnapshot([], {used})},
    {kind: 'planned', atMs: AT, plan, digest: 'd', expiresAtMs: AT},
    ...events,
  );
}

const one = planOver([0]);
const KILL = signal(500, SIGNAL);

describe('time to free', () => {
  it.each<readonly [string, readonly RunEvent[], object, string]>([
    [
      'is the first sample at half, and the first at what the others explain',
      [memory(60, 80_000), memory(90, 39_000), memory(140, 20_000), memory(190, 200), settled('expected', 190)],
      {how: 'free', fromMiB: 80_000, lastMiB: 200, halfMs: 90, allMs: 190},
      'GPU 0: half after 90 ms, all after 0.2 s',
    ],
    [
      'is both at the first sample where that shows it all',
      [memory(83, 0), settled('expected', 83)],
      {how: 'free', halfMs: 83, allMs: 83},
      'GPU 0: half and all after 83 ms',
    ],
    [
      'takes for half what was half of what had to go, not half of all',
      [memory(100, 40_150), memory(200, 40_149), settled('timed-out', 300)],
      {how: 'still-falling', halfMs: 100, allMs: null},
      'GPU 0: half after 0.1 s, still falling at 40,149 MiB when the time was over',
    ],
    [
      'takes the level that the watch knew where the others grew since the plan',
      [memory(100, 5_000), settled('expected', 100)],
      {how: 'free', allMs: 100},
      'GPU 0: half and all after 0.1 s',
    ],
    [
      'is none where the memory stalled above its level',
      [memory(100, 30_000), settled('stalled', 10_100)],
      {how: 'stalled', halfMs: 100, allMs: null},
      'GPU 0: half after 0.1 s, stalled at 30,000 MiB',
    ],
    [
      'calls stalled what had stopped falling long before the time was over',
      [memory(100, 70_000), settled('timed-out', 120_000)],
      {how: 'stalled', halfMs: null, allMs: null},
      'GPU 0: stalled at 70,000 MiB',
    ],
    [
      'believes the watch that it stalled, whose hundredths are rounded',
      [memory(100, 30_000), settled('stalled', 10_090)],
      {how: 'stalled', allMs: null},
      'GPU 0: half after 0.1 s, stalled at 30,000 MiB',
    ],
    [
      'calls stalled what only grew',
      [memory(110_000, 80_000), memory(115_000, 80_001), settled('timed-out', 120_000)],
      {how: 'stalled', halfMs: null, allMs: null},
      'GPU 0: stalled at 80,001 MiB',
    ],
    [
      'is not claimed where nothing was sampled after the signal',
      [memory(-50, 70_000), settled('unreadable', 10_000)],
      {how: 'not-seen', lastMiB: null, halfMs: null, allMs: null},
      'GPU 0: not watched to its end',
    ],
    [
      'is not claimed where nvidia-smi fell silent on the way',
      [memory(100, 70_000), settled('unreadable', 10_000)],
      {how: 'not-seen', allMs: null},
      'GPU 0: not watched to its end',
    ],
    [
      'is not claimed where the link was lost on the way',
      [memory(100, 70_000)],
      {how: 'not-seen', allMs: null},
      'GPU 0: not watched to its end',
    ],
    [
      'counts from the last sample before the signal where there is one',
      [memory(-1_000, 50_000), memory(100, 26_000), memory(200, 100), settled('expected', 200)],
      {how: 'free', fromMiB: 50_000, halfMs: 200, allMs: 200},
      'GPU 0: half and all after 0.2 s',
    ],
    [
      'is none of the last signal’s where its target had ended before',
      [gone(500, -5_000), memory(100, 0), settled('expected', 100)],
      {how: 'earlier', halfMs: null, allMs: null},
      'GPU 0: ended before the last signal',
    ],
  ])('%s', (_what, events, expected, line) => {
    const run = runWith(one, [80_000], ...KILL, ...events);
    expect(timeToFree(run)).toMatchObject([expected]);
    expect(timeToFreeLines(run)).toEqual([line]);
  });

  it('has nothing to say without a signal that went out, or of a GPU that had nothing to give', () => {
    expect(timeToFree(runWith(one, [80_000], memory(1, 0)))).toEqual([]);
    expect(timeToFree(runWith(one, [80_000], ...signal(500, SIGNAL, 'gone'), memory(1, 0)))).toEqual([]);
    expect(timeToFree(runWith(one, [280], ...KILL, memory(1, 0)))).toEqual([]);
    expect(timeToFree(aRun())).toEqual([]);
  });

  it('leaves out the GPUs of nobody who was signalled', () => {
    const plan = {...planOver([0, 1]), targets: [aTarget({pid: 500})]};
    const times = timeToFree(runWith(plan, [80_000, 80_000], ...KILL, memory(9, 0, 0), settled('expected', 9)));
    expect(times.map((time) => time.index)).toEqual([0]);
  });

  it('says nothing of halves where nobody knows what should stay', () => {
    const plan = planOver([0], {gpus: planOver([0]).gpus.map((gpu) => ({...gpu, afterAtMostMiB: null}))});
    const stalled = runWith(plan, [80_000], ...KILL, memory(100, 20_000), settled('stalled', 10_100));
    expect(timeToFree(stalled)).toMatchObject([{how: 'stalled', halfMs: null, allMs: null, lastMiB: 20_000}]);
    const met = runWith(plan, [80_000], ...KILL, memory(100, 20_000), settled('expected', 10_100));
    expect(timeToFree(met)).toMatchObject([{how: 'free', allMs: 100}]);
  });
});

describe('many GPUs', () => {
  const plan = planOver([0, 1, 2, 3]);
  it('that came back are one line, from the fastest to the slowest', () => {
    const run = runWith(
      plan,
      [80_000, 80_000, 80_000, 80_000],
      ...KILL,
      memory(80, 30_000, 80_000, 80_000, 80_000),
      memory(250, 0, 0, 0, 40_000),
      memory(320, 0, 0, 0, 0),
      settled('expected', 320),
    );
    expect(timeToFreeLines(run)).toEqual(['GPU 0-3: half after 80 ms to 0.3 s, all after 0.3 s']);
  });

  it('that did not are told apart from those that did, and from each other', () => {
    const run = runWith(
      plan,
      [80_000, 80_000, 80_000, 80_000],
      ...KILL,
      memory(80, 0, 70_000, 70_000, null),
      memory(119_000, 0, 70_000, 60_000, null),
      settled('timed-out', 120_000),
    );
    expect(timeToFreeLines(run)).toEqual([
      'GPU 0: half and all after 80 ms',
      'GPU 2: still falling at 60,000 MiB when the time was over',
      'GPU 1: stalled at 70,000 MiB',
      'GPU 3: not watched to its end',
    ]);
  });
});
