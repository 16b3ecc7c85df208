/** What is known of each target while the ladder is walked: signals intended, results heard, states seen. */
import type {LadderState, LadderTarget} from '../domain/escalation.ts';
import type {AttemptResult} from '../domain/judge.ts';
import {tellingSamples} from '../domain/memory-samples.ts';
import type {Observation, OrderResult, SignalEvent, StopResult} from '../domain/order.ts';
import type {Plan, Target} from '../domain/plan.ts';
import type {GoChoice, RunEvent} from '../domain/run.ts';
import type {Signal} from '../domain/signal.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import type {Stop} from '../domain/stop-owner.ts';
import {AskedStops} from './asked-stops.ts';
import type {Clock} from './ports.ts';
import type {RunOn} from './run-on.ts';

interface Known {
  readonly target: Target;
  readonly attempts: Signal[];
  seen: Observation;
  excluded: boolean;
  last: OrderResult | null;
  signalled: boolean;
  /** False from an intent until its result is heard. */
  answered: boolean;
}

/** Samples of memory kept per rung: the first, the last and every change; of more than this, the largest changes. */
const MEMORY_SAMPLES = 60;

export class Ladder {
  readonly #known: ReadonlyMap<number, Known>;
  readonly stops: AskedStops;
  readonly #clock: Clock;
  #termTicks: number | null = null;
  #lastSentUptimeMs: number | null = null;
  #settledUptimeMs: number | null = null;
  #heard: SignalEvent[] = [];
  readonly #once = new Set<string>();
  readonly #seenTold = new Map<number, Observation>();

  /** `stops`: those whose every process is among the targets, or ended before them. */
  constructor(targets: readonly Target[], clock: Clock, stops: readonly Stop[] = []) {
    this.#known = new Map(
      targets.map((target) => [
        target.identity.pid,
        {target, attempts: [], seen: 'alive', excluded: false, last: null, signalled: false, answered: true},
      ]),
    );
    this.stops = new AskedStops(stops);
    this.#clock = clock;
  }

  state(choice: GoChoice, plan: Plan, runOn: RunOn): LadderState {
    return {
      targets: [...this.#known.values()].map(
        (one): LadderTarget => ({
          pid: one.target.identity.pid,
          role: one.target.role,
          takesTerm: one.target.takesTerm,
          attempts: one.attempts,
          mayWrite: one.target.takesTerm || one.target.findings.includes('writing'),
          seen: one.seen,
          excluded: one.excluded,
        }),
      ),
      stops: this.stops.state(),
      choice,
      graceMs: plan.graceMs,
      memberDelayMs: plan.memberDelayMs,
      longestGraceMs: plan.longestGraceMs,
      ...runOn.state(),
      sinceTermMs: this.#termTicks === null ? 0 : this.#clock.ticks() - this.#termTicks,
    };
  }

  intend(pids: readonly number[], signal: Signal): void {
    if (signal === 'SIGTERM') this.#termTicks = this.#clock.ticks();
    for (const pid of pids) {
      const one = this.#known.get(pid);
      if (one === undefined) continue;
      one.attempts.push(signal);
      one.answered = false;
    }
  }

  /** The owner at this place is about to be stopped: once, whatever comes of it. */
  intendStop(at: number): void {
    this.#answer(this.stops.intend(at), false);
  }

  /** Takes an event once, whether it came live or in the closing transcript. */
  hear(event: SignalEvent): void {
    const key = JSON.stringify(event);
    if (event.kind === 'heartbeat' || this.#once.has(key)) return;
    this.#once.add(key);
    // Each exec says anew whom it sees alive: told once is enough.
    if (event.kind === 'seen' && this.#seenTold.get(event.pid) === event.observation) return;
    if (event.kind === 'seen') this.#seenTold.set(event.pid, event.observation);
    this.#heard.push(event);
    if (event.kind === 'stop') this.#stop(event.result, event.uptimeMs);
    if (event.kind === 'order') this.#order(event.pid, event.result, event.uptimeMs);
    if (event.kind === 'seen') this.#see(event.pid, event.observation);
    if (event.kind === 'settled' && event.how === 'expected') this.#settledUptimeMs = event.uptimeMs;
  }

  /** A whole look instead of events: after a lost connection. */
  see(snapshot: Snapshot): void {
    for (const [pid, one] of this.#known) {
      const process = snapshot.processes.find((candidate) => candidate.pid === pid);
      if (process === undefined) this.#see(pid, 'gone');
      else if (process.startTicks !== one.target.identity.startTicks) this.#see(pid, 'replaced');
      else if (process.state === 'Z' && process.threads <= 1) this.#see(pid, 'zombie');
      else this.#see(pid, process.state === 'D' ? 'stuck' : 'alive');
    }
  }

  /** The targets that still stand and may be signalled, as the plan has them. */
  left(): readonly Target[] {
    return [...this.#known.values()]
      .filter((one) => !one.excluded && (one.seen === 'alive' || one.seen === 'stuck'))
      .map((one) => one.target);
  }

  /** Events of this rung to be stored; heard ones are let go of. */
  drain(rung: number, atMs: number): RunEvent[] {
    const events: RunEvent[] = [];
    const samples = new Set(
      tellingSamples(
        this.#heard.filter((event) => event.kind === 'memory'),
        MEMORY_SAMPLES,
      ),
    );
    for (const event of this.#heard) {
      switch (event.kind) {
        case 'order':
          events.push({
            kind: 'signal-result',
            atMs,
            rung,
            pid: event.pid,
            signal: event.signal,
            result: event.result,
            detail: event.detail,
            uptimeMs: event.uptimeMs,
          });
          break;
        case 'seen':
          events.push({kind: 'seen', atMs, pid: event.pid, observation: event.observation, uptimeMs: event.uptimeMs});
          break;
        case 'memory':
          if (samples.has(event)) events.push({kind: 'memory', atMs, uptimeMs: event.uptimeMs, usedMiB: event.usedMiB});
          break;
        case 'settled':
          events.push({kind: 'settled', atMs, how: event.how, uptimeMs: event.uptimeMs});
          break;
        case 'stop': {
          const owner = this.stops.lastAsked();
          const {result, detail, uptimeMs} = event;
          if (owner !== null) events.push({kind: 'stop-result', atMs, rung, owner, result, detail, uptimeMs});
          break;
        }
        case 'heartbeat':
          break;
      }
    }
    this.#heard = [];
    return events;
  }

  results(): ReadonlyMap<number, AttemptResult> {
    const results = new Map<number, AttemptResult>();
    for (const [pid, one] of this.#known) {
      const signal = one.attempts.at(-1);
      if (signal === undefined) continue;
      // An intent without an answer may have been delivered: it counts as sent until a look says otherwise.
      results.set(pid, {signal, result: one.last ?? 'sent', signalled: one.signalled || one.last === null});
    }
    return results;
  }

  pids(): readonly number[] {
    return [...this.#known.keys()];
  }

  /** Targets still standing whose last signal was intended and never answered for. */
  doubtful(): readonly Target[] {
    return this.left().filter((target) => this.#known.get(target.identity.pid)?.answered === false);
  }

  observations(): ReadonlyMap<number, Observation> {
    return new Map([...this.#known].map(([pid, one]) => [pid, one.seen]));
  }

  /** From the last signal to memory verified, by the host's clock; null if not both happened. */
  freedAfterMs(): number | null {
    if (this.#lastSentUptimeMs === null || this.#settledUptimeMs === null) return null;
    return this.#settledUptimeMs >= this.#lastSentUptimeMs ? this.#settledUptimeMs - this.#lastSentUptimeMs : null;
  }

  /** True if this look came after the last signal. */
  isSettledBy(snapshot: Snapshot): boolean {
    return this.#lastSentUptimeMs === null || snapshot.uptimeMs >= this.#lastSentUptimeMs;
  }

  #stop(result: StopResult, uptimeMs: number): void {
    const stop = this.stops.hear(result);
    if (stop === null) return;
    this.#answer(stop, true);
    switch (result) {
      case 'stopped':
        this.#lastSentUptimeMs = uptimeMs;
        break;
      // These speak of the host: nothing more is sent in this run.
      case 'other-machine':
      case 'late':
      case 'denied-by-host':
        this.#excludeAll();
        break;
      case 'changed':
      case 'refused-by-owner':
      case 'not-permitted':
      case 'failed':
      case 'timed-out':
        break;
    }
  }

  #answer(stop: Stop, answered: boolean): void {
    for (const pid of stop.pids) {
      const one = this.#known.get(pid);
      if (one !== undefined) one.answered = answered;
    }
  }

  #order(pid: number, result: OrderResult, uptimeMs: number): void {
    const one = this.#known.get(pid);
    if (one === undefined) return;
    one.last = result;
    one.answered = true;
    switch (result) {
      case 'sent':
        one.signalled = true;
        this.#lastSentUptimeMs = uptimeMs;
        break;
      case 'gone':
        one.seen = 'gone';
        break;
      case 'replaced':
        one.seen = 'replaced';
        break;
      // These speak of the host, not of one process: nothing more is sent in this run.
      case 'other-machine':
      case 'late':
      case 'denied-by-host':
        this.#excludeAll();
        break;
      case 'not-holding':
      case 'unreadable':
      case 'not-permitted':
      case 'failed':
        one.excluded = true;
        break;
    }
  }

  #excludeAll(): void {
    for (const one of this.#known.values()) one.excluded = true;
  }

  #see(pid: number, observation: Observation): void {
    const one = this.#known.get(pid);
    if (one !== undefined) one.seen = observation;
  }
}
