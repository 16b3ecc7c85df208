/** A run: one request on one host, from the survey to its outcome. A stream of events; the state is their fold. */
import type {Failure} from './failure.ts';
import type {HostName} from './host.ts';
import type {Note} from './later-look.ts';
import type {Observation, OrderResult, StopResult} from './order.ts';
import type {Outcome} from './outcome.ts';
import type {Person} from './person.ts';
import type {Plan} from './plan.ts';
import type {MachineIdentity, ProcessIdentity} from './process.ts';
import type {ReclaimRequest} from './request.ts';
import type {Signal} from './signal.ts';
import type {Snapshot} from './snapshot.ts';
import type {Stop} from './stop-owner.ts';
import type {GrowingFile, Unread} from './writing.ts';

/** Twelve lower-case hex digits; people may type any unambiguous start of it. */
export type RunId = string & {readonly __brand: 'RunId'};

export function runId(text: string): RunId {
  return text as RunId;
}

/** looking → awaiting-go → executing → closed; each may close early. */
export type RunPhase = 'looking' | 'awaiting-go' | 'executing' | 'closed';

/** What the go covers. */
export type GoChoice = 'terminate-then-kill' | 'terminate-only';

/** Who works on a run; lets another program see whether that worker still lives. */
export interface LeaseOwner {
  readonly kind: 'terminal' | 'bot';
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
  /** Who runs it, for the sentence "busy: anna's terminal, since …". */
  readonly by: string;
}

export type RunEvent =
  | {readonly kind: 'requested'; readonly atMs: number; readonly request: ReclaimRequest}
  | {readonly kind: 'surveyed'; readonly atMs: number; readonly snapshot: Snapshot}
  | {
      readonly kind: 'planned';
      readonly atMs: number;
      readonly plan: Plan;
      readonly digest: string;
      readonly expiresAtMs: number;
      /** Who chose it by hand; left out for a plan that a request made. */
      readonly by?: Person;
    }
  | {
      readonly kind: 'approved';
      readonly atMs: number;
      readonly by: Person;
      readonly digest: string;
      readonly choice: GoChoice;
      readonly breakGlass: boolean;
      readonly reason: string | null;
    }
  | {readonly kind: 'denied'; readonly atMs: number; readonly by: Person; readonly reason: string | null}
  | {readonly kind: 'expired'; readonly atMs: number}
  /** `by`: personId of whoever stopped it. */
  | {readonly kind: 'cancelled'; readonly atMs: number; readonly by: string; readonly reason: string | null}
  /** The fresh look before the first signal; `drift` in one line per difference. */
  | {readonly kind: 'rechecked'; readonly atMs: number; readonly snapshot: Snapshot; readonly drift: readonly Drift[]}
  /** `rung` counts from 1. Written before the exec that sends it. After a crash this is looked at, never sent again. */
  | {
      readonly kind: 'signal-intended';
      readonly atMs: number;
      readonly rung: number;
      readonly identities: readonly ProcessIdentity[];
      readonly signal: Signal;
      readonly machine: MachineIdentity;
      readonly notAfterUptimeMs: number;
    }
  | {
      readonly kind: 'signal-result';
      readonly atMs: number;
      readonly rung: number;
      readonly pid: number;
      readonly signal: Signal;
      readonly result: OrderResult;
      readonly detail: string;
      readonly uptimeMs: number;
    }
  /** Written before the exec that calls the owner's tool. After a crash this is looked at, never called again. */
  | {
      readonly kind: 'stop-intended';
      readonly atMs: number;
      readonly rung: number;
      readonly owner: StoppedOwner;
      readonly identities: readonly ProcessIdentity[];
      readonly machine: MachineIdentity;
      readonly notAfterUptimeMs: number;
      /** What the tool began may go on for so long after that, ms. */
      readonly timeoutMs: number;
    }
  | {
      readonly kind: 'stop-result';
      readonly atMs: number;
      readonly rung: number;
      readonly owner: StoppedOwner;
      readonly result: StopResult;
      readonly detail: string;
      readonly uptimeMs: number;
    }
  | {
      readonly kind: 'seen';
      readonly atMs: number;
      readonly pid: number;
      readonly observation: Observation;
      readonly uptimeMs: number;
    }
  | {
      readonly kind: 'memory';
      readonly atMs: number;
      readonly uptimeMs: number;
      readonly usedMiB: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'settled';
      readonly atMs: number;
      readonly how: 'expected' | 'stalled' | 'timed-out' | 'unreadable';
      readonly uptimeMs: number;
    }
  /** kill -9 is due and waits: these files still grow, or this could not be read. Each is told once. */
  | {
      readonly kind: 'still-writing';
      readonly atMs: number;
      readonly files: readonly GrowingFile[];
      readonly unread: readonly Unread[];
      /** When kill -9 is sent all the same, epoch ms. */
      readonly untilMs: number;
    }
  /** The exec of a rung was lost; its signals may have gone out, or may yet until the uptime has passed. */
  | {readonly kind: 'link-lost'; readonly atMs: number; readonly failure: Failure}
  | {
      readonly kind: 'looked-again';
      readonly atMs: number;
      readonly snapshot: Snapshot | null;
      readonly failure: Failure | null;
    }
  | {readonly kind: 'failed'; readonly atMs: number; readonly failure: Failure}
  | {
      readonly kind: 'closed';
      readonly atMs: number;
      readonly outcome: Outcome;
      /** When the host is looked at again, ms after `atMs`, soonest first. Left out: never, for nothing was signalled. */
      readonly lookAgainMs?: readonly number[];
    }
  /** What a later look found; added to a closed run, never rewriting its outcome. */
  | {readonly kind: 'noted'; readonly atMs: number; readonly note: Note};

/** As much of an owner as people need to know it again. */
export type StoppedOwner = Pick<Stop, 'kind' | 'id' | 'name' | 'run'>;

/** One difference between the approved plan and the fresh look. */
export interface Drift {
  readonly pid: number;
  readonly what:
    | 'gone'
    | 'replaced'
    | 'not-holding'
    | 'new-holder'
    | 'memory-grew'
    | 'memory-fell'
    | 'now-protected'
    | 'machine-changed'
    | 'unreadable';
  readonly detail: string;
}

export interface Run {
  readonly id: RunId;
  readonly host: HostName;
  readonly phase: RunPhase;
  /** Grows by one with each committed append; the expected value of the next. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly events: readonly RunEvent[];
}
