/** Asks the tools of the owners that a plan names. Signals nothing; a question without an answer costs only its answer. */
import type {OwnedLook} from '../domain/owned.ts';
import type {OwnerFacts} from '../domain/owner.ts';
import {parseOwned} from '../domain/parse/owned.ts';
import {parseOwners} from '../domain/parse/owners.ts';
import type {Plan} from '../domain/plan.ts';
import {ownersToAsk} from '../domain/plan-owners.ts';
import {ownersToStop} from '../domain/stop-plan.ts';
import type {EngineDeps} from './deps.ts';

/** What the owners own that a plan could stop; null where the policy stops none of them, or nothing came back. */
export async function askOwned(
  deps: EngineDeps,
  plan: Plan,
  input: Parameters<typeof ownersToStop>[1],
): Promise<OwnedLook | null> {
  const asked = ownersToStop(plan, input);
  if (asked.length === 0) return null;
  const answer = await deps.remote.host(plan.host).owned(asked);
  const look = answer.ok ? parseOwned(answer.value, asked) : answer;
  if (look.ok) return look.value;
  deps.log.warn({host: plan.host, reason: look.failure.reason}, 'no owner is stopped: what it owns is not known');
  return null;
}

export async function askOwners(deps: EngineDeps, plan: Plan): Promise<readonly OwnerFacts[]> {
  const asked = ownersToAsk(plan);
  if (asked.length === 0) return [];
  const answer = await deps.remote.host(plan.host).owners(asked);
  const facts = answer.ok ? parseOwners(answer.value, asked) : answer;
  if (facts.ok) return facts.value;
  deps.log.warn({host: plan.host, reason: facts.failure.reason}, 'nothing more is known of the owners');
  return [];
}
