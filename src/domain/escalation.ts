/**
 * The ladder as a pure state machine: owners are stopped where the plan says so, once each and before any signal; SIGTERM to servers and leaders, SIGTERM to members after a delay, one SIGKILL each
 * after a whole grace since the last SIGTERM, which runs on while one of them is in the middle of a file. The engine looks, sends and records; every decision is here.
 */
import type {Observation} from './order.ts';
import type {TargetRole} from './plan.ts';
import type {GoChoice} from './run.ts';
import type {Signal} from './signal.ts';

export interface LadderTarget {
  readonly pid: number;
  readonly role: TargetRole;
  readonly takesTerm: boolean;
  /** Signals that were intended for it so far, whether or not they are known to have arrived. */
  readonly attempts: readonly Signal[];
  readonly seen: Observation;
  /** It may be in the middle of a file: somebody looks before its kill -9. */
  readonly mayWrite: boolean;
  /** It must not be signalled any more: replaced, refused or unreadable at the last try. */
  readonly excluded: boolean;
}

/** An owner that may be stopped by its own tool, which ends these targets and nobody else. */
export interface LadderStop {
  readonly pids: readonly number[];
  /** Its tool kills what does not end in time. */
  readonly endsInKill: boolean;
  /** It was intended, whether or not the tool is known to have been called. */
  readonly tried: boolean;
}

export interface LadderState {
  readonly targets: readonly LadderTarget[];
  /** In the plan's order. */
  readonly stops: readonly LadderStop[];
  readonly choice: GoChoice;
  readonly graceMs: number;
  readonly memberDelayMs: number;
  /** Since the last rung of SIGTERM was sent; 0 before the first. */
  readonly sinceTermMs: number;
  /** To which the grace runs on while a target still writes. */
  readonly longestGraceMs: number;
  /** How long it has run on so far. */
  readonly ranOnMs: number;
  /** The targets that a look since the last wait saw writing; null: nobody has looked since. */
  readonly writing: ReadonlySet<number> | null;
}

export type Move =
  /** Stop the owner at this place among the stops, then watch its processes for `watchMs`. */
  | {readonly do: 'stop-owner'; readonly at: number; readonly watchMs: number; readonly last: false}
  /** Send `signal` to `pids` in this order, then watch all that are left for `watchMs`. `last`: no further rung can follow. */
  | {
      readonly do: 'signal';
      readonly signal: Signal;
      readonly pids: readonly number[];
      readonly watchMs: number;
      readonly last: boolean;
    }
  /** Nobody is left to be sent a SIGTERM, somebody may still end by the one they had: watch. */
  | {readonly do: 'watch'; readonly watchMs: number; readonly last: boolean}
  /** The grace is over and kill -9 is due: see first whether one of these still writes. */
  | {readonly do: 'look'; readonly pids: readonly number[]}
  | {readonly do: 'stop'};

/** How long the host watches for the end of what it killed before it goes on to memory. */
export const KILL_WATCH_MS = 10_000;
/** How long a grace that runs on for a file goes on until somebody looks again, and a stop is heard. */
export const WRITING_STEP_MS = 5_000;

/** The next move. Every pair of state and observation is answered; nothing is ever killed twice. */
export function nextMove(state: LadderState): Move {
  const open = state.targets.filter((target) => !target.excluded && isLeft(target.seen));
  if (open.length === 0) return {do: 'stop'};
  const kills = state.choice === 'terminate-then-kill';

  // The owner's own way first: what it keeps is not brought back. Once each, and never half: from a signal on it is too late.
  const at = state.stops.findIndex(
    (stop) => !stop.tried && (kills || !stop.endsInKill) && isWhole(stop, state.targets),
  );
  const due = state.stops[at];
  if (due !== undefined) {
    const members = open.filter((target) => due.pids.includes(target.pid));
    const wait = due.endsInKill ? waitForWriters(members, state) : null;
    return wait ?? {do: 'stop-owner', at, watchMs: KILL_WATCH_MS, last: false};
  }

  // Gently before hard: whoever can take a SIGTERM gets one, and a whole grace after it, however long the rung before took.
  const untouched = open.filter((target) => target.takesTerm && target.attempts.length === 0);
  const first = untouched.filter((target) => target.role !== 'member');
  const members = untouched.filter((target) => target.role === 'member');
  if (first.length > 0) {
    const watchMs = members.length > 0 ? Math.min(state.memberDelayMs, state.graceMs) : state.graceMs;
    return {do: 'signal', signal: 'SIGTERM', pids: first.map(pidOf), watchMs, last: !kills && members.length === 0};
  }
  if (members.length > 0) {
    return {do: 'signal', signal: 'SIGTERM', pids: members.map(pidOf), watchMs: state.graceMs, last: !kills};
  }

  // A watch that was cut short (a lost connection) is taken up again for what is left of the grace.
  const ending = open.some((target) => target.attempts.includes('SIGTERM') && !target.attempts.includes('SIGKILL'));
  const graceLeftMs = state.graceMs - state.sinceTermMs;
  if (ending && graceLeftMs > 0) return {do: 'watch', watchMs: graceLeftMs, last: !kills};
  if (!kills) return {do: 'stop'};
  const unkilled = open.filter((target) => !target.attempts.includes('SIGKILL'));
  if (unkilled.length === 0) return {do: 'stop'};

  const wait = waitForWriters(unkilled, state);
  return wait ?? {do: 'signal', signal: 'SIGKILL', pids: unkilled.map(pidOf), watchMs: KILL_WATCH_MS, last: true};
}

/** All wait for the one that writes: ranks of one workload end each other, and a killed rank would cut its neighbour's file. */
function waitForWriters(doomed: readonly LadderTarget[], state: LadderState): Move | null {
  const runOnMs = state.longestGraceMs - state.graceMs - state.ranOnMs;
  const writers = doomed.filter((target) => target.mayWrite);
  if (runOnMs <= 0 || writers.length === 0) return null;
  if (state.writing === null) return {do: 'look', pids: writers.map(pidOf)};
  return writers.some((target) => state.writing?.has(target.pid))
    ? {do: 'watch', watchMs: Math.min(WRITING_STEP_MS, runOnMs), last: false}
    : null;
}

/** Every process that it ends may be ended, none had a signal yet, and somebody is left to end. */
function isWhole(stop: LadderStop, targets: readonly LadderTarget[]): boolean {
  const members = stop.pids.map((pid) => targets.find((target) => target.pid === pid));
  return (
    members.every((one) => one === undefined || (!one.excluded && one.attempts.length === 0)) &&
    members.some((one) => one !== undefined && isLeft(one.seen))
  );
}

/** A plain zombie has let go of everything; only its parent is missing. */
function isLeft(seen: Observation): boolean {
  switch (seen) {
    case 'alive':
    case 'stuck':
      return true;
    case 'zombie':
    case 'gone':
    case 'replaced':
      return false;
  }
}

function pidOf(target: LadderTarget): number {
  return target.pid;
}
