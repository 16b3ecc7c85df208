/**
 * When closed runs are looked at again. The store says what is owed, so what came due while the bot was down is found at
 * its start, made once, and marked late.
 */
import type {Clock, DueLook, Engine, Log} from '../engine/ports.ts';

export interface LaterLooksDeps {
  readonly engine: Pick<Engine, 'laterLooks' | 'lookLater'>;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the store is asked for what other programs closed, ms. */
  readonly everyMs: number;
  /** Ends it: no look is begun any more. */
  readonly over: AbortSignal;
}

/** A look that is made later than this, ms, is late, whatever kept us. */
const LATE_MS = 60_000;

/** Resolves once it is over and no look is under way. A failing store is waited out. */
export async function keepLaterLooks(deps: LaterLooksDeps): Promise<void> {
  const {engine, clock, log, everyMs, over} = deps;
  const startedAtMs = clock.now();
  while (!over.aborted) {
    const owed = await engine.laterLooks();
    if (!owed.ok) log.error({failure: owed.failure}, 'owed looks could not be read');
    const looks = owed.ok ? owed.value : [];
    const due = looks.filter((look) => look.dueAtMs <= clock.now());
    await Promise.all(due.map((look) => makeOne(deps, look, startedAtMs)));
    // What failed is still owed; it is asked for again with the next one, never at once.
    await clock.wait(Math.max(0, Math.min(everyMs, nextAfter(looks, due) - clock.now())), over);
  }
}

async function makeOne({engine, clock, log, over}: LaterLooksDeps, look: DueLook, startedAtMs: number): Promise<void> {
  const late = look.dueAtMs < startedAtMs || clock.now() - look.dueAtMs > LATE_MS;
  const made = await engine.lookLater(look.runId, {late, over});
  if (!made.ok && !over.aborted) log.error({runId: look.runId, failure: made.failure}, 'a later look was not noted');
}

function nextAfter(looks: readonly DueLook[], due: readonly DueLook[]): number {
  const waiting = looks.filter((look) => !due.includes(look)).map((look) => look.dueAtMs);
  return waiting.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...waiting);
}
