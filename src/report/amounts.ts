/** Numbers as people read them. */

/** 96844 -> "96,844". */
export function thousands(value: number): string {
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

export function mib(value: number | null): string {
  return value === null ? 'unknown' : `${thousands(value)} MiB`;
}

/** For headlines: "378 GiB", "512 MiB". */
export function roughMemory(valueMiB: number): string {
  return valueMiB < 1024 ? `${thousands(valueMiB)} MiB` : `${thousands(valueMiB / 1024)} GiB`;
}

/** "378 GiB (387,360 MiB)": for a headline, with the very figure that a table below it sums up to. */
export function exactMemory(valueMiB: number): string {
  return valueMiB < 1024 ? mib(valueMiB) : `${roughMemory(valueMiB)} (${mib(valueMiB)})`;
}

/** "92 ms", "0.4 s", "34 s", "3 h 12 m", "3 d". */
export function span(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d`;
}

/** "1 process", "3 processes". */
export function plural(count: number, one: string, many: string): string {
  return `${thousands(count)} ${count === 1 ? one : many}`;
}

/** [0,1,2,3,6] -> "0-3, 6". */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].toSorted((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (end + 1 < sorted.length && sorted[end + 1] === (sorted[end] ?? 0) + 1) end += 1;
    parts.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return parts.join(', ');
}

/** PIDs that one line names. */
const SOME = 12;

/** "PID 12-19, 30 and 480 more": the first of many, the rest counted. */
export function somePids(all: readonly {readonly pid: number}[]): string {
  const pids = all.map(({pid}) => pid).toSorted((a, b) => a - b);
  const more = pids.length - SOME;
  return `PID ${ranges(more > 0 ? pids.slice(0, SOME) : pids)}${more > 0 ? ` and ${thousands(more)} more` : ''}`;
}

/** "02:03:04" in UTC: the terminal and the store have no other zone to go by. */
export function clockTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19);
}

export function dateTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
