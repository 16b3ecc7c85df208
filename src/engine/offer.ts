/** Before "Choose…": the host is looked at again, and what is then offered is kept. Nothing of the run changes by it. */
import type {Diagnosis} from '../domain/diagnosis.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import {makePlan} from '../domain/make-plan.ts';
import {choosableIn, familiesOf, type Offer, type Stale, staleBecause} from '../domain/offer.ts';
import type {Plan} from '../domain/plan.ts';
import type {PlanInput} from '../domain/plan-input.ts';
import {withOwnerFacts} from '../domain/plan-owners.ts';
import {recheck} from '../domain/recheck.ts';
import type {Run} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import {withStops} from '../domain/stop-plan.ts';
import {growing, NOTHING_WRITTEN, nothingRead} from '../domain/writing.ts';
import {mayWritePids} from '../domain/writing-targets.ts';
import {waitingPlan} from './decide.ts';
import {type EngineDeps, hostOf} from './deps.ts';
import type {KeptOffer} from './offer-ports.ts';
import {askOwned, askOwners} from './owners.ts';
import type {Look} from './ports.ts';
import {diagnoseWithMemory, EARLIER_LOOKS_MS, surveyFor} from './survey.ts';
import {lookAtWrites} from './writes.ts';

export async function offer(deps: EngineDeps, run: Run): Promise<Result<KeptOffer>> {
  const waiting = stillWaiting(deps, run, null);
  if (!waiting.ok) return waiting;
  const {plan} = waiting.value;
  const unseen = choosableIn(plan).filter((one) => one.gpuUuids.length === 0);
  const look = await surveyFor(deps, run.host, plan, {
    match: requestOf(run).match,
    pids: [...new Set([...plan.targets, ...unseen].map((one) => one.identity.pid))],
  });
  return offerFrom(deps, run, look);
}

/** The same from a look that was made, or that failed. */
export async function offerFrom(deps: EngineDeps, run: Run, look: Result<Look>): Promise<Result<KeptOffer>> {
  const waiting = stillWaiting(deps, run, null);
  if (!waiting.ok) return waiting;
  const {plan, digest} = waiting.value;
  const before = surveyOf(run);
  const stale: Stale | null = look.ok
    ? staleBecause(plan, before, look.value.snapshot)
    : {why: 'no-look', failure: look.failure};
  const fresh = look.ok && stale === null ? look.value : null;
  const base = {runId: run.id, basedOn: digest};
  const made =
    fresh === null
      ? ok(await offerAsStored(deps, run, plan, before, {...base, stale}))
      : await offerOfLook(deps, run, plan, fresh.diagnosis, base);
  if (!made.ok) return made;

  // A look takes its time: who decided meanwhile is told instead.
  const waits = stillWaiting(deps, (await deps.store.load(run.id)) ?? run, digest);
  if (!waits.ok) return waits;
  const kept = {...made.value, id: deps.digest(JSON.stringify(made.value)).slice(0, 24)};
  await deps.store.offers.keep(kept, fresh?.snapshot ?? null, deps.clock.now());
  return ok(kept);
}

/** The look behind the plan that waits. */
export function surveyOf(run: Run): Snapshot {
  const surveyed = run.events.findLast((event) => event.kind === 'surveyed');
  if (surveyed?.kind !== 'surveyed') throw new Error(`Internal error: run ${run.id} waits without a survey`);
  return surveyed.snapshot;
}

/** The plan that waits; `digest`: only that one will do. */
export function stillWaiting(
  deps: EngineDeps,
  run: Run,
  digest: string | null,
): Result<NonNullable<ReturnType<typeof waitingPlan>>> {
  const waiting = waitingPlan(run);
  const no = (failure: Failure) => fail(failure);
  if (waiting === null) return no({reason: 'run-ended', runId: run.id, outcome: run.phase});
  if (waiting.expiresAtMs <= deps.clock.now())
    return no({reason: 'approval-expired', runId: run.id, atMs: waiting.expiresAtMs});
  if (digest !== null && digest !== waiting.digest)
    return no({reason: 'plan-outdated', runId: run.id, given: digest, current: waiting.digest});
  return ok(waiting);
}

/** What a plan of this run is made from, given a look: the same for what is offered and for what is chosen of it. */
export async function choiceInput(
  deps: EngineDeps,
  run: Run,
  diagnosis: Diagnosis,
  more: Pick<PlanInput, 'version' | 'writing' | 'nowMs'> & {readonly pids: readonly number[]},
): Promise<PlanInput> {
  const {snapshot} = diagnosis;
  const {pids, ...rest} = more;
  return {
    ...rest,
    runId: run.id,
    diagnosis,
    request: {...requestOf(run), pids},
    context: {
      host: hostOf(deps, run.host),
      policy: deps.policy,
      baselines: await deps.store.baselines(snapshot.gpus.map((gpu) => gpu.uuid)),
    },
    earlier: await deps.store.looksAt(run.host, snapshot.machine.bootId, deps.clock.now() - EARLIER_LOOKS_MS),
    // Exactly these: a ghost or a relative that was unticked does not come back by itself.
    only: new Set(pids),
  };
}

async function offerOfLook(
  deps: EngineDeps,
  run: Run,
  was: Plan,
  diagnosis: Diagnosis,
  base: Pick<Offer, 'runId' | 'basedOn'>,
): Promise<Result<Offer>> {
  const checked = recheck(was, diagnosis);
  const left = checked.go ? checked.targets.map((target) => target.identity.pid) : [];
  const input = await choiceInput(deps, run, diagnosis, {
    version: was.version + 1,
    writing: NOTHING_WRITTEN,
    nowMs: diagnosis.snapshot.takenAtMs,
    pids: left,
  });
  const first = makePlan(input);
  if (!first.ok) return first;
  const pids = mayWritePids(first.value);
  const [writes, owners] = await Promise.all([
    pids.length === 0 ? null : lookAtWrites(deps, run.host, pids),
    askOwners(deps, first.value),
  ]);
  const writing = pids.length === 0 ? NOTHING_WRITTEN : writes === null ? nothingRead(pids) : growing(writes);
  const made = makePlan({...input, writing});
  if (!made.ok) return made;
  const known = withOwnerFacts(made.value, owners);
  const owned = await askOwned(deps, known, input);
  // Who runs under such an owner and was no target is offered beside it, and ticked by nobody.
  const unticked = new Set(owned?.owners.flatMap((one) => one.pids ?? []).filter((pid) => !left.includes(pid)));
  const plan = withStops(known, owned, {...input, unticked});
  return ok({...base, plan, families: familiesIn(input, plan), drift: checked.drift, stale: null});
}

async function offerAsStored(
  deps: EngineDeps,
  run: Run,
  plan: Plan,
  snapshot: Snapshot,
  base: Pick<Offer, 'runId' | 'basedOn' | 'stale'>,
): Promise<Offer> {
  const input = await choiceInput(deps, run, await diagnoseWithMemory(deps, snapshot), {
    version: plan.version,
    writing: plan.writing,
    nowMs: plan.madeAtMs,
    pids: [],
  });
  return {...base, plan, families: familiesIn(input, plan), drift: []};
}

/** Workloads are only known among targets: here everybody is one, for the eyes of people. */
function familiesIn(input: PlanInput, plan: Plan): Offer['families'] {
  const pids = choosableIn(plan).map((one) => one.identity.pid);
  const everybody = makePlan({...input, request: {...input.request, pids}, only: new Set(pids)});
  return everybody.ok ? familiesOf(everybody.value) : {};
}
