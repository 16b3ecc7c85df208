/** Campaigns and holds: started, ended, looked at again. Nothing here signals, or sets anything back. */
import {mayEndHold} from '../domain/authority.ts';
import {
  asHold,
  type Campaign,
  type CampaignId,
  campaignId,
  campaignState,
  holdsGpus,
  holdsProcess,
  type KeptCampaign,
} from '../domain/campaign.ts';
import {type CampaignHost, type CampaignReport, compareHost} from '../domain/campaign-report.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {HostFacts} from '../domain/host-facts.ts';
import {NOT_DECLARED} from '../domain/locked-clocks.ts';
import {nearest} from '../domain/nearest.ts';
import {isSameId, type Person, personId, type SamePerson} from '../domain/person.ts';
import {titleOf} from '../domain/roles.ts';
import {requestOf} from '../domain/run-state.ts';
import {isRepeating, type PinnedProcess} from '../domain/schedule.ts';
import {whenPhrase} from '../domain/schedule-phrase.ts';
import {timeToFree} from '../domain/time-to-free.ts';
import {pin} from '../domain/watch.ts';
import {factsAt} from './campaign-facts.ts';
import type {EndedCampaign, NewHold} from './campaign-ports.ts';
import type {EngineDeps} from './deps.ts';
import {someAtATime} from './look-at-hosts.ts';
import {samplesOf} from './sampling.ts';
import {survey} from './survey.ts';

const AT_ONCE = 8;
/** Of the newest runs, those on its hosts since its start freed memory there. */
const RUNS_SEEN = 100;

export async function startHold(deps: EngineDeps, asked: NewHold): Promise<Result<KeptCampaign>> {
  const {kind, hosts, gpus, label, out, channel, sampleMs, locked} = asked;
  const nowMs = deps.clock.now();
  const untilMs = untilOf(deps, asked, nowMs);
  if (!untilMs.ok) return untilMs;
  const pinned = await pinAll(deps, asked);
  if (!pinned.ok) return pinned;
  const wanted = {
    ...{kind, hosts, gpus, label, out, channel, sampleMs, locked},
    processes: pinned.value,
    by: personId(asked.person),
    untilMs: untilMs.value,
  };
  // Before anybody is looked at: two campaigns on one GPU would find each other's work.
  const before = await deps.store.campaigns.all(nowMs);
  const first = inTheWay(before, wanted, deps.policy.samePerson, nowMs);
  if (first !== null) return fail({reason: 'held-already', hold: asHold(first)});
  if (kind === 'profile') {
    // What a run ends right now would be called gone by the campaign.
    const runs = await Promise.all(hosts.map((host) => deps.store.openRunOn(host)));
    const run = runs.find((one) => one?.phase === 'executing');
    if (run) return fail({reason: 'host-busy', host: run.host, runId: run.id, by: personId(requestOf(run).requester)});
  }
  const looks = kind === 'keep' ? [] : await lookAt(deps, hosts, out, () => null);
  const facts: HostFacts[] = [];
  for (const look of looks) {
    if (!look.facts.ok) return look.facts;
    const absent = gpus?.find(
      (index) => look.facts.ok && !look.facts.value.seen.gpus.some((gpu) => gpu.index === index),
    );
    if (absent !== undefined) {
      const present = look.facts.value.seen.gpus.flatMap(({index}) => index ?? []);
      return fail({reason: 'gpu-absent', host: look.host, asked: String(absent), present});
    }
    facts.push(look.facts.value);
  }
  const startedAtMs = deps.clock.now();
  const id = campaignId(`c${deps.newRunId().slice(0, 5)}`);
  const campaign: Campaign = {...wanted, id, startedAtMs, before: facts};
  let met: Campaign | null = null;
  const added = await deps.store.campaigns.add(campaign, (kept) => {
    met = inTheWay(kept, wanted, deps.policy.samePerson, startedAtMs);
    return met !== null;
  });
  if (!added && met !== null) return fail({reason: 'held-already', hold: asHold(met)});
  deps.log.info({campaign: id, kind, hosts, by: campaign.by}, 'GPUs are held');
  return ok({campaign, ended: null, card: null, samples: [], notes: []});
}

export async function stopHold(deps: EngineDeps, given: string, person: Person): Promise<Result<EndedCampaign>> {
  const found = find(await deps.store.campaigns.all(deps.clock.now()), given, false);
  if (!found.ok) return found;
  const {campaign, ended} = found.value;
  if (ended !== null) return fail({reason: 'campaign-ended', hold: asHold(campaign), by: ended.by, atMs: ended.atMs});
  if (!mayEndHold(person, campaign, deps.policy)) return fail({reason: 'not-the-holder', hold: asHold(campaign)});
  return endHold(deps, found.value, personId(person));
}

/** Ends it, whoever may have said so: looks at its hosts first, and reports. Once: to the second it is ended already. */
export async function endHold(deps: EngineDeps, kept: KeptCampaign, by: string): Promise<Result<EndedCampaign>> {
  const {campaign} = kept;
  const looks = campaign.kind === 'keep' ? [] : await lookAgain(deps, campaign);
  const after = looks.flatMap(({facts}) => (facts.ok ? [facts.value] : []));
  const end = {by, atMs: deps.clock.now(), after};
  const isFirst = await deps.store.campaigns.end(campaign.id, end);
  const now = await fresh(deps, kept);
  if (!isFirst) {
    const first = now.ended ?? end;
    return fail({reason: 'campaign-ended', hold: asHold(campaign), by: first.by, atMs: first.atMs});
  }
  deps.log.info({campaign: campaign.id, by}, 'GPUs are held no more');
  const done = {...now, ended: end};
  return ok({kept: done, report: await compared(deps, done, looks)});
}

export async function campaignReport(deps: EngineDeps, given: string): Promise<Result<EndedCampaign>> {
  const found = find(await deps.store.campaigns.all(deps.clock.now()), given, true);
  if (!found.ok) return found;
  const {campaign, ended} = found.value;
  if (ended === null) return fail({reason: 'campaign-running', hold: asHold(campaign)});
  const looks = campaign.kind === 'keep' ? [] : await lookAgain(deps, campaign);
  return ok({kept: found.value, report: await compared(deps, found.value, looks)});
}

interface HostLooked {
  readonly host: HostName;
  readonly facts: Result<HostFacts>;
}

function lookAt(
  deps: EngineDeps,
  hosts: readonly HostName[],
  out: string | null,
  earlier: (host: HostName) => HostFacts | null,
): Promise<readonly HostLooked[]> {
  return someAtATime(hosts, AT_ONCE, async (host) => ({host, facts: await factsAt(deps, host, out, earlier(host))}));
}

function lookAgain(deps: EngineDeps, campaign: Campaign): Promise<readonly HostLooked[]> {
  return lookAt(deps, campaign.hosts, campaign.out, (host) => factsOf(campaign.before, host));
}

/** As the store has it now: a sample may have been kept while its hosts were looked at. */
async function fresh(deps: EngineDeps, kept: KeptCampaign): Promise<KeptCampaign> {
  const all = await deps.store.campaigns.all(deps.clock.now());
  return all.find(({campaign}) => campaign.id === kept.campaign.id) ?? kept;
}

async function compared(deps: EngineDeps, kept: KeptCampaign, looks: readonly HostLooked[]): Promise<CampaignReport> {
  const {campaign, ended} = kept;
  const runs = await deps.store.recent(RUNS_SEEN);
  const since = runs.filter((run) => (run.events[0]?.atMs ?? 0) >= campaign.startedAtMs).toReversed();
  const hosts = looks.map(({host, facts}): CampaignHost => {
    if (!facts.ok) return {state: 'unseen', host, failure: facts.failure};
    const before = factsOf(campaign.before, host);
    if (before === null) throw new Error(`Internal error: campaign ${campaign.id} has no start on ${host}`);
    return compareHost(campaign, before, facts.value, {
      after: factsOf(ended?.after ?? [], host),
      samples: samplesOf(kept, host),
      declared: deps.hosts.get(host)?.clocks ?? NOT_DECLARED,
      runs: since.filter((run) => run.host === host).map((run) => ({id: run.id, times: timeToFree(run)})),
    });
  });
  return {campaign, hosts};
}

function factsOf(all: readonly HostFacts[], host: HostName): HostFacts | null {
  return all.find(({seen}) => seen.host === host) ?? null;
}

/** A hold of somebody else, or a campaign of anybody, on one of these GPUs. One's own `keep` is no hindrance to a campaign. */
function inTheWay(
  kept: readonly KeptCampaign[],
  wanted: Pick<Campaign, 'kind' | 'hosts' | 'gpus' | 'processes' | 'by'>,
  same: SamePerson,
  nowMs: number,
): Campaign | null {
  const found = kept
    .filter((one) => campaignState(one, nowMs) === 'holding')
    .map(({campaign}) => campaign)
    .filter((one) => !isSameId(one.by, wanted.by, same) || (one.kind === 'profile' && wanted.kind === 'profile'))
    .find((one) => wanted.hosts.some((host) => meet(one, wanted, host)));
  return found ?? null;
}

/** Both are about one of the same GPUs of this host, or about one process. */
function meet(one: Campaign, wanted: Pick<Campaign, 'hosts' | 'gpus' | 'processes'>, host: HostName): boolean {
  const isAboutGpus = holdsGpus(wanted, host, null);
  if (isAboutGpus && holdsGpus(one, host, wanted.gpus)) return true;
  return one.hosts.includes(host) && wanted.processes.some((process) => holdsProcess(one, process, process));
}

/** By id or a beginning of it that fits one only; by a host for the newest there that is, or is not, ended. */
function find(kept: readonly KeptCampaign[], given: string, wantEnded: boolean): Result<KeptCampaign> {
  const wanted = given.toLowerCase();
  const byId = kept.filter(({campaign}) => wanted !== '' && campaign.id.startsWith(wanted));
  const onHost = kept.filter(({campaign}) => campaign.hosts.some((host) => host.toLowerCase() === wanted));
  const fitting = onHost.filter(({ended}) => (ended !== null) === wantEnded);
  const named =
    byId.length > 0 ? byId : wantEnded ? fitting.slice(-1) : fitting.length > 0 ? fitting : onHost.slice(-1);
  const [found, ...more] = named;
  if (found !== undefined && more.length === 0) return ok(found);
  const ids = kept.map(({campaign}) => campaign.id);
  const near: readonly CampaignId[] =
    more.length > 0 ? named.map(({campaign}) => campaign.id) : ids.filter((id) => nearest(given, ids).includes(id));
  return fail({reason: 'campaign-unknown', given, nearest: near.slice(0, 2)});
}

/** The processes as they are now: whoever has their PIDs later is somebody else. */
async function pinAll(deps: EngineDeps, {hosts, pids}: NewHold): Promise<Result<readonly PinnedProcess[]>> {
  const [host] = hosts;
  if (pids.length === 0 || host === undefined) return ok([]);
  const look = await survey(deps, host, {match: null, pids});
  if (!look.ok) return look;
  const pinned = pids.map((pid) => ({pid, process: pin(look.value.snapshot, pid, titleOf)}));
  const absent = pinned.find(({process}) => process === null);
  return absent === undefined
    ? ok(pinned.flatMap(({process}) => process ?? []))
    : fail({reason: 'process-absent', host, pid: absent.pid});
}

function untilOf(deps: EngineDeps, {until, zone}: NewHold, nowMs: number): Result<number | null, Failure> {
  if (until === null) return ok(null);
  const [untilMs] = isRepeating(until) ? [] : deps.nextTimes({when: until, zone, createdAtMs: nowMs}, nowMs, 1);
  if (untilMs !== undefined) return ok(untilMs);
  const phrase = `${whenPhrase(until)} ${zone}`;
  const wayOut = 'name one that is still to come';
  return fail({reason: 'schedule-unreadable', phrase, problem: `that time is over in ${zone}`, wayOut});
}
