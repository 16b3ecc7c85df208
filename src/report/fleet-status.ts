/** Many hosts just looked at, as one table with the worst first: host, its worst state, what is used, by how many. */
import type {Diagnosis, GpuState} from '../domain/diagnosis.ts';
import {plural} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {type Cell, sumOrUnknown, type Table} from './table.ts';

/** `diagnosis`: null where the look failed; that host is unknown, never left out. */
export interface FleetLook {
  readonly name: string;
  readonly diagnosis: Diagnosis | null;
}

type HostWord = GpuState | 'not seen';

const ORDER: readonly HostWord[] = ['not seen', 'dirty', 'unknown', 'occupied', 'clean'];

/** Its worst GPU; a host without any GPU seen is unknown. */
export function worstOf({diagnosis}: FleetLook): HostWord {
  if (diagnosis === null) return 'not seen';
  const states = diagnosis.gpus.map(({state}) => state);
  return ORDER.find((word) => word !== 'not seen' && states.includes(word)) ?? 'unknown';
}

export function worstLookFirst<T extends FleetLook>(looks: readonly T[]): readonly T[] {
  const rank = (one: FleetLook): number => ORDER.indexOf(worstOf(one));
  return looks.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** At most `room` hosts, the worst; the last row counts and sums the others. */
export function fleetStatus(looks: readonly FleetLook[], room: number): Table {
  const sorted = worstLookFirst(looks);
  const shown = sorted.slice(0, sorted.length > room ? Math.max(1, room - 1) : room);
  const rest = sorted.slice(shown.length);
  return {
    columns: [
      {head: 'Host', side: 'left'},
      {head: 'State', side: 'left'},
      {head: 'Used, MiB', side: 'right'},
      {head: 'Holders', side: 'right'},
      {head: 'GPUs', side: 'left'},
    ],
    rows: [
      ...shown.map((one): readonly Cell[] => [safeLine(one.name, 60), worstOf(one), ...figures([one])]),
      ...(rest.length === 0 ? [] : [[`… ${plural(rest.length, 'more', 'more')}`, wordsOf(rest), ...figures(rest)]]),
    ],
  };
}

/** What is known of these: what nobody saw adds nothing, and alone is said to be unknown. */
function figures(looks: readonly FleetLook[]): readonly Cell[] {
  const seen = looks.flatMap(({diagnosis}) => diagnosis ?? []);
  if (seen.length === 0) return ['unknown', 'unknown', 'unknown'];
  const gpus = seen.flatMap((one) => one.gpus);
  const counts = (['dirty', 'unknown', 'occupied', 'clean'] as const)
    .map((state) => ({state, count: gpus.filter((gpu) => gpu.state === state).length}))
    .filter(({count}) => count > 0)
    .map(({state, count}) => `${count} ${state}`);
  return [
    sumOrUnknown(gpus.map(({usedMiB}) => usedMiB)),
    seen.reduce((sum, {holders}) => sum + holders.length, 0),
    counts.length === 0 ? 'none seen' : counts.join(', '),
  ];
}

/** "3 dirty, 137 clean" */
function wordsOf(looks: readonly FleetLook[]): string {
  return ORDER.map((word) => ({word, count: looks.filter((one) => worstOf(one) === word).length}))
    .filter(({count}) => count > 0)
    .map(({word, count}) => `${count} ${word}`)
    .join(', ');
}
