/** A plan and what the tools of its owners know. For people's eyes and for the next step: no part of what a go covers. */
import {askable, type Owner, type OwnerFacts, type OwnerName, withFacts} from './owner.ts';
import type {Plan} from './plan.ts';

/** Whose owners are worth a question before a go: of all that may be signalled, targets first. */
export function ownersToAsk(plan: Plan): readonly OwnerName[] {
  const choosable = plan.kept.filter((kept) => kept.choosable);
  return askable([...plan.targets, ...choosable].flatMap((one) => one.owners));
}

/** The same plan, with what was said of its owners. */
export function withOwnerFacts(plan: Plan, facts: readonly OwnerFacts[]): Plan {
  if (facts.length === 0) return plan;
  const known = <T extends {readonly owners: readonly Owner[]}>(one: T): T => ({
    ...one,
    owners: withFacts(one.owners, facts),
  });
  return {...plan, targets: plan.targets.map(known), kept: plan.kept.map(known)};
}

/** What a plan knows already: its next version need not ask again. */
export function ownerFactsIn(plan: Plan): readonly OwnerFacts[] {
  return [...plan.targets, ...plan.kept].flatMap((one) => one.owners).flatMap((owner) => owner.facts ?? []);
}
