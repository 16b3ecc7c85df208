/** Whose holds stand in a person's way, as the store has them now. */
import {type Campaign, holdsOn} from '../domain/campaign.ts';
import type {HostName} from '../domain/host.ts';
import type {Person} from '../domain/person.ts';
import type {EngineDeps} from './deps.ts';

/** What others hold on that host: GPUs and processes. */
export async function holdsOf(deps: EngineDeps, host: HostName, person: Person): Promise<readonly Campaign[]> {
  const nowMs = deps.clock.now();
  return holdsOn(await deps.store.campaigns.live(), host, person, deps.policy.samePerson, nowMs);
}
