/** The rows of a before/after picture: one a GPU as long as they fit, and then GPUs of one fate together, as sums. */
import type {GpuChange, Outcome} from '../domain/outcome.ts';
import {isFree} from '../domain/readiness.ts';
import {ranges} from './amounts.ts';
import {safeLine} from './safe-text.ts';

/** `free`: as empty as what may stay · `held`: somebody's · `unexplained`: nobody's · `unknown`: a figure is missing. */
export type RowState = 'free' | 'held' | 'unexplained' | 'unknown';

export interface PictureRow {
  /** "GPU 0", "GPU 0-31". */
  readonly name: string;
  readonly gpus: number;
  readonly state: RowState;
  /** Whose it is, where it is somebody's. */
  readonly holders: string;
  /** MiB, of all its GPUs together; null where one of them is not known. */
  readonly beforeMiB: number | null;
  readonly afterMiB: number | null;
  readonly totalMiB: number | null;
  /** The part of `afterMiB` that no process explains. */
  readonly unexplainedMiB: number;
}

/** More than these are not legible on a phone. */
export const MOST_ROWS = 16;

/** `totals`: MiB of each GPU, by UUID. */
export function pictureRows(outcome: Outcome, totals: ReadonlyMap<string, number>): readonly PictureRow[] {
  const single = outcome.gpus.map((gpu) => ({index: gpu.index, row: rowOf(gpu, totals)}));
  if (single.length <= MOST_ROWS) return single.map(({row}) => row);
  const keys: readonly ((row: PictureRow) => string)[] = [
    (row) => `${row.state} ${row.holders}`,
    // What each has of a name is too much to say: the states alone.
    (row) => row.state,
  ];
  for (const keyOf of keys) {
    const groups = grouped(single, keyOf);
    if (groups.length <= MOST_ROWS) return groups.map(together);
  }
  return single.slice(0, MOST_ROWS).map(({row}) => row);
}

interface One {
  readonly index: number | null;
  readonly row: PictureRow;
}

function rowOf(gpu: GpuChange, totals: ReadonlyMap<string, number>): PictureRow {
  const left = gpu.unexplainedMiB ?? 0;
  // As the report's own sentence has it: more than what may stay, baseline and tolerance included.
  const unexplainedMiB = gpu.afterMiB !== null && left > (gpu.expectedMiB ?? 0) ? Math.min(left, gpu.afterMiB) : 0;
  return {
    name: `GPU ${gpu.index ?? '?'}`,
    gpus: 1,
    state: stateOf(gpu, unexplainedMiB),
    holders: holdersOf(gpu),
    beforeMiB: gpu.beforeMiB,
    afterMiB: gpu.afterMiB,
    totalMiB: totals.get(gpu.gpuUuid) ?? null,
    unexplainedMiB,
  };
}

function stateOf(gpu: GpuChange, unexplainedMiB: number): RowState {
  if (gpu.afterMiB === null || gpu.beforeMiB === null) return 'unknown';
  if (unexplainedMiB > 0) return 'unexplained';
  return isFree(gpu) ? 'free' : 'held';
}

function holdersOf(gpu: GpuChange): string {
  const names = gpu.heldBy.filter(({chargedMiB}) => (chargedMiB ?? 0) > 0).map(({name}) => name);
  const [first, ...more] = new Set(names);
  if (first === undefined) return '';
  return more.length === 0 ? safeLine(first, 16) : `${safeLine(first, 16)} +${more.length}`;
}

/** In the order of their first GPUs. */
function grouped(all: readonly One[], keyOf: (row: PictureRow) => string): readonly (readonly One[])[] {
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const key = keyOf(one.row);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

function together(group: readonly One[]): PictureRow {
  const rows = group.map(({row}) => row);
  const holders = new Set(rows.map((row) => row.holders));
  const indexes = group.flatMap(({index}) => index ?? []);
  return {
    name: indexes.length === group.length ? `GPU ${ranges(indexes)}` : `${group.length} GPUs`,
    gpus: group.length,
    state: rows[0]?.state ?? 'unknown',
    holders: holders.size === 1 ? ([...holders][0] ?? '') : 'several',
    beforeMiB: sum(rows.map((row) => row.beforeMiB)),
    afterMiB: sum(rows.map((row) => row.afterMiB)),
    totalMiB: sum(rows.map((row) => row.totalMiB)),
    unexplainedMiB: rows.reduce((total, row) => total + row.unexplainedMiB, 0),
  };
}

function sum(values: readonly (number | null)[]): number | null {
  return values.reduce((total, value) => (total === null || value === null ? null : total + value), 0);
}
