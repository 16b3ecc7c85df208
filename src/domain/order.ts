/** One signalling command to a host, and what came of it. Data only: `ssh` spells it, `engine` asks for it. */
import type {HeldBy} from './diagnosis.ts';
import type {MachineIdentity, ProcessIdentity} from './process.ts';
import type {RunId} from './run.ts';
import type {Signal} from './signal.ts';
import type {Snapshot} from './snapshot.ts';
import type {Stop} from './stop-owner.ts';

export interface Order {
  readonly identity: ProcessIdentity;
  readonly signal: Signal;
  /** What it must still be seen to hold; `nothing` only for an ancestor that was approved as a non-holder. */
  readonly mustHold: HeldBy;
}

/** Stops one owner by its own tool, if it is the same run of it and nobody but the approved stands in it. */
export interface StopOrder extends Pick<Stop, 'kind' | 'id' | 'run' | 'folder' | 'timeoutMs'> {
  /** How long its tool gives the processes before it kills them; where the tool takes a figure. */
  readonly graceMs: number;
  /** Who may stand in it: targets that are left, each to be compared as for a signal. */
  readonly members: readonly Pick<Order, 'identity' | 'mustHold'>[];
}

export interface ExpectedMemory {
  readonly gpuUuid: string;
  /** Used MiB at or under which this GPU is what the remaining holders explain; null = not known, then only "stopped falling" ends the watch. */
  readonly atMostMiB: number | null;
}

/** One exec: check, signal, watch; then, if all watched are gone or `final`, watch memory and probe a last time. */
export interface SignalBatch {
  readonly runId: RunId;
  /** For the host's journal: one word each, already reduced to [A-Za-z0-9:._-]. */
  readonly requester: string;
  readonly approver: string;
  readonly machine: MachineIdentity;
  /** The host refuses to signal once its own uptime is past this: a late shell must not deliver a kill. */
  readonly notAfterUptimeMs: number;
  /** Instead of orders: the owner's own tool is called before anything is watched; null for none. */
  readonly stop: StopOrder | null;
  /** Sent in this order. */
  readonly orders: readonly Order[];
  /** Watched until gone or `watchMs` after the last signal; a superset of the orders' processes. */
  readonly watch: readonly ProcessIdentity[];
  readonly watchMs: number;
  /** Go on to memory and the closing probe even if a watched process is left. */
  readonly final: boolean;
  readonly expected: readonly ExpectedMemory[];
  readonly verifyMs: number;
  readonly stalledMs: number;
}

/** What became of one order. Everything but `sent` means: no signal went out for it. */
export type OrderResult =
  | 'sent'
  /** No such process any more. */
  | 'gone'
  /** Another process has the PID: start ticks, uid or executable differ. `detail` names which. */
  | 'replaced'
  /** Same process, but it holds no NVIDIA device any more. */
  | 'not-holding'
  /** What had to be compared could not be read (executable, fd folder). */
  | 'unreadable'
  /** Another boot or another PID namespace than the plan's. */
  | 'other-machine'
  /** The host's uptime was past `notAfterUptimeMs`. */
  | 'late'
  /** /etc/gpu-reclaim/deny exists on the host. */
  | 'denied-by-host'
  /** The kernel refused: EPERM. */
  | 'not-permitted'
  /** Any other refusal of the kernel; `detail` says which. */
  | 'failed';

/** What became of a stop. Everything but `stopped` means: go on with the same targets, one by one. */
export type StopResult =
  /** Its tool was called, and every member has ended. */
  | 'stopped'
  /** Another run of it, another's process in it, or nobody approved is left: nothing was called. `detail` names which. */
  | 'changed'
  | 'other-machine'
  | 'late'
  | 'denied-by-host'
  /** Called, and it said no. */
  | 'refused-by-owner'
  | 'not-permitted'
  /** Could not be called. */
  | 'failed'
  /** Called, and members were left when the time was over. What it began goes on. */
  | 'timed-out';

/** Whether the owner's tool was called, or may have been: then its processes may have been signalled, or may yet be. */
export function wasCalled(result: StopResult | null): boolean {
  switch (result) {
    case null:
    case 'stopped':
    case 'timed-out':
      return true;
    case 'changed':
    case 'other-machine':
    case 'late':
    case 'denied-by-host':
    case 'refused-by-owner':
    case 'not-permitted':
    case 'failed':
      return false;
  }
}

/** Lifecycle of one watched process, as the host's watch loop saw it. */
export type Observation =
  | 'alive'
  /** State Z with no other thread: holds nothing, waits for its parent. */
  | 'zombie'
  /** State D, or Z/X with live threads that did not end: cannot be told apart from "still dying" by one look. */
  | 'stuck'
  | 'gone'
  | 'replaced';

export type SignalEvent =
  | {
      readonly kind: 'order';
      readonly pid: number;
      readonly signal: Signal;
      readonly result: OrderResult;
      readonly detail: string;
      readonly uptimeMs: number;
      readonly handle: 'pidfd' | 'pid';
    }
  | {readonly kind: 'seen'; readonly pid: number; readonly observation: Observation; readonly uptimeMs: number}
  | {readonly kind: 'stop'; readonly result: StopResult; readonly detail: string; readonly uptimeMs: number}
  | {readonly kind: 'heartbeat'; readonly uptimeMs: number}
  /** used MiB per GPU UUID. */
  | {readonly kind: 'memory'; readonly uptimeMs: number; readonly usedMiB: Readonly<Record<string, number>>}
  /** How the memory watch ended. */
  | {
      readonly kind: 'settled';
      readonly how: 'expected' | 'stalled' | 'timed-out' | 'unreadable';
      readonly uptimeMs: number;
    };

export interface SignalReport {
  readonly events: readonly SignalEvent[];
  /** The closing probe; null when the batch ended before it (survivors left and not final). */
  readonly closing: Snapshot | null;
  /** False if the END marker or a framed part is missing: then what was sent is doubtful beyond the events seen. */
  readonly complete: boolean;
}
