/** The owners that a run may stop: which of them was asked, once each, and what came of it. */
import type {LadderStop} from '../domain/escalation.ts';
import {type StopResult, wasCalled} from '../domain/order.ts';
import type {StoppedOwner} from '../domain/run.ts';
import type {Stop} from '../domain/stop-owner.ts';

interface Asked {
  readonly stop: Stop;
  tried: boolean;
  result: StopResult | null;
}

export class AskedStops {
  readonly #all: readonly Asked[];
  /** One owner a rung: what is heard of a stop is of the one that was asked last. */
  #last: Asked | null = null;

  constructor(stops: readonly Stop[]) {
    this.#all = stops.map((stop) => ({stop, tried: false, result: null}));
  }

  state(): readonly LadderStop[] {
    return this.#all.map(({stop: {pids, endsInKill}, tried}) => ({pids, endsInKill, tried}));
  }

  at(at: number): Stop {
    return this.#found(at).stop;
  }

  intend(at: number): Stop {
    const found = this.#found(at);
    if (found.tried) throw new Error(`Internal error: ${found.stop.id} is to be stopped twice`);
    found.tried = true;
    this.#last = found;
    return found.stop;
  }

  /** The stop that this is the answer to; null for an answer that nobody waits for. */
  hear(result: StopResult): Stop | null {
    if (this.#last === null) return null;
    this.#last.result = result;
    return this.#last.stop;
  }

  lastAsked(): StoppedOwner | null {
    return this.#last === null ? null : stoppedOwner(this.#last.stop);
  }

  /** The tool of some owner was called, or may have been. */
  called(): boolean {
    return this.#all.some(({tried, result}) => tried && wasCalled(result));
  }

  #found(at: number): Asked {
    const found = this.#all[at];
    if (found === undefined) throw new Error(`Internal error: no owner at ${at}`);
    return found;
  }
}

export function stoppedOwner({kind, id, name, run}: Stop): StoppedOwner {
  return {kind, id, name, run};
}
