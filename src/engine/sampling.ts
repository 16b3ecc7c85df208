/** Samples of a campaign: one light look an interval, added up in the store. Whatever keeps one from being made is a gap. */
import {type CampaignId, campaignState, endsAtMs, isAbout, type KeptCampaign} from '../domain/campaign.ts';
import {ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {parseSample} from '../domain/parse/sample.ts';
import {
  closedAt,
  type DueSamples,
  type GapWhy,
  type HostSamples,
  LOOKS_APART_MS,
  noSamples,
  type Sample,
  slotsBefore,
  withGap,
  withSample,
} from '../domain/samples.ts';
import {mibOf, type Snapshot} from '../domain/snapshot.ts';
import type {DueSample} from './campaign-ports.ts';
import type {EngineDeps} from './deps.ts';

/** Soonest first: what is to be sampled, due or not. */
export function comingSamples(all: readonly KeptCampaign[], nowMs: number): readonly DueSample[] {
  return all
    .filter((one) => one.campaign.kind === 'profile' && campaignState(one, nowMs) === 'holding')
    .flatMap((kept) => {
      const {sampleMs, id, hosts} = kept.campaign;
      if (sampleMs === null) return [];
      return hosts.map((host) => ({id, host, dueAtMs: dueOf(kept, host, sampleMs).nextMs, everyMs: sampleMs}));
    })
    .toSorted((a, b) => a.dueAtMs - b.dueAtMs);
}

/** Makes the sample that is due, if it still is: by now the campaign may be ended, or somebody else may have made it. */
export async function takeSample(deps: EngineDeps, id: CampaignId, host: HostName): Promise<Result<null>> {
  const nowMs = deps.clock.now();
  const kept = (await deps.store.campaigns.live()).find(({campaign}) => campaign.id === id);
  const everyMs = kept?.campaign.sampleMs ?? null;
  if (kept === undefined || everyMs === null || campaignState(kept, nowMs) !== 'holding') return ok(null);
  const due = dueOf(kept, host, everyMs);
  if (due.nextMs > nowMs) return ok(null);
  // The slot that is open right now is the one to be made; those before it are gone.
  const slot = slotsBefore(due.nextMs, everyMs, nowMs - everyMs + 1);
  const toMs = slot.nextMs - everyMs;
  const before = withGap(due.samples, {fromMs: due.nextMs, toMs, missed: slot.missed, why: 'not-made'});
  const look = await lookOnce(deps, host);
  const atMs = deps.clock.now();
  // Ended by its time while the host answered: that one is no longer part of it.
  if (atMs > endsAtMs(kept)) return ok(null);
  const after: HostSamples =
    'why' in look
      ? withGap(before, {fromMs: slot.nextMs, toMs: slot.nextMs, missed: 1, why: look.why})
      : withSample(before, look, atMs, (index) => isAbout(kept.campaign, index));
  const fromMs = kept.samples.some(({samples}) => samples.host === host) ? due.nextMs : null;
  await deps.store.campaigns.keepSamples(id, {fromMs, nextMs: slot.nextMs + everyMs, samples: after});
  return ok(null);
}

/** What was sampled on this host, closed at the campaign's end; null: no samples were asked for. */
export function samplesOf(kept: KeptCampaign, host: HostName): HostSamples | null {
  const {sampleMs} = kept.campaign;
  return sampleMs === null ? null : closedAt(dueOf(kept, host, sampleMs), sampleMs, endsAtMs(kept));
}

/**
 * What somebody's own look showed of a campaign that is not sampled: nothing of it is a peak, but looks close together may
 * show that its GPUs stand idle.
 */
export async function noteLook(deps: EngineDeps, snapshot: Snapshot): Promise<void> {
  const nowMs = deps.clock.now();
  for (const kept of await deps.store.campaigns.live()) {
    const {campaign} = kept;
    const measures =
      campaign.kind === 'profile' && campaign.sampleMs === null && campaign.hosts.includes(snapshot.host);
    if (!measures || campaignState(kept, nowMs) !== 'holding') continue;
    const known = kept.samples.find(({samples}) => samples.host === snapshot.host);
    const before = known?.samples ?? noSamples(snapshot.host);
    const isRow = before.lastAtMs !== null && nowMs - before.lastAtMs <= LOOKS_APART_MS;
    const samples = withSample(isRow ? before : {...before, quietSinceMs: null}, sampleOf(snapshot), nowMs, (index) =>
      isAbout(campaign, index),
    );
    await deps.store.campaigns.keepSamples(campaign.id, {fromMs: known?.nextMs ?? null, nextMs: nowMs, samples});
  }
}

function sampleOf(snapshot: Snapshot): Sample {
  const {host, machine, gpus, charges, smi} = snapshot;
  return {
    host,
    bootId: machine.bootId,
    costMs: 0,
    gpus: gpus.map(({uuid, index, usedMiB, utilizationPercent}) => ({
      uuid,
      index,
      usedMiB: mibOf(usedMiB),
      utilizationPercent: utilizationPercent.known ? utilizationPercent.value : null,
    })),
    bills: smi.state === 'answered' ? charges.map(({gpuUuid, pid}) => `${gpuUuid} ${pid}`) : null,
  };
}

async function lookOnce(deps: EngineDeps, host: HostName): Promise<Sample | {readonly why: GapWhy}> {
  if (!deps.hosts.has(host)) return {why: 'host-gone'};
  // Its own looks are enough there, and what it frees is no measurement.
  const run = await deps.store.openRunOn(host);
  if (run?.phase === 'executing') return {why: 'run'};
  const answer = await deps.remote.host(host).sample();
  const read = answer.ok ? parseSample(answer.value) : answer;
  if (read.ok) return read.value;
  deps.log.warn({host, reason: read.failure.reason}, 'a sample of a campaign could not be made');
  return {why: 'failed'};
}

function dueOf({campaign, samples}: KeptCampaign, host: HostName, everyMs: number): DueSamples {
  const known = samples.find((one) => one.samples.host === host);
  return known ?? {nextMs: campaign.startedAtMs + everyMs, samples: noSamples(host)};
}
