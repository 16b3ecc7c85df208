/** How fast memory came back, in as few lines as tell the GPUs apart that did not come back. */

import type {Run} from '../domain/run.ts';
import {type GpuTime, type HowFreed, timeToFree} from '../domain/time-to-free.ts';
import {mib, ranges, span} from './amounts.ts';

/** "GPU 0-7: half after 0.1 s, all after 0.3 s"; those that are not free each kind in a line of its own. */
export function timeToFreeLines(run: Run): readonly string[] {
  return timesLines(timeToFree(run));
}

export function timesLines(times: readonly GpuTime[]): readonly string[] {
  return ORDER.flatMap((how) => {
    const these = times.filter((time) => time.how === how);
    return these.length === 0 ? [] : [`${gpus(these)}: ${words(how, these)}`];
  });
}

const ORDER: readonly HowFreed[] = ['free', 'earlier', 'still-falling', 'stalled', 'not-seen'];

function words(how: HowFreed, times: readonly GpuTime[]): string {
  switch (how) {
    case 'free': {
      const halfAfter = spans(times.map((time) => time.halfMs));
      const allAfter = spans(times.map((time) => time.allMs));
      return halfAfter === allAfter
        ? `half and all after ${allAfter}`
        : `half after ${halfAfter}, all after ${allAfter}`;
    }
    case 'earlier':
      return 'ended before the last signal';
    case 'still-falling':
      return `${half(times)}still falling at ${left(times)} when the time was over`;
    case 'stalled':
      return `${half(times)}stalled at ${left(times)}`;
    case 'not-seen':
      return 'not watched to its end';
  }
}

function half(times: readonly GpuTime[]): string {
  const known = times.flatMap((time) => time.halfMs ?? []);
  return known.length === times.length ? `half after ${spans(known)}, ` : '';
}

/** The fastest and the slowest, one where they read the same. */
function spans(values: readonly (number | null)[]): string {
  const known = values.flatMap((value) => value ?? []);
  const least = span(Math.min(...known));
  const most = span(Math.max(...known));
  return least === most ? most : `${least} to ${most}`;
}

function left(times: readonly GpuTime[]): string {
  const total = times.reduce((sum, time) => sum + (time.lastMiB ?? 0), 0);
  return times.length === 1 ? mib(total) : `${mib(total)} in all`;
}

function gpus(times: readonly GpuTime[]): string {
  const indexes = times.flatMap((time) => time.index ?? []);
  return indexes.length === times.length ? `GPU ${ranges(indexes)}` : `${times.length} GPUs`;
}
