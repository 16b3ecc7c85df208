/** What the exit status says; documented in the README. */
import type {Failure} from '../domain/failure.ts';
import type {OutcomeWord} from '../domain/outcome.ts';

export const EXIT = {
  done: 0,
  /** A bug of ours. */
  internal: 1,
  /** The command or the configuration does not read. */
  usage: 2,
  /** A plan waits for a go. */
  waiting: 3,
  /** Signals were sent, or were to be, and not everything came back. */
  partly: 4,
  /** The host could not be looked at, or the closing look is missing. */
  unknown: 5,
  /** The rules refuse it. */
  refused: 6,
  /** Our own store is broken. */
  store: 7,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function exitForOutcome(word: OutcomeWord): ExitCode {
  switch (word) {
    case 'reclaimed':
    case 'nothing-to-do':
    case 'dry-run':
      return EXIT.done;
    case 'partly':
    case 'nothing-freed':
    case 'cancelled':
    case 'interrupted':
    case 'stood-down':
      return EXIT.partly;
    case 'denied':
    case 'expired':
      return EXIT.refused;
    case 'failed':
    case 'unknown':
      return EXIT.unknown;
  }
}

export function exitForFailure(failure: Failure): ExitCode {
  switch (failure.reason) {
    case 'verb-unknown':
    case 'host-unknown':
    case 'host-is-address':
    case 'host-missing':
    case 'one-host-only':
    case 'argument-bad':
    case 'argument-unknown':
    case 'command-too-long':
    case 'verb-elsewhere':
    case 'gpu-absent':
    case 'config-bad':
    case 'transcript-unreadable':
    case 'run-unknown':
    case 'choice-refused':
    case 'confirmation-mismatch':
    case 'schedule-unreadable':
    case 'schedule-unknown':
    case 'process-absent':
    case 'campaign-unknown':
      return EXIT.usage;
    case 'no-terminal':
      return EXIT.waiting;
    case 'store-in-use':
    case 'store-unwritable':
    case 'store-unreadable':
      return EXIT.store;
    case 'host-observe-only':
    case 'not-a-practice-host':
    case 'host-busy':
    case 'machine-busy':
    case 'too-many-open-runs':
    case 'too-many-runs-by-person':
    case 'too-many-targets':
    case 'paused':
    case 'no-approvers':
    case 'not-an-approver':
    case 'needs-another-approver':
    case 'break-glass-needs-reason':
    case 'already-decided':
    case 'approval-expired':
    case 'plan-outdated':
    case 'run-ended':
    case 'nothing-pending':
    case 'signal-may-still-arrive':
    case 'schedule-in-file':
    case 'too-many-schedules':
    case 'gpus-held':
    case 'held-already':
    case 'not-the-holder':
    case 'idle-answered':
    case 'hold-over':
    case 'campaign-running':
    case 'campaign-ended':
      return EXIT.refused;
    default:
      return EXIT.unknown;
  }
}
