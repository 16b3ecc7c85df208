/** A campaign in words: what holds, and at its end what is left behind, what is set differently, and what sets it back. */
import {type Campaign, type CampaignState, campaignState, type KeptCampaign} from '../domain/campaign.ts';
import type {CampaignHost, CampaignReport, Leftover, SeenCampaignHost} from '../domain/campaign-report.ts';
import {isAsBefore} from '../domain/campaign-report.ts';
import type {HolderReport} from '../domain/host-report.ts';
import {plural, ranges, span, thousands} from './amounts.ts';
import {freedLines, memoryTable, peakLines} from './campaign-memory-lines.ts';
import {fileLines, settingLines, sharedLines} from './campaign-trace-lines.ts';
import {failureSentence} from './failure-sentence.ts';
import {safeLine} from './safe-text.ts';
import {FINDING_WORD} from './wording.ts';

const MOST = 40;

/** "profile c1a2b3 "h200 sweep" on gpu-07, GPU 0-3, by os:anna" */
export function campaignTitle({id, kind, label, hosts, gpus, processes, by}: Campaign): string {
  const what = kind === 'profile' ? 'profile' : 'keep';
  const called = label === null ? '' : ` "${safeLine(label, 60)}"`;
  return `${what} ${id}${called} on ${hosts.map((host) => safeLine(host, 60)).join(', ')}${gpuWords(gpus)}${processWords(processes)}, by ${safeLine(by, 60)}`;
}

/** One line a campaign. `time` writes an instant. */
export function campaignLine(kept: KeptCampaign, nowMs: number, time: (atMs: number) => string): string {
  const {campaign, ended} = kept;
  const {untilMs, startedAtMs} = campaign;
  const state: Readonly<Record<CampaignState, string>> = {
    holding: untilMs === null ? 'holds until it is ended' : `holds until ${time(untilMs)}`,
    over: `its time was over at ${untilMs === null ? '?' : time(untilMs)}; it holds nothing`,
    ended: `ended ${ended === null ? '?' : `${time(ended.atMs)} by ${safeLine(ended.by, 60)}`}`,
  };
  return `${campaignTitle(campaign)}: since ${time(startedAtMs)}, ${state[campaignState(kept, nowMs)]}`;
}

/** What a hold keeps from others, in one sentence. `override`: how they would say so. */
export function heldWords({gpus, processes}: Pick<Campaign, 'gpus' | 'processes'>, override: string): string {
  const what =
    processes.length === 0 ? 'have these GPUs back' : gpus === null ? 'end these processes' : 'have these back';
  const until = processes.length === 0 || gpus !== null ? '' : ' It is over by itself once they have ended.';
  return `Others ${what} only with ${override}.${until}`;
}

/** How the hosts are looked at until it is stopped: one sentence. */
export function measuredWords(sampleMs: number | null): string {
  return sampleMs === null
    ? 'Nobody looks there unasked until it is stopped, so that no look is in the measurement.'
    : `Memory is sampled every ${span(sampleMs)} by the running bot; nobody else looks there unasked until it is stopped.`;
}

/** The whole report, host by host. `command` is what people type before a verb: `gpu-reclaim` or `/gpu`. */
export function reportLines(report: CampaignReport, command: string): readonly string[] {
  return report.hosts.flatMap((host, at) => [...(at === 0 ? [] : ['']), ...campaignHostLines(host, command)]);
}

/** "gpu-07: left behind: 2 processes, 1 profiler; 3 settings differ" */
export function campaignHostTitle(host: CampaignHost): string {
  if (host.state === 'unseen') return `${host.host}: unknown, it could not be looked at`;
  const processes = host.leftovers.length + host.profilers.length;
  const settings = host.settings?.changes.length ?? 0;
  const faults = (host.xids?.length ?? 0) + host.ecc.length;
  const parts = [
    ...(processes === 0 ? [] : [`left behind: ${plural(processes, 'process', 'processes')}`]),
    ...(settings === 0 ? [] : [`${plural(settings, 'setting differs', 'settings differ')}`]),
    ...((host.shared?.length ?? 0) === 0 ? [] : ['shared memory left behind']),
    ...(faults === 0 ? [] : ['faults since the start']),
    ...(host.mps === 'started' || host.mps === 'stopped' ? [`MPS was ${host.mps}`] : []),
    ...dirtyWords(host),
  ];
  if (parts.length > 0) return `${host.host}: ${parts.join('; ')}`;
  return isAsBefore(host)
    ? `${host.host}: as at the start, nothing differs`
    : `${host.host}: nothing seen that differs, but not everything could be read`;
}

/** "GPU 0-3 dirty": by a ghost, or by memory that nobody explains. */
function dirtyWords({gpus}: SeenCampaignHost): readonly string[] {
  const dirty = gpus.filter(({state}) => state === 'dirty');
  const known = dirty.flatMap(({index}) => (index === null ? [] : [index]));
  if (dirty.length === 0) return [];
  return [known.length === 0 ? `${plural(dirty.length, 'GPU', 'GPUs')} dirty` : `GPU ${ranges(known)} dirty`];
}

export function campaignHostLines(host: CampaignHost, command: string): readonly string[] {
  if (host.state === 'unseen') return [campaignHostTitle(host), `  ${failureSentence(host.failure)}`];
  return [
    campaignHostTitle(host),
    ...(host.rebooted ? ['  It was rebooted since the start: nothing of before can still run.'] : []),
    ...memoryTable(host),
    ...peakLines(host),
    ...freedLines(host),
    ...leftoverLines(host, command),
    ...settingLines(host),
    ...sharedLines(host.shared),
    ...fileLines(host),
    ...faultLines(host),
    ...mpsLines(host),
    ...(host.fullSight
      ? []
      : ['  Not everything on this host could be read: what is not named here may still be there.']),
  ];
}

/** `reclaim` only opens a plan that asks for a go. */
function leftoverLines(
  {host, leftovers, wereThere, profilers, fullSight}: SeenCampaignHost,
  command: string,
): readonly string[] {
  const lines = leftovers
    .slice(0, MOST)
    .flatMap((one) => [
      `  left behind: ${leftoverWords(one)}`,
      `    to get it back: ${proposeCommand(host, one.holder.pid, command)}`,
    ]);
  const more = leftovers.length - MOST;
  return [
    ...lines,
    ...(more > 0 ? [`  … ${more} more left behind`] : []),
    ...profilers.map(
      ({pid, name, folder}) =>
        `  left behind: PID ${pid} ${safeLine(name, 40)} · profiler, holds no GPU${folder === null ? '' : `, works in ${safeLine(folder, 60)}`}`,
    ),
    ...(leftovers.length + profilers.length === 0 && fullSight ? ['  No process is left behind.'] : []),
    ...(wereThere.length === 0
      ? []
      : [
          `  there at the start as well: ${wereThere.slice(0, 8).map(holderWords).join(', ')}${wereThere.length > 8 ? ` +${wereThere.length - 8}` : ''}`,
        ]),
  ];
}

export function proposeCommand(host: string, pid: number, command: string): string {
  return `${command} reclaim ${host} pid=${pid}`;
}

/** "PID 4711 bench.py · profiler, renamed · GPU 0-1, 40,960 MiB" */
export function leftoverWords({holder, findings, profiler}: Leftover): string {
  const words = [...(profiler ? ['profiler'] : []), ...findings.map((kind) => FINDING_WORD[kind])];
  return `${holderWords(holder)} · ${words.join(', ')}${useWords(holder)}`;
}

function holderWords({pid, title}: HolderReport): string {
  return `PID ${pid} ${safeLine(title, 40)}`;
}

function useWords({gpus, chargedMiB}: HolderReport): string {
  const indexes = gpus.flatMap((index) => (index === null ? [] : [index]));
  const where = indexes.length === 0 ? '' : ` · GPU ${ranges(indexes)}`;
  return `${where}${chargedMiB === null ? '' : `${where === '' ? ' ·' : ','} ${thousands(chargedMiB)} MiB`}`;
}

function faultLines({xids, ecc, eccUnread}: SeenCampaignHost): readonly string[] {
  const none = (xids?.length ?? 0) + ecc.length === 0;
  return [
    ...(xids ?? [])
      .slice(0, MOST)
      .map(({index, line}) =>
        `  fault since the start: GPU ${index ?? safeLine(line.busId, 20)} Xid ${line.code} ${safeLine(line.text, 80)}`.trimEnd(),
      ),
    ...ecc.map(
      ({index, more}) =>
        `  fault since the start: GPU ${index ?? '?'}, ${plural(more, 'uncorrected ECC error', 'uncorrected ECC errors')}`,
    ),
    ...(xids === null
      ? ['  Faults: the kernel log could not be read.']
      : none
        ? [
            eccUnread?.length === 0
              ? '  Faults since the start: none.'
              : '  Faults since the start: none in the kernel log.',
          ]
        : []),
    ...(eccUnread?.length === 0
      ? []
      : [
          `  ECC errors since the start: not known, the counts could not be read${eccUnread === null ? '' : ` of ${unreadGpus(eccUnread)}`}.`,
        ]),
  ];
}

function unreadGpus(indexes: readonly (number | null)[]): string {
  const known = indexes.flatMap((index) => index ?? []);
  return `GPU ${[known.length === 0 ? '' : ranges(known), known.length < indexes.length ? '?' : ''].filter(Boolean).join(', ')}`;
}

function mpsLines({mps}: SeenCampaignHost): readonly string[] {
  switch (mps) {
    case 'started':
      return ['  MPS did not run at the start and runs now; to stop it: echo quit | nvidia-cuda-mps-control'];
    case 'stopped':
      return ['  MPS ran at the start and does not now; to start it: nvidia-cuda-mps-control -d'];
    case 'unknown':
      return ['  Whether MPS runs as at the start could not be told.'];
    case 'same':
      return [];
  }
}

function processWords(processes: Campaign['processes']): string {
  const shown = processes.slice(0, 4).map(({pid, title}) => `, PID ${pid} ${safeLine(title, 40)}`.trimEnd());
  const more = processes.length - shown.length;
  return `${shown.join('')}${more > 0 ? ` +${more}` : ''}`;
}

function gpuWords(gpus: readonly number[] | null): string {
  return gpus === null ? '' : `, GPU ${ranges(gpus)}`;
}
