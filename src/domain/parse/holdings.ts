/** Device holders, from the sections `fds`, `maps`, `threads` and `zombies`; and what could not be looked at. */
import type {Holding, OpenCount} from '../snapshot.ts';

export interface FdScan {
  readonly opens: ReadonlyMap<number, readonly OpenCount[]>;
  /** PID -> a refused path: not one of ours to read. */
  readonly refused: ReadonlySet<number>;
  /** Refused thread folders, as `PID/TID`. */
  readonly refusedThreads: ReadonlySet<string>;
  /** Exit codes of the finds: 0, or 1 when something vanished or was refused. */
  readonly finds: readonly number[];
  /** Complaints of another kind: then the scan is not whole. */
  readonly troubles: readonly string[];
}

/** Lines `COUNT /proc/PID/fd LINK` or `COUNT /proc/PID/task/TID/fd LINK`, and find's complaints. */
export function parseFdScan(lines: readonly string[]): FdScan {
  const opens = new Map<number, OpenCount[]>();
  const refused = new Set<number>();
  const refusedThreads = new Set<string>();
  const finds: number[] = [];
  const troubles: string[] = [];
  for (const line of lines) {
    const [, count = '', rest = ''] = /^ *(\d+) (.*)$/s.exec(line) ?? [];
    const open = /^\/proc\/(\d+)\/(?:task\/\d+\/)?fd (.+)$/s.exec(rest);
    const complaint = /^find: .?\/proc\/(\d+)(?:\/task\/(\d+))?/.exec(rest);
    const end = /^@find (\d{1,3})$/.exec(rest);
    if (open?.[1] && open[2]) addOpen(opens, Number(open[1]), {path: open[2], count: Number(count)});
    else if (complaint?.[2]) refusedThreads.add(`${complaint[1]}/${complaint[2]}`);
    else if (complaint?.[1]) refused.add(Number(complaint[1]));
    else if (end) finds.push(Number(end[1]));
    else if (rest.trim() !== '' || line.trim() !== '') troubles.push(rest || line);
  }
  return {opens, refused, refusedThreads, finds, troubles};
}

/** Lines `/proc/PID/maps:PATH`. */
export function parseMaps(lines: readonly string[]): Map<number, string[]> {
  const mappings = new Map<number, string[]>();
  for (const line of lines) {
    const [, pid, path] = /^\/proc\/(\d+)\/maps:(\/.+)$/.exec(line) ?? [];
    if (pid === undefined || path === undefined) continue;
    const paths = mappings.get(Number(pid)) ?? [];
    if (!paths.includes(path)) mappings.set(Number(pid), [...paths, path]);
  }
  return mappings;
}

/** PIDs in state Z. Their fd folder belongs to root and is empty. */
export function parseZombies(lines: readonly string[]): Set<number> {
  return new Set(lines.flatMap((line) => /^\/proc\/(\d+)\/status:State:\s+Z/.exec(line)?.[1] ?? []).map(Number));
}

/** PIDs at which a scan stood still: lines `@stuck PID`. */
export function parseStuck(body: string): number[] {
  return [...body.matchAll(/^@stuck (\d{1,10})$/gm)].map((match) => Number(match[1]));
}

/** All sources, by PID, PIDs ascending. */
export function joinHoldings(
  opens: ReadonlyMap<number, readonly OpenCount[]>,
  mappings: ReadonlyMap<number, readonly string[]>,
  threadOpens: ReadonlyMap<number, readonly OpenCount[]>,
): Holding[] {
  const pids = new Set([...opens.keys(), ...mappings.keys(), ...threadOpens.keys()]);
  return [...pids]
    .sort((a, b) => a - b)
    .map((pid) => ({
      pid,
      opens: opens.get(pid) ?? [],
      mappings: mappings.get(pid) ?? [],
      threadOpens: threadOpens.get(pid) ?? [],
      numbered: [],
      queued: 0,
    }));
}

/** How many processes that are no zombies refused their fd folder, or, zombie leaders, the folder of a thread. */
export function countUnreadable(fds: FdScan, threads: FdScan, zombies: ReadonlySet<number>): number {
  const pids = new Set([...fds.refused].filter((pid) => !zombies.has(pid)));
  for (const thread of threads.refusedThreads) {
    const [pid, tid] = thread.split('/');
    // The leader's own folder went with the leader.
    if (pid !== tid) pids.add(Number(pid));
  }
  return pids.size;
}

function addOpen(opens: Map<number, OpenCount[]>, pid: number, open: OpenCount): void {
  const known = opens.get(pid) ?? [];
  const same = known.find((one) => one.path === open.path);
  const others = known.filter((one) => one.path !== open.path);
  opens.set(pid, [...others, {path: open.path, count: open.count + (same?.count ?? 0)}]);
}
