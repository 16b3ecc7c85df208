/** What a report keeps of one host: enough to say it again, and to say at the next one what changed. */
import type {Diagnosis, GpuState} from './diagnosis.ts';
import type {Failure} from './failure.ts';
import type {FindingKind} from './finding.ts';
import type {HostName} from './host.ts';
import {titleOf} from './roles.ts';
import type {RunId} from './run.ts';

export type HostReport =
  | SeenHost
  | {readonly state: 'failed'; readonly host: HostName; readonly failure: Failure}
  /** Chosen by name, and not in the hosts file any more. */
  | {readonly state: 'gone'; readonly host: HostName}
  /** A run signals there right now: its own thread reports. */
  | {readonly state: 'busy'; readonly host: HostName; readonly runId: RunId};

export interface SeenHost {
  readonly state: 'seen';
  readonly host: HostName;
  /** Epoch ms; with host and boot id it names the stored look. */
  readonly takenAtMs: number;
  readonly bootId: string;
  readonly gpus: readonly GpuReport[];
  /** Protected daemons and monitors left out: they come and go without meaning. */
  readonly holders: readonly HolderReport[];
}

export interface GpuReport {
  readonly uuid: string;
  readonly index: number | null;
  readonly state: GpuState;
  readonly usedMiB: number | null;
  readonly unexplainedMiB: number | null;
}

export interface HolderReport {
  readonly pid: number;
  readonly startTicks: string;
  /** As it calls itself: hostile text. */
  readonly title: string;
  readonly finding: FindingKind;
  readonly chargedMiB: number | null;
  readonly gpus: readonly (number | null)[];
}

/** How bad a host is, worst first. `unseen`: nothing is known of it now. */
export const HOST_ORDER = ['dirty', 'unseen', 'unknown', 'busy', 'occupied', 'clean'] as const;
export type HostState = (typeof HOST_ORDER)[number];

/** By its worst GPU; a host that answered and showed no GPU is unknown. */
export function hostState(report: HostReport): HostState {
  if (report.state === 'busy') return 'busy';
  if (report.state !== 'seen') return 'unseen';
  const {gpus} = report;
  return HOST_ORDER.find((state) => gpus.some((gpu) => gpu.state === state)) ?? 'unknown';
}

/** Worst first, then by name. */
export function worstFirst(reports: readonly HostReport[]): readonly HostReport[] {
  const rank = (report: HostReport): number => HOST_ORDER.indexOf(hostState(report));
  return reports.toSorted((a, b) => rank(a) - rank(b) || (a.host < b.host ? -1 : a.host > b.host ? 1 : 0));
}

export function seenHost(diagnosis: Diagnosis): SeenHost {
  const {snapshot} = diagnosis;
  const indexes = new Map(diagnosis.gpus.map((gpu) => [gpu.gpuUuid, gpu.index]));
  return {
    state: 'seen',
    host: snapshot.host,
    takenAtMs: snapshot.takenAtMs,
    bootId: snapshot.machine.bootId,
    gpus: diagnosis.gpus.map(({gpuUuid, index, state, usedMiB, unexplainedMiB}) => {
      return {uuid: gpuUuid, index, state, usedMiB, unexplainedMiB};
    }),
    holders: diagnosis.holders.flatMap(({process, findings, chargedMiB, gpus}): readonly HolderReport[] => {
      const finding = findings[0] ?? 'renamed';
      if (finding === 'protected' || finding === 'monitor') return [];
      const used = gpus.filter((use) => use.how !== 'opened').map((use) => indexes.get(use.gpuUuid) ?? null);
      const {pid, startTicks} = process;
      return [{pid, startTicks, title: titleOf(process), finding, chargedMiB, gpus: used}];
    }),
  };
}
