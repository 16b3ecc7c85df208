/** Runs that pictures are drawn of: the common one, the awkward ones, and those that are too big. */
import type {GpuChange, Outcome} from '../../src/domain/outcome.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import type {Signal} from '../../src/domain/signal.ts';
import {aPlan, aRun, aSnapshot, aTarget, MACHINE, uuidOf} from '../doubles/build.ts';

const AT = 1_700_000_000_000;
/** Uptime of the first signal. */
export const FIRST = 600_000;
export const TOTAL = 143_771;

export interface SceneGpu {
  readonly before: number | null;
  readonly after: number | null;
  readonly holder?: string;
  readonly unexplained?: number;
  readonly expected?: number;
  readonly total?: number | null;
}

export function change(gpu: SceneGpu, index: number): GpuChange {
  return {
    gpuUuid: uuidOf(index),
    index,
    beforeMiB: gpu.before,
    afterMiB: gpu.after,
    expectedMiB: gpu.expected ?? (gpu.holder === undefined ? 368 : (gpu.after ?? 0) + 368),
    requested: true,
    heldBy: gpu.holder === undefined ? [] : [{pid: 900 + index, name: gpu.holder, chargedMiB: gpu.after}],
    unexplainedMiB: gpu.unexplained ?? 0,
  };
}

/** A signal that was sent to so many processes. */
export function sent(signal: Signal, afterMs: number, pids: readonly number[], rung = 1): readonly RunEvent[] {
  const identities = pids.map((pid) => ({pid, startTicks: String(pid * 10), uid: 1000, executable: '2049:20'}));
  return [
    {kind: 'signal-intended', atMs: AT, rung, identities, signal, machine: MACHINE, notAfterUptimeMs: FIRST + 99_000},
    ...pids.map(
      (pid): RunEvent => ({
        kind: 'signal-result',
        atMs: AT,
        rung,
        pid,
        signal,
        result: 'sent',
        detail: '',
        uptimeMs: FIRST + afterMs,
      }),
    ),
  ];
}

export function memory(afterMs: number, used: readonly number[]): RunEvent {
  const usedMiB = Object.fromEntries(used.map((MiB, index) => [uuidOf(index), MiB]));
  return {kind: 'memory', atMs: AT, uptimeMs: FIRST + afterMs, usedMiB};
}

export function settled(how: Extract<RunEvent, {kind: 'settled'}>['how'], afterMs: number): RunEvent {
  return {kind: 'settled', atMs: AT, how, uptimeMs: FIRST + afterMs};
}

export function sceneRun(gpus: readonly SceneGpu[], events: readonly RunEvent[] = []): Run {
  const plan = aPlan({
    targets: gpus.flatMap((one, gpu) =>
      one.holder === 'train.py' ? [] : [aTarget({pid: 500 + gpu, gpuUuids: [uuidOf(gpu)]})],
    ),
    gpus: gpus.map((gpu, index) => ({
      gpuUuid: uuidOf(index),
      index,
      requested: true,
      beforeMiB: gpu.before,
      totalMiB: gpu.total === undefined ? TOTAL : gpu.total,
      likelyAfterMiB: 4,
      afterAtMostMiB: 368,
    })),
  });
  const used = gpus.map((gpu) => gpu.before ?? 0);
  return aRun(
    {
      kind: 'surveyed',
      atMs: AT,
      snapshot: {
        ...aSnapshot([], {used}),
        gpus: aSnapshot([], {used}).gpus.map((gpu) => ({
          ...gpu,
          totalMiB: {known: false, why: 'unreadable', token: '?'},
        })),
      },
    },
    {kind: 'planned', atMs: AT, plan, digest: 'd', expiresAtMs: AT},
    ...events,
  );
}

export function sceneOutcome(gpus: readonly SceneGpu[], word: Outcome['word'] = 'reclaimed'): Outcome {
  return {word, gpus: gpus.map(change), survivors: [], because: null, freedAfterMs: 412};
}

const DESIGN: readonly SceneGpu[] = [
  ...[0, 1, 2, 3].map(() => ({before: 96_844, after: 4})),
  {before: 4, after: 4},
  {before: 4, after: 4},
  {before: 21_630, after: 21_630, holder: 'train.py'},
  {before: 4, after: 4},
];

const MIXED: readonly SceneGpu[] = [
  {before: 96_844, after: 4},
  {before: 96_844, after: 61_200, unexplained: 61_200},
  {before: 40_960, after: 80_000, holder: 'train.py'},
  {before: 96_844, after: null},
  {before: 96_844, after: 45_000, holder: 'VLLM::Worker_TP4', unexplained: 12_000, expected: 2_000},
  {before: null, after: 12_000, holder: 'x'},
];

const kill = (count: number, afterMs = 0, rung = 1): readonly RunEvent[] =>
  sent(
    'SIGKILL',
    afterMs,
    Array.from({length: count}, (_, at) => 500 + at),
    rung,
  );

export interface Scene {
  readonly name: string;
  readonly run: Run;
  readonly outcome: Outcome;
}

function scene(name: string, gpus: readonly SceneGpu[], events: readonly RunEvent[], word?: Outcome['word']): Scene {
  return {name, run: sceneRun(gpus, events), outcome: sceneOutcome(gpus, word)};
}

const used = (gpus: readonly SceneGpu[], part: number): readonly number[] =>
  gpus.map(({before, after}) => Math.round((after ?? 0) + ((before ?? 0) - (after ?? 0)) * part));

const ONE: readonly SceneGpu[] = [{before: 78_000, after: 4, total: 81_559}];
const SIXTEEN: readonly SceneGpu[] = Array.from({length: 16}, (_, index) =>
  index === 13 ? {before: 70_000, after: 70_000, holder: 'python3 train.py'} : {before: 138_000 + index * 11, after: 4},
);
const SIXTY_FOUR: readonly SceneGpu[] = Array.from({length: 64}, (_, index) =>
  index === 20
    ? {before: 120_000, after: 30_000, unexplained: 30_000}
    : index === 41
      ? {before: 120_000, after: null}
      : index > 55
        ? {before: 60_000, after: 60_000, holder: `job-${index}`}
        : {before: 120_000 + index, after: 4},
);

export const SCENES: readonly Scene[] = [
  scene('design', DESIGN, [
    ...kill(4),
    memory(90, used(DESIGN, 0.7)),
    memory(150, used(DESIGN, 0.32)),
    memory(210, used(DESIGN, 0)),
    settled('expected', 230),
  ]),
  scene(
    'mixed',
    MIXED,
    [
      ...sent('SIGTERM', 0, [500, 501, 502, 503, 504, 505]),
      ...kill(6, 30_000, 2),
      memory(30_100, [60_000, 96_844, 40_960, 96_844, 70_000, 0]),
      memory(30_190, [4, 80_000, 60_000, 50_000, 45_000, 12_000]),
      memory(31_500, [4, 61_200, 80_000, 20_000, 45_000, 12_000]),
      settled('stalled', 41_000),
    ],
    'partly',
  ),
  scene('one', ONE, [
    ...sent('SIGTERM', 0, [500]),
    memory(1_400, [40_000]),
    memory(1_900, [4]),
    settled('expected', 1_950),
  ]),
  scene('sixteen', SIXTEEN, [
    ...sent('SIGTERM', 0, [500]),
    ...sent('SIGTERM', 5_000, [501, 502, 503], 2),
    ...kill(16, 35_000, 3),
    ...[60, 120, 180, 240, 300, 400].map((ms, step) =>
      memory(
        35_000 + ms,
        SIXTEEN.map(({before}, gpu) => (gpu * 0.4 < step * 1.3 ? 4 : (before ?? 0))),
      ),
    ),
    settled('expected', 35_500),
  ]),
  scene(
    'sixty-four',
    SIXTY_FOUR,
    [
      ...kill(64),
      ...Array.from({length: 20}, (_, step) =>
        memory(
          100 + step * 50,
          SIXTY_FOUR.map(({before, after}, gpu) => (gpu < step * 4 ? (after ?? 30_000) : (before ?? 0))),
        ),
      ),
      settled('timed-out', 120_000),
    ],
    'partly',
  ),
  scene('nothing-known', [{before: null, after: null, total: null}], []),
  scene(
    'hostile',
    [
      {before: 9_000, after: 9_000, holder: '</text><script>&"\u202e漢字😀'},
      {before: 5, after: 5},
    ],
    [...kill(1), memory(100, [9_000, 5]), settled('stalled', 10_000)],
    'nothing-freed',
  ),
];
