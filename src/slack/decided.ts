/** Why a run's plan waits for nobody any more: who decided, what, and when. */
import type {Failure} from '../domain/failure.ts';
import {personId} from '../domain/person.ts';
import type {Run} from '../domain/run.ts';
import {outcomeOf} from '../domain/run-state.ts';

/** null while the plan waits for a go. */
export function decided(run: Run): Failure | null {
  if (run.phase === 'awaiting-go') return null;
  const {id: runId} = run;
  const event = run.events.findLast(
    (one) => one.kind === 'approved' || one.kind === 'denied' || one.kind === 'cancelled' || one.kind === 'expired',
  );
  switch (event?.kind) {
    case 'expired':
      return {reason: 'approval-expired', runId, atMs: event.atMs};
    case 'cancelled':
      return {reason: 'already-decided', runId, by: event.by, decision: 'cancelled', atMs: event.atMs};
    case 'approved':
    case 'denied':
      return {reason: 'already-decided', runId, by: personId(event.by), decision: event.kind, atMs: event.atMs};
    default:
      return {reason: 'run-ended', runId, outcome: outcomeOf(run)?.word ?? run.phase};
  }
}
