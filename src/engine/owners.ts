/** Asks the tools of the owners that a plan names. Signals nothing; a question without an answer costs only its answer. */
import type {OwnerFacts} from '../domain/owner.ts';
import {parseOwners} from '../domain/parse/owners.ts';
import type {Plan} from '../domain/plan.ts';
import {ownersToAsk} from '../domain/plan-owners.ts';
import type {EngineDeps} from './deps.ts';

export async function askOwners(deps: EngineDeps, plan: Plan): Promise<readonly OwnerFacts[]> {
  const asked = ownersToAsk(plan);
  if (asked.length === 0) return [];
  const answer = await deps.remote.host(plan.host).owners(asked);
  const facts = answer.ok ? parseOwners(answer.value, asked) : answer;
  if (facts.ok) return facts.value;
  deps.log.warn({host: plan.host, reason: facts.failure.reason}, 'nothing more is known of the owners');
  return [];
}
