import type {DeclaredClocks} from './locked-clocks.ts';

/** A name from the hosts file; never an address from a message. */
export type HostName = string & {readonly __brand: 'HostName'};

/** Says that `name` was found in the hosts file. Only config and tests may say so. */
export function hostName(name: string): HostName {
  return name as HostName;
}

/** `observe`: looking only. `act`: signals may be sent after a go. */
export type HostMode = 'observe' | 'act';

/** What the thinking needs to know of a host; how to reach it is the business of `ssh`. */
export interface Host {
  readonly name: HostName;
  readonly mode: HostMode;
  readonly groups: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** uid on that host -> the person it belongs to, as written in the hosts file. */
  readonly people: ReadonlyMap<number, string>;
  readonly links: Readonly<Record<string, string>>;
  /** What its GPUs' clocks are locked to, where somebody says so: no look can tell. */
  readonly clocks: DeclaredClocks;
  /** Lab only: the driver bills PIDs of the namespace that we look from, although it is not the initial one. */
  readonly labPidNamespace: boolean;
  /** A lab host beside the bot, for drills: whoever asks may give the go, and every card says PRACTICE. */
  readonly practice: boolean;
}
