/**
 * What changed between two reports of one schedule. Figures of a living holder move all the time and are no news; who
 * holds, in which state a GPU is, and what nobody explains are.
 */
import type {GpuState} from './diagnosis.ts';
import type {HostName} from './host.ts';
import type {GpuReport, HolderReport, HostReport, SeenHost} from './host-report.ts';

export type Change = {readonly host: HostName} & (
  | {readonly what: 'state'; readonly index: number | null; readonly from: GpuState; readonly to: GpuState}
  /** By more than the tolerance, in a GPU that was dirty before and is now. */
  | {readonly what: 'unexplained'; readonly index: number | null; readonly fromMiB: number; readonly toMiB: number}
  | {readonly what: 'came' | 'went'; readonly holder: HolderReport}
  | {readonly what: 'gpu-came' | 'gpu-went'; readonly index: number | null}
  | {readonly what: 'rebooted'}
  /** Whether the host could be looked at: `gone` is out of the hosts file. */
  | {readonly what: 'sight'; readonly from: HostReport['state']; readonly to: HostReport['state']}
  /** It is, or is no more, among the chosen hosts. */
  | {readonly what: 'joined' | 'left'}
);

/** In the order of `now`, then who left. `before` null: the first report, which is news as a whole, not a change. */
export function changesBetween(
  before: readonly HostReport[] | null,
  now: readonly HostReport[],
  toleranceMiB: number,
): readonly Change[] {
  if (before === null) return [];
  const earlier = new Map(before.map((one) => [one.host, one]));
  const names = new Set(now.map((one) => one.host));
  return [
    ...now.flatMap((one): readonly Change[] => {
      const old = earlier.get(one.host);
      return old === undefined ? [{host: one.host, what: 'joined'}] : hostChanges(old, one, toleranceMiB);
    }),
    ...before.filter((one) => !names.has(one.host)).map(({host}): Change => ({host, what: 'left'})),
  ];
}

function hostChanges(old: HostReport, now: HostReport, toleranceMiB: number): readonly Change[] {
  const {host} = now;
  if (old.state === 'seen' && now.state === 'seen') return seenChanges(old, now, toleranceMiB);
  if (old.state !== now.state) return [{host, what: 'sight', from: old.state, to: now.state}];
  // Unreachable as before is no news; refused where it was unreachable is.
  if (old.state === 'failed' && now.state === 'failed' && old.failure.reason !== now.failure.reason)
    return [{host, what: 'sight', from: 'failed', to: 'failed'}];
  return [];
}

function seenChanges(old: SeenHost, now: SeenHost, toleranceMiB: number): readonly Change[] {
  const {host} = now;
  const rebooted = old.bootId !== now.bootId;
  const gpus = new Map(old.gpus.map((gpu) => [gpu.uuid, gpu]));
  const present = new Set(now.gpus.map((gpu) => gpu.uuid));
  const key = ({pid, startTicks}: HolderReport): string => `${pid}:${startTicks}`;
  const held = new Set(rebooted ? [] : old.holders.map(key));
  const holds = new Set(rebooted ? [] : now.holders.map(key));
  return [
    ...(rebooted ? [{host, what: 'rebooted'} as const] : []),
    ...now.gpus.flatMap((gpu): readonly Change[] => {
      const was = gpus.get(gpu.uuid);
      return was === undefined
        ? [{host, what: 'gpu-came', index: gpu.index}]
        : gpuChanges(host, was, gpu, toleranceMiB);
    }),
    ...old.gpus.filter((gpu) => !present.has(gpu.uuid)).map(({index}): Change => ({host, what: 'gpu-went', index})),
    ...now.holders.filter((one) => !held.has(key(one))).map((holder): Change => ({host, what: 'came', holder})),
    ...old.holders.filter((one) => !holds.has(key(one))).map((holder): Change => ({host, what: 'went', holder})),
  ];
}

function gpuChanges(host: HostName, was: GpuReport, now: GpuReport, toleranceMiB: number): readonly Change[] {
  const {index} = now;
  if (was.state !== now.state) return [{host, what: 'state', index, from: was.state, to: now.state}];
  const [fromMiB, toMiB] = [was.unexplainedMiB, now.unexplainedMiB];
  if (now.state !== 'dirty' || fromMiB === null || toMiB === null) return [];
  return Math.abs(toMiB - fromMiB) > toleranceMiB ? [{host, what: 'unexplained', index, fromMiB, toMiB}] : [];
}
