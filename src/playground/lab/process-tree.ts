/** From a spec to what the control process needs, and from its answers back to processes. */
import {randomUUID} from 'node:crypto';
import {basename, join} from 'node:path';
import type {LabSpec} from './species.ts';

export interface LabProcess {
  /** As numbered inside the lab. */
  readonly pid: number;
  readonly label: string;
  /** A server's workers. */
  readonly workers: readonly LabProcess[];
  /** An inheritor's parents: dead, unless they were asked to live. */
  readonly billed: readonly number[];
  /** The plain zombie of `unreaped`. */
  readonly zombie: number | null;
}

export interface ReadyEvent {
  readonly token: string;
  readonly pid: number;
  readonly billed?: readonly number[];
  readonly zombie?: number;
}

export type TokenedSpec = Omit<LabSpec, 'workers'> & {readonly token: string; readonly workers: readonly TokenedSpec[]};

/** Gives each process of the spec a name of its own (PIDs come twice) and what every holder must know of its lab. */
export function tokened(
  spec: LabSpec,
  lab: {
    readonly python: string;
    readonly devices: string;
    readonly folder: string;
    readonly features: ReadonlySet<string>;
  },
): TokenedSpec {
  const {uid, executable, ...rest} = spec;
  const {python, devices} = lab;
  return {
    ...rest,
    ...(lab.features.has('uids') && uid !== undefined ? {uid} : {}),
    // Without a /usr/bin of its own, a lab keeps its daemons in its folder.
    ...(executable === undefined
      ? {}
      : {executable: lab.features.has('daemons') ? executable : join(lab.folder, 'bin', basename(executable))}),
    ...{python, devices, ownBin: lab.features.has('daemons')},
    token: randomUUID(),
    workers: (spec.workers ?? []).map((worker) => tokened(worker, lab)),
  };
}

export function labelsOf(spec: TokenedSpec): readonly (readonly [token: string, label: string])[] {
  return [[spec.token, spec.label] as const, ...spec.workers.flatMap(labelsOf)];
}

export function labProcess(spec: TokenedSpec, events: ReadonlyMap<string, ReadyEvent>): LabProcess {
  const event = events.get(spec.token);
  if (!event) throw new Error(`Internal error: ${spec.label} was never ready`);
  return {
    pid: event.pid,
    label: spec.label,
    workers: spec.workers.map((worker) => labProcess(worker, events)),
    billed: event.billed ?? [],
    zombie: event.zombie ?? null,
  };
}
