/** After the close: is it still free? Looks, compares, and adds a note to the run. Signals nothing, changes no outcome. */
import {fail, ok, type Result} from '../domain/failure.ts';
import {type Note, nextLookAtMs, notedSoFar, type OwedLook, owedLooks} from '../domain/later-look.ts';
import {type Person, personId} from '../domain/person.ts';
import {compareLater} from '../domain/return.ts';
import type {Run, RunEvent, RunId} from '../domain/run.ts';
import {planOf, requestOf} from '../domain/run-state.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import {commit} from './commit.ts';
import type {EngineDeps} from './deps.ts';
import type {Look} from './ports.ts';
import {diagnoseWithMemory} from './survey.ts';
import {surveyUnasked} from './unasked.ts';

interface How {
  readonly late: boolean;
  readonly over?: AbortSignal;
}

/** The newest look that is due; it stands for those that were missed before it. */
export async function lookLater(deps: EngineDeps, id: RunId, how: How): Promise<Result<Run>> {
  const run = await deps.store.load(id);
  if (run === null) return fail({reason: 'run-unknown', given: id, nearest: []});
  const due = owedLooks(run).findLast((look) => look.dueAtMs <= deps.clock.now());
  if (due === undefined) return ok(run);
  const look = deps.hosts.has(run.host)
    ? await surveyUnasked(deps, run.host, {match: requestOf(run).match, pids: targetsOf(run)})
    : fail({reason: 'host-unknown', host: run.host, nearest: []});
  if (!look.ok && how.over?.aborted === true) return look;
  const timed = {afterMs: due.afterMs, last: due.last, late: how.late};
  return add(
    deps,
    id,
    look.ok ? await noteOf(deps, run, look.value, timed) : {...timed, what: 'no-look', failure: look.failure},
  );
}

export async function stopLooking(deps: EngineDeps, run: Run, person: Person): Promise<Result<Run>> {
  return add(deps, run.id, {what: 'stopped', by: personId(person)});
}

type Timed = Pick<OwedLook, 'afterMs' | 'last'> & {readonly late: boolean};

async function noteOf(deps: EngineDeps, run: Run, look: Look, timed: Timed): Promise<Note> {
  const plan = planOf(run)?.plan;
  const before = snapshotIn(run, 'rechecked') ?? snapshotIn(run, 'surveyed');
  if (plan === undefined || before === null)
    throw new Error(`Internal error: run ${run.id} signalled without a plan and a look`);
  const closing = snapshotIn(run, 'looked-again');
  const found = compareLater({
    plan,
    before,
    closing: closing === null ? null : await diagnoseWithMemory(deps, closing),
    later: look.diagnosis,
    noted: notedSoFar(run),
    toleranceMiB: deps.policy.toleranceMiB,
  });
  return found === null ? {...timed, what: 'other-machine'} : {...timed, what: 'compared', ...found};
}

/** A look and somebody who stops the looking may both add at once: whoever is second adds to what the first has written. */
const TRIES = 3;

/** Added to the run as it stands now: where somebody has stopped the looking meanwhile, nothing is added. */
async function add(deps: EngineDeps, id: RunId, note: Note): Promise<Result<Run>> {
  for (let tries = 1; ; tries += 1) {
    const run = await deps.store.load(id);
    if (run === null) return fail({reason: 'run-unknown', given: id, nearest: []});
    if (nextLookAtMs(run) === null) return ok(run);
    const added = await commit(deps, run, 'closed', [{kind: 'noted', atMs: deps.clock.now(), note}], {unleased: true});
    if (added.ok || tries === TRIES) return added;
  }
}

function snapshotIn(run: Run, kind: 'surveyed' | 'rechecked' | 'looked-again'): Snapshot | null {
  const event = run.events.findLast((one): one is Extract<RunEvent, {kind: typeof kind}> => one.kind === kind);
  return event?.snapshot ?? null;
}

function targetsOf(run: Run): readonly number[] {
  return planOf(run)?.plan.targets.map((target) => target.identity.pid) ?? [];
}
