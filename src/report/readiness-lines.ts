/** "Can I start?" in a few lines: what stands against it first, the count of free GPUs last. */
import type {SharedLeftover} from '../domain/deep.ts';
import type {GpuChange} from '../domain/outcome.ts';
import {type Blocker, isFree, type Readiness} from '../domain/readiness.ts';
import {plural, ranges, thousands} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {whose} from './workload-words.ts';

/** `against`: it stands in the way of a start, or may; the rest is reassurance, or for later. */
export interface ReadinessLine {
  readonly against: boolean;
  readonly text: string;
}

const BLOCKERS = 8;
const NAMES = 3;

/** All but the count, which `freeNow` gives. What was not read is left out, never taken for none. */
export function readinessLines(readiness: Readiness): readonly ReadinessLine[] {
  return [
    ...blockerLines(readiness.blockers),
    ...readiness.recovery.map(({index, action}) => ({
      against: true,
      text: `GPU ${index ?? '?'} is not to be used before a recovery: nvidia-smi asks for "${safeLine(action, 40)}"`,
    })),
    ...xidLines(readiness),
    ...leftoverLines(readiness.leftovers),
    ...portLines(readiness.ports),
  ];
}

/** "GPUs free now: 7 of 8; 8-GPU start not possible: GPU 6 (bo)"; the host's own count where fewer were asked for. */
export function freeNow({asked, all, blockers}: Readiness): string {
  const wanted = asked.length === 0 ? all : asked;
  const busy = wanted.filter((gpu) => !isFree(gpu));
  const free = `${wanted.length - busy.length} of ${wanted.length}`;
  const whole =
    wanted.length === all.length ? '' : ` asked for, ${all.filter(isFree).length} of ${all.length} on the host`;
  const owners = [
    ...new Set(
      blockers
        .filter((one) => one.gpus.some((gpu) => busy.includes(gpu)))
        .flatMap((one) => (one.ownership === null ? [] : whose(one.ownership))),
    ),
  ];
  const by = owners.length === 0 ? '' : ` (${owners.slice(0, NAMES).join(', ')})`;
  return `GPUs free now: ${free}${whole}${busy.length === 0 ? '' : `; ${wanted.length}-GPU start not possible: ${gpuNames(busy)}${by}`}`;
}

/** "Blocks a start: PID 250331 train.py (bo) on GPU 6, 21,630 MiB" */
function blockerLines(blockers: readonly Blocker[]): readonly ReadinessLine[] {
  const lines = blockers.slice(0, BLOCKERS).map(({pid, name, ownership, gpus, chargedMiB}) => ({
    against: true,
    text: `Blocks a start: PID ${pid} ${safeLine(name, 30)} (${ownership === null ? 'owner unknown' : whose(ownership)}) on ${gpuNames(gpus)}${chargedMiB === null ? '' : `, ${thousands(chargedMiB)} MiB`}`,
  }));
  const more = blockers.length - lines.length;
  return more > 0 ? [...lines, {against: true, text: `… and ${plural(more, 'process', 'processes')} more`}] : lines;
}

function xidLines({newXids}: Readiness): readonly ReadinessLine[] {
  if (newXids === null) return [];
  if (newXids.length === 0) return [{against: false, text: 'No new Xid in the kernel log since the go'}];
  const each = newXids.map(
    ({index, busId, code, count}) => `${code} on GPU ${index ?? safeLine(busId, 20)}${count > 1 ? ` (${count}×)` : ''}`,
  );
  const more = each.length - BLOCKERS;
  return [
    {
      against: true,
      text: `New Xid in the kernel log since the go: ${each.slice(0, BLOCKERS).join(', ')}${more > 0 ? `, ${more} more` : ''}`,
    },
  ];
}

/** Named so that they can be listed by hand. Somebody may still want them, so they are nobody's to delete but their owner's. */
function leftoverLines(leftovers: readonly SharedLeftover[] | null): readonly ReadinessLine[] {
  if (leftovers === null || leftovers.length === 0) return [];
  const MiB = leftovers.reduce((sum, one) => sum + one.MiB, 0);
  const names = leftovers.slice(0, NAMES).map(leftoverName);
  return [
    {
      against: false,
      text: `Shared memory that no process has open: ${thousands(leftovers.length)}, ${thousands(MiB)} MiB, newest ${names.join(', ')}; left as it is`,
    },
  ];
}

function leftoverName({kind, name}: SharedLeftover): string {
  return kind === 'file' ? `/dev/shm/${safeLine(name, 60)}` : `segment ${safeLine(name, 20)} (ipcs -m)`;
}

function portLines(ports: Readiness['ports']): readonly ReadinessLine[] {
  const told = ports.filter((one) => one.busy !== null);
  return told.slice(0, BLOCKERS).map(({port, busy}) => ({
    against: busy === true,
    text:
      busy === true
        ? `Port ${port} of what was ended: somebody still listens on it`
        : `Port ${port} of what was ended: free`,
  }));
}

function gpuNames(gpus: readonly GpuChange[]): string {
  const indexes = gpus.flatMap((gpu) => (gpu.index === null ? [] : [gpu.index]));
  return indexes.length === 0 ? 'a GPU without an index' : `GPU ${ranges(indexes)}`;
}
