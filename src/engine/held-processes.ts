/** Holds on single processes: over by themselves once none of them is there any more. */
import {BY_ITSELF, type CampaignId, campaignState, type KeptCampaign, RELEASED} from '../domain/campaign.ts';
import {ok, type Result} from '../domain/failure.ts';
import {howEnded} from '../domain/watch.ts';
import type {EngineDeps} from './deps.ts';
import {surveyUnasked} from './unasked.ts';

/** One that holds GPUs as well goes on without its processes. */
export function isWatched(kept: KeptCampaign, nowMs: number): boolean {
  const {processes, gpus} = kept.campaign;
  return processes.length > 0 && gpus === null && campaignState(kept, nowMs) === 'holding';
}

/** A look that fails tells nothing of them: they are held on. So is a host that left the hosts file. */
export async function checkHeld(deps: EngineDeps, id: CampaignId): Promise<Result<null>> {
  const nowMs = deps.clock.now();
  const kept = (await deps.store.campaigns.live()).find(({campaign}) => campaign.id === id);
  if (kept === undefined || !isWatched(kept, nowMs)) return ok(null);
  const {processes, hosts} = kept.campaign;
  const [host] = hosts;
  if (host === undefined || !deps.hosts.has(host)) return ok(null);
  const look = await surveyUnasked(deps, host, {match: null, pids: processes.map(({pid}) => pid)});
  if (!look.ok) return ok(null);
  const ends = processes.map((process) => howEnded(process, look.value.snapshot));
  if (ends.includes(null)) return ok(null);
  const atMs = deps.clock.now();
  const how = ends.includes('reboot') ? 'reboot' : 'gone';
  // What became of them first: whoever reads of the end reads why.
  await deps.store.campaigns.note(id, {what: RELEASED, atMs, by: how});
  await deps.store.campaigns.end(id, {by: BY_ITSELF, atMs, after: []});
  deps.log.info({campaign: id, how}, 'what was held has ended');
  return ok(null);
}
