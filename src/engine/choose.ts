/** "Choose…": the waiting plan with other ticks, as its next version, of the look that the form showed. The go looks again anyway. */
import {refusePlan} from '../domain/authority.ts';
import {fail, ok, type Result} from '../domain/failure.ts';
import {digestText, makePlan} from '../domain/make-plan.ts';
import {choosableIn} from '../domain/offer.ts';
import type {Plan} from '../domain/plan.ts';
import {ownerFactsIn, withOwnerFacts} from '../domain/plan-owners.ts';
import {isSameProcess} from '../domain/process.ts';
import type {RunEvent} from '../domain/run.ts';
import type {Snapshot} from '../domain/snapshot.ts';
import {withStops} from '../domain/stop-plan.ts';
import {commit} from './commit.ts';
import type {EngineDeps} from './deps.ts';
import {choiceInput, stillWaiting, surveyOf} from './offer.ts';
import type {ChooseRequest, Proposal} from './ports.ts';
import {diagnoseWithMemory} from './survey.ts';

/** Holds the choice to the same rules as the first plan: what is locked stays locked, whatever was ticked. */
export async function choose(deps: EngineDeps, choice: ChooseRequest): Promise<Result<Proposal>> {
  const {run, ticked} = choice;
  const waits = stillWaiting(deps, run, choice.digest);
  if (!waits.ok) return waits;
  const waiting = waits.value;
  const refuse = (why: ChoiceRefusal, pid: number | null = null) =>
    fail({reason: 'choice-refused', runId: run.id, pid, why});
  const shown = await shownTo(deps, choice, waiting.plan);
  if (shown === null) return refuse('form-unknown');
  if (shown === 'machine-changed') return refuse('machine-changed');
  const {basis, look} = shown;
  const offered = choosableIn(basis);
  const pids = ticked.map((one) => one.pid);
  if (pids.length === 0) return refuse('nobody');
  const stray = ticked.find((one) => !offered.some(({identity}) => isSameProcess(identity, one)));
  if (stray !== undefined) return refuse('not-offered', stray.pid);

  const diagnosis = await diagnoseWithMemory(deps, look ?? surveyOf(run));
  const input = await choiceInput(deps, run, diagnosis, {
    version: waiting.plan.version + 1,
    writing: basis.writing,
    // The time of its look: what the card calls "looked".
    nowMs: basis.madeAtMs,
    pids,
  });
  const made = makePlan(input);
  if (!made.ok) return made;
  const known = withOwnerFacts(made.value, ownerFactsIn(basis));
  const unticked = new Set(offered.map((one) => one.identity.pid).filter((pid) => !pids.includes(pid)));
  const plan = withStops(known, basis.owned, {...input, unticked});
  const joined = joinedIn(basis);
  const left = pids.find((pid) => !plan.targets.some((target) => target.identity.pid === pid) && !joined.has(pid));
  if (left !== undefined) {
    const wasServer = basis.targets.some((target) => target.identity.pid === left && target.role === 'server');
    return refuse(wasServer ? 'server-above-kept-work' : 'not-offered', left);
  }
  const tooMany = refusePlan(plan, deps.policy);
  if (tooMany !== null) return fail(tooMany);
  const digest = deps.digest(digestText(plan));
  const {expiresAtMs} = waiting;
  const atMs = deps.clock.now();
  const events: readonly RunEvent[] = [
    // In one commit: no plan ever stands behind a look that it was not made of.
    ...(look === null ? [] : [{kind: 'surveyed', atMs, snapshot: look} as const]),
    {kind: 'planned', atMs, plan, digest, expiresAtMs, by: choice.person},
  ];
  const written = await commit(deps, run, 'awaiting-go', events, {
    openApproval: {digest, expiresAtMs},
    unleased: true,
  });
  return written.ok ? ok({run: written.value, plan, digest, diagnosis}) : written;
}

type ChoiceRefusal = 'nobody' | 'not-offered' | 'server-above-kept-work' | 'machine-changed' | 'form-unknown';

/** What the person chose from. `look`: the fresh one; null where it is the one behind the waiting plan. */
async function shownTo(
  deps: EngineDeps,
  {run, offer: id, digest}: ChooseRequest,
  waiting: Plan,
): Promise<{readonly basis: Plan; readonly look: Snapshot | null} | 'machine-changed' | null> {
  if (id === null) return {basis: waiting, look: null};
  const offer = await deps.store.offers.load(id);
  if (offer === null || offer.runId !== run.id || offer.basedOn !== digest) return null;
  if (offer.stale?.why === 'machine-changed') return 'machine-changed';
  if (offer.stale !== null) return {basis: waiting, look: null};
  const look = await deps.store.offers.lookOf(id);
  return look === null ? null : {basis: offer.plan, look};
}

/** Who was offered only as part of what a stop would end is no target of its own without that stop. */
function joinedIn(basis: Plan): ReadonlySet<number> {
  const owned = new Set(basis.owned?.owners.flatMap((one) => one.pids));
  const withoutGpu = [
    ...basis.targets.filter((one) => one.heldBy === 'nothing').map((one) => one.identity.pid),
    ...basis.kept.filter((one) => one.why === 'unticked' && one.gpuUuids.length === 0).map((one) => one.pid),
  ];
  return new Set(withoutGpu.filter((pid) => owned.has(pid)));
}
