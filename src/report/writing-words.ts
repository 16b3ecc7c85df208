/** Files that grow, and what could not be read of them, as lines for people. */
import type {Plan} from '../domain/plan.ts';
import type {RunEvent} from '../domain/run.ts';
import {writingFact} from '../domain/writing-targets.ts';
import {dateTime, ranges, span} from './amounts.ts';
import {safeLine} from './safe-text.ts';

type StillWriting = Extract<RunEvent, {kind: 'still-writing'}>;

/** "kill -9 waits: PID 12 writing x.json.gz, +38 MiB/s; until 2026-12-01 02:13:04 UTC at most", one line a file. */
export function stillWritingLines({files, unread, untilMs}: StillWriting): readonly string[] {
  return [
    ...files.map(
      (file) => `kill -9 waits: PID ${file.pid} ${safeLine(writingFact(file), 80)}; until ${dateTime(untilMs)} at most`,
    ),
    ...unread.map(({pid, path}) =>
      path === null
        ? `What PID ${pid} writes could not be read, so kill -9 does not wait for it`
        : `Whether PID ${pid} still writes ${safeLine(path, 80)} could not be read, so kill -9 does not wait for it`,
    ),
  ];
}

/** Whose open files could not be read, for a card; null where all could. */
export function unreadWords(plan: Plan): string | null {
  const pids = plan.targets
    .filter((target) => target.takesTerm)
    .map((target) => target.identity.pid)
    .filter((pid) => plan.writing.unread.some((one) => one.pid === pid));
  if (pids.length === 0) return null;
  return `Not seen whether ${pids.length > 3 ? `${pids.length} targets write` : `PID ${ranges(pids)} writes`} a file`;
}

/** "30 s", or "3 m, up to 10 m while a file grows" for a plan with somebody who writes. */
export function graceWords(plan: Plan): string {
  const writes = plan.targets.some((target) => target.findings.includes('writing'));
  const runsOn = writes && plan.longestGraceMs > plan.graceMs;
  return `${span(plan.graceMs)}${runsOn ? `, up to ${span(plan.longestGraceMs)} while a file grows` : ''}`;
}
