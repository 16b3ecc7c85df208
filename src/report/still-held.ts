/** Why memory is still held after a run: survivors with what proves it, bills that moved, and what nobody explains. */
import type {GpuChange, MovedTo, Outcome, Survivor} from '../domain/outcome.ts';
import {closingSnapshot} from '../domain/readiness.ts';
import type {Run} from '../domain/run.ts';
import {plural, ranges, somePids, thousands} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {causeLines} from './unexplained.ts';
import {SURVIVOR_WHY} from './wording.ts';

/** For one reason: up to so many have a line each, of more the first. */
const MOST_ALIKE = 8;
const FIRST_ALIKE = 5;

/** "Surviving targets: none", or each with its reason, and under it where that was read; many alike are counted. */
export function survivorLines(outcome: Outcome): readonly string[] {
  if (outcome.survivors.length === 0) return ['Surviving targets: none'];
  const reasons = [...new Set(outcome.survivors.map(({why}) => why))];
  return ['Surviving targets:', ...reasons.flatMap((why) => alike(outcome.survivors.filter((one) => one.why === why)))];
}

/** Survivors for one reason. */
function alike(survivors: readonly Survivor[]): readonly string[] {
  const told = survivors.length > MOST_ALIKE ? survivors.slice(0, FIRST_ALIKE) : survivors;
  const rest = survivors.slice(told.length);
  return [
    ...told.flatMap((survivor) => [
      `  PID ${survivor.pid} ${safeLine(survivor.name, 30)}: ${SURVIVOR_WHY[survivor.why]}`,
      ...(survivor.evidence ?? []).map((one) => `  · ${safeLine(one.fact, 140)} [${one.source}]`),
    ]),
    ...rest
      .slice(0, 1)
      .map(({why}) => `  … and ${plural(rest.length, 'more', 'more')}, ${somePids(rest)}: ${SURVIVOR_WHY[why]}`),
  ];
}

/** Memory that left the targets and came free nowhere: each process that has it now, in one line. */
export function movedLines(outcome: Outcome): readonly string[] {
  const holders = new Map<
    string,
    {readonly moved: MovedTo; readonly gpus: GpuChange[]; MiB: number; from: Set<number>}
  >();
  for (const gpu of outcome.gpus) {
    for (const moved of gpu.movedTo ?? []) {
      const key = `${moved.pid} ${moved.how}`;
      const known = holders.get(key) ?? {moved, gpus: [], MiB: 0, from: new Set<number>()};
      known.gpus.push(gpu);
      known.MiB += moved.MiB;
      for (const pid of moved.fromPids) known.from.add(pid);
      holders.set(key, known);
    }
  }
  return [...holders.values()].map(({moved, gpus, MiB, from}) => {
    const what = `${thousands(MiB)} MiB of PID ${ranges([...from])} on ${gpuNames(gpus)}`;
    const who = `PID ${moved.pid} ${safeLine(moved.name, 30)}`.trimEnd();
    if (moved.how === 'restarted') return restartedLine(moved, MiB, gpus, who);
    return moved.how === 'billed'
      ? `Not freed: the bill for ${what} moved to ${who}, which shares that memory and was no target: ask its owner to restart it`
      : `Not freed: ${what} is still billed to the dead, and ${who} keeps the files: it was no target; ask its owner, or reclaim it`;
  });
}

function restartedLine({by}: MovedTo, MiB: number, gpus: readonly GpuChange[], who: string): string {
  const stop = by?.stopCommand ?? null;
  return `Not freed: ${safeLine(by?.name ?? '', 40)} has started the same work again: ${who}, ${thousands(MiB)} MiB on ${gpuNames(gpus)}; stop it there first${stop === null ? '' : `: ${safeLine(stop, 80)}`}`;
}

/** What no process explains on the GPUs that were asked for, and which causes are left. */
export function unexplainedLines(run: Run, outcome: Outcome): readonly string[] {
  const left = outcome.gpus.filter((gpu) => gpu.requested && (gpu.unexplainedMiB ?? 0) > (gpu.expectedMiB ?? 0));
  if (left.length === 0) return [];
  const closing = closingSnapshot(run);
  return [
    ...amounts(left),
    ...(closing === null
      ? [`"gpu-reclaim diagnose ${run.host}" says which causes are possible`]
      : causeLines(closing).map((line) => `  ${line}`)),
  ];
}

/** GPUs of one amount together; of many amounts the first, the rest counted and summed. */
function amounts(gpus: readonly GpuChange[]): readonly string[] {
  const each = [...new Set(gpus.map((gpu) => gpu.unexplainedMiB ?? 0))];
  const told = each.length > MOST_ALIKE ? each.slice(0, FIRST_ALIKE) : each;
  const rest = gpus.filter((gpu) => !told.includes(gpu.unexplainedMiB ?? 0));
  const sum = rest.reduce((total, gpu) => total + (gpu.unexplainedMiB ?? 0), 0);
  return [
    ...told.map((MiB) => {
      const those = gpus.filter((gpu) => (gpu.unexplainedMiB ?? 0) === MiB);
      const names = those.some(({index}) => index === null) ? plural(those.length, 'GPU', 'GPUs') : gpuNames(those);
      return `${names}: ${thousands(MiB)} MiB${those.length === 1 ? '' : ' each'} that no process explains`;
    }),
    ...(rest.length === 0 ? [] : [`${plural(rest.length, 'more GPU', 'more GPUs')}: ${thousands(sum)} MiB in all`]),
  ];
}

function gpuNames(gpus: readonly GpuChange[]): string {
  return `GPU ${ranges(gpus.flatMap((gpu) => (gpu.index === null ? [] : [gpu.index])))}`;
}
