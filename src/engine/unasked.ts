/** Looks that nobody asked for by the host's name: none is made while a campaign measures there. */
import {asHold, type Campaign, measuringOn} from '../domain/campaign.ts';
import {type Failure, fail, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {EngineDeps} from './deps.ts';
import type {Look} from './ports.ts';
import {survey} from './survey.ts';

/** null: nobody measures there, or that cannot be told; looking goes on then, as it does without a store. */
export async function measured(deps: EngineDeps, host: HostName): Promise<Failure | null> {
  const nowMs = deps.clock.now();
  const kept = await deps.store.campaigns.live().catch(() => []);
  const campaign: Campaign | null = measuringOn(kept, host, nowMs);
  return campaign === null ? null : {reason: 'host-measured', host, hold: asHold(campaign)};
}

export async function surveyUnasked(
  deps: EngineDeps,
  host: HostName,
  wanted: {readonly match: string | null; readonly pids: readonly number[]},
): Promise<Result<Look>> {
  const failure = await measured(deps, host);
  return failure === null ? survey(deps, host, wanted) : fail(failure);
}
