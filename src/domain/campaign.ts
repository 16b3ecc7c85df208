/**
 * A campaign: GPUs that somebody measures on, from a start that is looked at to an end that is. It is a hold: others have
 * their GPUs back from there only by an override with a reason. `keep` is the same hold without the looks.
 */
import type {HoldInTheWay} from './failure.ts';
import type {HostName} from './host.ts';
import type {HostFacts} from './host-facts.ts';
import type {LockedClocks} from './locked-clocks.ts';
import {isSameId, type Person, personId, type SamePerson} from './person.ts';
import type {DueSamples} from './samples.ts';
import type {PinnedProcess} from './schedule.ts';

/** `c` and 5 hex digits. */
export type CampaignId = string & {readonly __brand: 'CampaignId'};

export function campaignId(text: string): CampaignId {
  return text as CampaignId;
}

export interface Campaign {
  readonly id: CampaignId;
  readonly kind: 'profile' | 'keep';
  readonly hosts: readonly HostName[];
  /** Indexes as typed; null: every GPU of these hosts, or none where processes are held. */
  readonly gpus: readonly number[] | null;
  /** Held by themselves, wherever their memory is; none: it is about GPUs alone. */
  readonly processes: readonly PinnedProcess[];
  /** `personId` of who holds them. */
  readonly by: string;
  /** What it is, in that person's words: a campaign's label, or why something is kept. */
  readonly label: string | null;
  /** Where reports of profilers are written, an absolute path on these hosts; null: not said. */
  readonly out: string | null;
  /** How often memory is looked at between start and end, ms; null: not at all, so that no look is in the measurement. */
  readonly sampleMs: number | null;
  /** What its GPUs' clocks are locked to, as said at the start. */
  readonly locked: LockedClocks;
  readonly startedAtMs: number;
  /** Epoch ms from which it holds nothing any more; null: until it is ended. */
  readonly untilMs: number | null;
  /** Where its report is told; null: nowhere but to who ends it. */
  readonly channel: string | null;
  /** As each host was at the start; none for a `keep`. */
  readonly before: readonly HostFacts[];
}

export interface KeptCampaign {
  readonly campaign: Campaign;
  readonly ended: {
    readonly by: string;
    readonly atMs: number;
    /** As each host was then that could be looked at. */
    readonly after: readonly HostFacts[];
  } | null;
  /** Its start card in Slack; null: none was posted. */
  readonly card: {readonly channel: string; readonly ts: string} | null;
  /** What was sampled so far, by host; none of a host before its first sample. */
  readonly samples: readonly DueSamples[];
  /** What was told of it, asked and answered, oldest first. */
  readonly notes: readonly CampaignNote[];
}

/** A fact about a campaign that came once: `what` names it, and only the first of one name is kept. */
export interface CampaignNote {
  readonly what: string;
  readonly atMs: number;
  /** Who, or how, in a few words of ours; empty where there is nothing to say. */
  readonly by: string;
}

/** Who ended it, where nobody did: its time has passed, or what it held is gone. */
export const BY_ITSELF = 'itself';

/** The note of how processes that were held have ended: `gone`, or `reboot`. */
export const RELEASED = 'released';

/** `holding` · `over`: its time has passed, and nobody has ended it · `ended`. */
export type CampaignState = 'holding' | 'over' | 'ended';

export function campaignState({campaign, ended}: KeptCampaign, nowMs: number): CampaignState {
  if (ended !== null) return 'ended';
  return campaign.untilMs !== null && campaign.untilMs <= nowMs ? 'over' : 'holding';
}

/** Until when a campaign that samples does, epoch ms: it holds no longer than that. */
export function endsAtMs({campaign, ended}: KeptCampaign): number {
  return Math.min(ended?.atMs ?? Number.POSITIVE_INFINITY, campaign.untilMs ?? Number.POSITIVE_INFINITY);
}

/** Whether it is about this GPU of its hosts; one without a number may be any. */
export function isAbout({gpus}: Campaign, index: number | null): boolean {
  return gpus === null || index === null || gpus.includes(index);
}

/** Whether it holds one of these GPUs of that host; null: all of them. */
export function holdsGpus(
  {hosts, gpus, processes}: Pick<Campaign, 'hosts' | 'gpus' | 'processes'>,
  host: HostName,
  wanted: readonly number[] | null,
): boolean {
  if (gpus === null && processes.length > 0) return false;
  return hosts.includes(host) && (gpus === null || wanted === null || gpus.some((index) => wanted.includes(index)));
}

/** Whether it holds this very process: the same boot, PID and start. */
export function holdsProcess(
  {processes}: Pick<Campaign, 'processes'>,
  machine: {readonly bootId: string},
  identity: {readonly pid: number; readonly startTicks: string},
): boolean {
  return processes.some(
    ({bootId, pid, startTicks}) =>
      bootId === machine.bootId && pid === identity.pid && startTicks === identity.startTicks,
  );
}

/** What others than this person hold on that host now. */
export function holdsOn(
  kept: readonly KeptCampaign[],
  host: HostName,
  person: Person,
  same: SamePerson,
  nowMs: number,
): readonly Campaign[] {
  const id = personId(person);
  return kept
    .filter((one) => campaignState(one, nowMs) === 'holding')
    .map(({campaign}) => campaign)
    .filter((one) => !isSameId(one.by, id, same) && one.hosts.includes(host));
}

/** Of those, what is in the way of a request by what it names: GPUs (null: all of them) and PIDs. */
export function inTheWayOf(
  holds: readonly Campaign[],
  wanted: {readonly host: HostName; readonly gpus: readonly number[] | null; readonly pids: readonly number[]},
): readonly Campaign[] {
  return holds.filter(
    (one) => holdsGpus(one, wanted.host, wanted.gpus) || one.processes.some(({pid}) => wanted.pids.includes(pid)),
  );
}

export function asHold({id, kind, by, label, gpus, untilMs, processes}: Campaign): HoldInTheWay {
  const hold = {id, kind, by, label, gpus, untilMs};
  return processes.length === 0 ? hold : {...hold, processes: processes.map(({pid, title}) => ({pid, title}))};
}

/** The campaign that measures on this host now, so that nobody looks there unasked; null if none does. */
export function measuringOn(kept: readonly KeptCampaign[], host: HostName, nowMs: number): Campaign | null {
  const found = kept.find(
    (one) =>
      one.campaign.kind === 'profile' && one.campaign.hosts.includes(host) && campaignState(one, nowMs) === 'holding',
  );
  return found?.campaign ?? null;
}
