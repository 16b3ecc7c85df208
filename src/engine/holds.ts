/** Whose holds stand in a person's way, as the store has them now. */
import {type Campaign, holdsInTheWay} from '../domain/campaign.ts';
import type {HostName} from '../domain/host.ts';
import type {Person} from '../domain/person.ts';
import type {EngineDeps} from './deps.ts';

/** `gpus` null: any of the host's. */
export async function holdsOf(
  deps: EngineDeps,
  host: HostName,
  person: Person,
  gpus: readonly number[] | null,
): Promise<readonly Campaign[]> {
  const nowMs = deps.clock.now();
  return holdsInTheWay(await deps.store.campaigns.all(nowMs), {host, gpus}, person, deps.policy.samePerson, nowMs);
}
