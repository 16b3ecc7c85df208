/** A signalling exec that was lost may still run on the host, until the host's uptime has passed its limit. */
import type {Failure} from './failure.ts';
import type {Run} from './run.ts';
import {doubtfulAttempts, stopsOf} from './run-state.ts';
import type {Snapshot} from './snapshot.ts';

/** The failure to answer with while an earlier run's signal may still arrive on this machine; null if none can. */
export function lateArrival(runs: readonly Run[], snapshot: Snapshot): Failure | null {
  for (const run of runs) {
    const untilUptimeMs = doubtfulUntil(run, snapshot.machine.bootId);
    if (untilUptimeMs !== null && snapshot.uptimeMs < untilUptimeMs) {
      return {
        reason: 'signal-may-still-arrive',
        host: snapshot.host,
        runId: run.id,
        waitMs: untilUptimeMs - snapshot.uptimeMs,
      };
    }
  }
  return null;
}

/**
 * The latest "not after uptime" of an intent in this boot that no result answers, a stop's with all that its owner may
 * still do; null if every intent is answered.
 */
function doubtfulUntil(run: Run, bootId: string): number | null {
  const signals = doubtfulAttempts(run).map(({machine, notAfterUptimeMs}) => ({machine, untilMs: notAfterUptimeMs}));
  const stops = stopsOf(run).flatMap(({machine, overAtUptimeMs, result}) =>
    result === null ? [{machine, untilMs: overAtUptimeMs}] : [],
  );
  const open = [...signals, ...stops].filter(({machine}) => machine.bootId === bootId);
  return open.length === 0 ? null : Math.max(...open.map(({untilMs}) => untilMs));
}
