/** Appending to a run: one transaction with the message it owes, then told to whoever listens. */
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import {hasSignalled, nextLookAtMs} from '../domain/later-look.ts';
import type {Outcome, OutcomeWord} from '../domain/outcome.ts';
import type {Run, RunEvent, RunPhase} from '../domain/run.ts';
import type {EngineDeps} from './deps.ts';
import type {Append, OutboxRow} from './ports.ts';

/** Appends, or says who was first: the run changed under us, or the machine is busy under another name. */
export async function commit(
  deps: EngineDeps,
  run: Run,
  phase: RunPhase,
  events: readonly RunEvent[],
  more: Partial<Append> & {readonly unleased?: true} = {},
): Promise<Result<Run>> {
  const {unleased, ...append} = more;
  const result = await deps.store.append({
    runId: run.id,
    expectedVersion: run.version,
    phase,
    events,
    outbox: owed(run, events),
    // Whoever was taken for dead and replaced can't add to the run any more. A waiting run is nobody's.
    ...(unleased === true ? {} : {owner: deps.owner}),
    ...(phase === 'closed' ? {nextLookAtMs: nextLookAtMs({...run, events: [...run.events, ...events]})} : {}),
    ...append,
  });
  if (result.ok) {
    deps.announcer.announce(result.run, events);
    return ok(result.run);
  }
  deps.log.warn({runId: run.id, conflict: result.conflict}, 'run changed under us');
  if (result.conflict === 'machine-busy' && result.other !== null) {
    return fail({reason: 'machine-busy', host: run.host, otherHost: result.other.host, runId: result.other.id});
  }
  return fail({reason: 'run-ended', runId: run.id, outcome: result.other?.phase ?? 'changed'});
}

/** Ends a run with an outcome and lets go of its lease. */
export async function close(
  deps: EngineDeps,
  run: Run,
  outcome: Outcome,
  before: readonly RunEvent[] = [],
): Promise<Result<Run>> {
  const atMs = deps.clock.now();
  const signalled = hasSignalled({...run, events: [...run.events, ...before]});
  const {lookAgainMs} = deps.policy;
  const looks = signalled && lookAgainMs.length > 0 ? {lookAgainMs} : {};
  return commit(deps, run, 'closed', [...before, {kind: 'closed', atMs, outcome, ...looks}], {releaseLease: true});
}

/** An outcome that no look stands behind: nothing was measured. */
export function bareOutcome(word: OutcomeWord, because: Failure | null): Outcome {
  return {word, gpus: [], survivors: [], because, freedAfterMs: null};
}

/** Messages that must reach people even if this program dies right after the commit. */
export function owed(run: Run, events: readonly RunEvent[]): readonly OutboxRow[] {
  return events.flatMap((event, at) =>
    event.kind === 'planned' || event.kind === 'approved' || event.kind === 'closed' || event.kind === 'noted'
      ? [
          {
            key: `${run.id}:${run.version + 1}:${at}:${event.kind}`,
            runId: run.id,
            kind: event.kind,
            body: {breakGlass: event.kind === 'approved' && event.breakGlass},
          },
        ]
      : [],
  );
}
