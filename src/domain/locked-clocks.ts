/**
 * Clocks that somebody may lock (`nvidia-smi -lgc`, `-lmc`). No field tells of them, so that the only values they can be set
 * back to are those that were declared: in the hosts file, or when a campaign started.
 */

/** MHz, as `-lgc LOW,HIGH` takes them. */
export interface ClockRange {
  readonly low: number;
  readonly high: number;
}

/** null: not declared. */
export interface LockedClocks {
  readonly graphics: ClockRange | null;
  readonly memory: ClockRange | null;
}

/** What a host's GPUs are locked to by declaration: all of them, and those that differ by index. */
export interface DeclaredClocks extends LockedClocks {
  readonly byGpu: ReadonlyMap<number, LockedClocks>;
}

export const NOT_DECLARED: DeclaredClocks = {graphics: null, memory: null, byGpu: new Map()};

const MOST_MHZ = 20_000;

/** `1410,1410`, or `1410` for both; null for what nvidia-smi would not take. */
export function readClockRange(text: string): ClockRange | null {
  const [, first, second] = /^(\d{1,5})(?:,(\d{1,5}))?$/.exec(text.replaceAll(' ', '')) ?? [];
  return first === undefined ? null : clockRange(Number(first), Number(second ?? first));
}

export function clockRange(low: number, high: number): ClockRange | null {
  const isMHz = (value: number): boolean => Number.isInteger(value) && value > 0 && value <= MOST_MHZ;
  return isMHz(low) && isMHz(high) && low <= high ? {low, high} : null;
}

/** For one GPU, one clock at a time: what was said at the start, else what is declared of it, else of its host. */
export function lockedOn(index: number | null, given: LockedClocks, declared: DeclaredClocks): LockedClocks {
  const own = index === null ? undefined : declared.byGpu.get(index);
  return {
    graphics: given.graphics ?? own?.graphics ?? declared.graphics,
    memory: given.memory ?? own?.memory ?? declared.memory,
  };
}

/** Run as root on that host. `lock`: to a declared value · `unlock`: none is declared. */
export interface ClockCommand {
  readonly kind: 'lock' | 'unlock';
  readonly command: string;
}

/**
 * These may be needed, and do no harm where they are not. One command for all GPUs that take the same. `whole`: these are
 * all of the host's GPUs, which is what nvidia-smi means where none is named.
 */
export function clockCommands(
  gpus: readonly {readonly uuid: string; readonly index: number | null}[],
  locked: (index: number | null) => LockedClocks,
  whole: boolean,
): readonly ClockCommand[] {
  const wanted = gpus.flatMap((gpu) => {
    const {graphics, memory} = locked(gpu.index);
    return [change(gpu, '-lgc', '-rgc', graphics), change(gpu, '-lmc', '-rmc', memory)];
  });
  const kinds = ['lock', 'unlock'] as const;
  return kinds.flatMap((kind) => {
    const these = wanted.filter((one) => one.kind === kind);
    return [...new Set(these.map(({option}) => option))].toSorted().map((option) => {
      const on = these.filter((one) => one.option === option).map(({gpu}) => gpu);
      const which =
        whole && on.length === gpus.length ? '' : ` -i ${on.map(({uuid, index}) => index ?? uuid).join(',')}`;
      return {kind, command: `nvidia-smi${which} ${option}`};
    });
  });
}

function change<Gpu>(gpu: Gpu, lock: string, unlock: string, range: ClockRange | null) {
  return range === null
    ? ({gpu, kind: 'unlock', option: unlock} as const)
    : ({gpu, kind: 'lock', option: `${lock} ${range.low},${range.high}`} as const);
}
