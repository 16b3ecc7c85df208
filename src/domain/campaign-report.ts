/** The post-profiling report: what of a campaign is still there, and what differs from its start. Two looks, compared. */
import {type Campaign, isAbout} from './campaign.ts';
import {hasSettings, mpsChange, newEcc, newShared, newXids, unreadEcc} from './campaign-faults.ts';
import {type Freed, freedGpus, type LinkedRun} from './campaign-freed.ts';
import type {SharedLeftover, XidLine} from './deep.ts';
import type {GpuState} from './diagnosis.ts';
import type {Failure} from './failure.ts';
import type {FindingKind} from './finding.ts';
import type {HostName} from './host.ts';
import {type HostFacts, isSameHolder} from './host-facts.ts';
import type {HolderReport} from './host-report.ts';
import {type ClockCommand, clockCommands, type DeclaredClocks, lockedOn, NOT_DECLARED} from './locked-clocks.ts';
import type {HostSamples} from './samples.ts';
import type {Profiler, ReportFile} from './settings.ts';
import {type SettingsDiff, settingsDiff} from './settings-diff.ts';

export type CampaignHost =
  | {readonly state: 'unseen'; readonly host: HostName; readonly failure: Failure}
  | SeenCampaignHost;

export interface CampaignGpu {
  readonly uuid: string;
  readonly index: number | null;
  /** null: not seen then. */
  readonly beforeMiB: number | null;
  /** The highest of the samples; null without one that had a figure. */
  readonly peakMiB: number | null;
  readonly afterMiB: number | null;
  readonly nowMiB: number | null;
  readonly unexplainedMiB: number | null;
  readonly state: GpuState;
}

export interface Leftover {
  readonly holder: HolderReport;
  readonly findings: readonly FindingKind[];
  readonly profiler: boolean;
}

export interface SeenCampaignHost {
  readonly state: 'seen';
  readonly host: HostName;
  readonly takenAtMs: number;
  /** Nothing of before can still run, and what is set comes as the host starts. */
  readonly rebooted: boolean;
  readonly gpus: readonly CampaignGpu[];
  /** null: none were asked for. */
  readonly samples: HostSamples | null;
  /** Where memory was seen to come back. */
  readonly freed: readonly Freed[];
  /** How often one was asked for, ms. */
  readonly sampleMs: number | null;
  /** Holders that were not there at the start. */
  readonly leftovers: readonly Leftover[];
  /** Holders of the start that still hold. */
  readonly wereThere: readonly HolderReport[];
  /** Profilers that were not there at the start and hold no GPU. */
  readonly profilers: readonly Profiler[];
  /** null: one of the two looks at the settings is missing. */
  readonly settings: SettingsDiff | null;
  /** For clocks that somebody may have locked, or unlocked. */
  readonly clocks: readonly ClockCommand[];
  /** New since the start; null: not told. */
  readonly shared: readonly SharedLeftover[] | null;
  /** Written since the start; `sought` empty: nowhere was looked. */
  readonly files: readonly ReportFile[];
  readonly sought: readonly {readonly folder: string; readonly whole: boolean}[];
  /** Xid lines since the start, with the GPU; null: no log could be read. */
  readonly xids: readonly {readonly index: number | null; readonly line: XidLine}[] | null;
  /** Uncorrected ECC errors more than at the start. */
  readonly ecc: readonly {readonly index: number | null; readonly more: number}[];
  /** GPUs of which that cannot be told; null: of all of them. */
  readonly eccUnread: readonly (number | null)[] | null;
  /** What became of MPS. */
  readonly mps: 'same' | 'started' | 'stopped' | 'unknown';
  /** "No holder" may be said. */
  readonly fullSight: boolean;
}

export interface CampaignReport {
  readonly campaign: Campaign;
  readonly hosts: readonly CampaignHost[];
}

/** What else is known of one host than its two looks. */
export interface AlsoKnown {
  /** What was seen when it ended; null: that is `now`. */
  readonly after: HostFacts | null;
  /** null: none were asked for. */
  readonly samples: HostSamples | null;
  /** What its clocks are locked to by the hosts file. */
  readonly declared: DeclaredClocks;
  /** Reclaims there since the start, oldest first. */
  readonly runs: readonly LinkedRun[];
}

const NOTHING_ELSE: AlsoKnown = {after: null, samples: null, declared: NOT_DECLARED, runs: []};

export function compareHost(
  campaign: Campaign,
  before: HostFacts,
  now: HostFacts,
  also: Partial<AlsoKnown> = {},
): SeenCampaignHost {
  const {after, samples, declared, runs} = {...NOTHING_ELSE, ...also};
  const isMeant = (index: number | null): boolean => isAbout(campaign, index);
  const gpus = gpuLines(before, now, after ?? now, samples).filter(({index}) => isMeant(index));
  const rebooted = before.seen.bootId !== now.seen.bootId;
  const wasThere = (one: {readonly pid: number; readonly startTicks: string}): boolean =>
    !rebooted &&
    (before.seen.holders.some((old) => isSameHolder(old, one)) ||
      before.settings?.profilers.some((old) => isSameHolder(old, one)) === true);
  const profilers = now.settings?.profilers ?? [];
  // Who uses no GPU that is known stays in: it may be one of these.
  const holders = now.seen.holders.filter(({gpus}) => gpus.length === 0 || gpus.some(isMeant));
  return {
    state: 'seen',
    host: now.seen.host,
    takenAtMs: now.seen.takenAtMs,
    rebooted,
    gpus,
    samples,
    freed: freedGpus(gpus, {samples, runs, after: after ?? now, now}),
    sampleMs: campaign.sampleMs,
    leftovers: holders
      .filter((one) => !wasThere(one))
      .map((holder) => ({
        holder,
        findings: now.findings[String(holder.pid)] ?? [holder.finding],
        profiler: profilers.some((one) => isSameHolder(one, holder)),
      })),
    wereThere: holders.filter(wasThere),
    profilers: profilers.filter(
      (one) => !wasThere(one) && !now.seen.holders.some((holder) => isSameHolder(holder, one)),
    ),
    settings:
      before.settings === null || now.settings === null || !hasSettings(before) || !hasSettings(now)
        ? null
        : settingsDiff(before.settings, now.settings, ({index}) => isMeant(index)),
    clocks: clockCommands(
      (now.settings?.gpus ?? []).filter(({index}) => isMeant(index)),
      (index) => lockedOn(index, campaign.locked, declared),
      campaign.gpus === null,
    ),
    shared: newShared(before, now, rebooted),
    files: (now.settings?.files ?? []).filter(({changedAtMs}) => changedAtMs >= campaign.startedAtMs),
    sought: now.settings?.sought ?? [],
    xids: newXids(before, now, rebooted, isMeant),
    ecc: newEcc(before, now, rebooted, isMeant),
    eccUnread: unreadEcc(before, now, rebooted, isMeant),
    mps: mpsChange(before, now),
    fullSight: now.fullSight,
  };
}

/** Something is left, or differs: what could not be read is no difference, and no proof of none. */
export function hasDifference(host: SeenCampaignHost): boolean {
  const {settings} = host;
  return (
    host.leftovers.length > 0 ||
    host.profilers.length > 0 ||
    (settings !== null && settings.changes.length + settings.missing.length > 0) ||
    (host.shared ?? []).length > 0 ||
    (host.xids ?? []).length > 0 ||
    host.ecc.length > 0 ||
    host.mps === 'started' ||
    host.mps === 'stopped' ||
    host.gpus.some(({state}) => state === 'dirty')
  );
}

/** Nothing is left, nothing differs, and everything was read. */
export function isAsBefore(host: CampaignHost): boolean {
  if (host.state !== 'seen' || hasDifference(host)) return false;
  const {settings, shared, xids, mps, gpus, eccUnread} = host;
  const isSet = settings?.unread.every(({absent}) => absent) === true;
  const faults = xids !== null && eccUnread?.length === 0;
  const read = isSet && shared !== null && faults && mps !== 'unknown' && host.fullSight;
  return read && gpus.length > 0 && gpus.every(({state}) => state !== 'unknown');
}

function gpuLines(
  before: HostFacts,
  now: HostFacts,
  after: HostFacts,
  samples: HostSamples | null,
): readonly CampaignGpu[] {
  const peak = (uuid: string): number | null => samples?.gpus.find((gpu) => gpu.uuid === uuid)?.maxMiB ?? null;
  const used = ({seen}: HostFacts, uuid: string): number | null =>
    seen.gpus.find((gpu) => gpu.uuid === uuid)?.usedMiB ?? null;
  const here = now.seen.gpus.map(({uuid, index, state, unexplainedMiB}): CampaignGpu => {
    return {
      uuid,
      index,
      state,
      unexplainedMiB,
      beforeMiB: used(before, uuid),
      peakMiB: peak(uuid),
      afterMiB: used(after, uuid),
      nowMiB: used(now, uuid),
    };
  });
  const gone = before.seen.gpus.filter(({uuid}) => !now.seen.gpus.some((gpu) => gpu.uuid === uuid));
  return [
    ...here,
    ...gone.map(({uuid, index, usedMiB}): CampaignGpu => {
      return {
        uuid,
        index,
        state: 'unknown',
        unexplainedMiB: null,
        beforeMiB: usedMiB,
        peakMiB: peak(uuid),
        afterMiB: used(after, uuid),
        nowMiB: null,
      };
    }),
  ];
}
