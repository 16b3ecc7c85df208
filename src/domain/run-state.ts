/** The state of a run, read from its events. Each is one look at the stream; nothing is kept beside it. */
import type {Observation, OrderResult, StopResult} from './order.ts';
import type {Outcome} from './outcome.ts';
import type {MachineIdentity, ProcessIdentity} from './process.ts';
import type {ReclaimRequest} from './request.ts';
import type {Run, RunEvent, StoppedOwner} from './run.ts';
import type {Signal} from './signal.ts';
import type {Snapshot} from './snapshot.ts';

/** A plan that was shown, with what a go must carry. */
export type ShownPlan = Extract<RunEvent, {kind: 'planned'}>;
export type Go = Extract<RunEvent, {kind: 'approved'}>;

/** One signal to one process: the intent, written first, and what became of it. */
export interface Attempt {
  readonly rung: number;
  readonly signal: Signal;
  readonly identity: ProcessIdentity;
  readonly machine: MachineIdentity;
  readonly intendedAtMs: number;
  /** Host uptime past which this signal can't arrive any more. */
  readonly notAfterUptimeMs: number;
  /** null: no answer came back. Doubtful: to be looked at, never to be sent again. */
  readonly result: OrderResult | null;
  readonly detail: string;
  /** Host uptime of the answer; null without one. */
  readonly uptimeMs: number | null;
}

/** What was asked for. Every run begins with it. */
export function requestOf(run: Run): ReclaimRequest {
  const first = firstOf(run, 'requested');
  if (first === null) throw new Error(`Internal error: run ${run.id} has no request`);
  return first.request;
}

/** The newest plan that was shown; earlier ones are outdated. */
export function planOf(run: Run): ShownPlan | null {
  return lastOf(run, 'planned');
}

/** The go for the newest plan; null if there is none, or only one for an earlier plan. */
export function approvalOf(run: Run): Go | null {
  const shown = planOf(run);
  const go = lastOf(run, 'approved');
  return shown !== null && go !== null && go.digest === shown.digest ? go : null;
}

/**
 * Every signal that was intended, in that order, each with its result if one came. A result answers the newest intent
 * like it that is still open: a second go numbers its rungs from the start again.
 */
export function attemptsOf(run: Run): readonly Attempt[] {
  const attempts: Attempt[] = [];
  for (const event of run.events) {
    if (event.kind === 'signal-intended') attempts.push(...openAttempts(event));
    if (event.kind !== 'signal-result') continue;
    const {rung, pid, signal, result, detail, uptimeMs} = event;
    const at = attempts.findLastIndex(
      (a) => a.rung === rung && a.identity.pid === pid && a.signal === signal && a.result === null,
    );
    const attempt = attempts[at];
    if (attempt !== undefined) attempts[at] = {...attempt, result, detail, uptimeMs};
  }
  return attempts;
}

/** Attempts that may have been delivered, or may yet be, without our knowing. */
export function doubtfulAttempts(run: Run): readonly Attempt[] {
  return attemptsOf(run).filter((attempt) => attempt.result === null);
}

/** One stop of an owner: the intent, written first, and what became of it. */
export interface StopAttempt {
  readonly rung: number;
  readonly owner: StoppedOwner;
  readonly identities: readonly ProcessIdentity[];
  readonly machine: MachineIdentity;
  readonly intendedAtMs: number;
  /** Host uptime past which nothing comes of it any more, what its tool began included. */
  readonly overAtUptimeMs: number;
  /** null: no answer came back. Doubtful: to be looked at, never to be tried again. */
  readonly result: StopResult | null;
  readonly detail: string;
  readonly uptimeMs: number | null;
}

/** Every stop that was intended, in that order. A result answers the newest open intent of the same owner. */
export function stopsOf(run: Run): readonly StopAttempt[] {
  const stops: StopAttempt[] = [];
  for (const event of run.events) {
    if (event.kind === 'stop-intended') {
      const {rung, owner, identities, machine, atMs} = event;
      const overAtUptimeMs = event.notAfterUptimeMs + event.timeoutMs;
      const open = {result: null, detail: '', uptimeMs: null};
      stops.push({rung, owner, identities, machine, intendedAtMs: atMs, overAtUptimeMs, ...open});
    }
    if (event.kind !== 'stop-result') continue;
    const {rung, owner, result, detail, uptimeMs} = event;
    const at = stops.findLastIndex((one) => one.rung === rung && one.owner.id === owner.id && one.result === null);
    const stop = stops[at];
    if (stop !== undefined) stops[at] = {...stop, result, detail, uptimeMs};
  }
  return stops;
}

/** Whether anything was tried on the host: a signal, or a stop of an owner. */
export function hasTried(run: Run): boolean {
  return attemptsOf(run).length + stopsOf(run).length > 0;
}

/** The last thing seen of each process that was watched, by PID. */
export function lastSeenOf(run: Run): ReadonlyMap<number, Observation> {
  return new Map(eventsOf(run, 'seen').map((event) => [event.pid, event.observation]));
}

/** How the run ended: final. null while it is open. */
export function outcomeOf(run: Run): Outcome | null {
  return firstOf(run, 'closed')?.outcome ?? null;
}

/** What the host looked like before anything was sent: the survey that the run began with. */
export function firstSnapshot(run: Run): Snapshot | null {
  return firstOf(run, 'surveyed')?.snapshot ?? null;
}

/** The newest whole look at the host, of whatever step. */
export function lastSnapshot(run: Run): Snapshot | null {
  for (const event of run.events.toReversed()) {
    if ('snapshot' in event && event.snapshot !== null) return event.snapshot;
  }
  return null;
}

function openAttempts(intent: EventOf<'signal-intended'>): readonly Attempt[] {
  const {rung, signal, machine, notAfterUptimeMs, atMs} = intent;
  return intent.identities.map((identity) => ({
    rung,
    signal,
    identity,
    machine,
    intendedAtMs: atMs,
    notAfterUptimeMs,
    result: null,
    detail: '',
    uptimeMs: null,
  }));
}

type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, {kind: K}>;

function eventsOf<K extends RunEvent['kind']>(run: Run, kind: K): readonly EventOf<K>[] {
  return run.events.filter((event): event is EventOf<K> => event.kind === kind);
}

function firstOf<K extends RunEvent['kind']>(run: Run, kind: K): EventOf<K> | null {
  return eventsOf(run, kind)[0] ?? null;
}

function lastOf<K extends RunEvent['kind']>(run: Run, kind: K): EventOf<K> | null {
  return eventsOf(run, kind).at(-1) ?? null;
}
