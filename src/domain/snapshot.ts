/** One host at one instant, as read. No judgement here; what could not be read is said, never filled in. */
import type {DeepLook, NumberedDevice} from './deep.ts';
import type {HostName} from './host.ts';
import type {MachineIdentity} from './process.ts';

/** A number that nvidia-smi printed, or the token that stood in its place. */
export type Figure =
  | {readonly known: true; readonly value: number}
  /**
   * `not-supported`: `[N/A]`, `[Not Supported]` · `no-permission`: `[Insufficient Permissions]` · `fault`: `[Unknown
   * Error]`, `[GPU is lost]`, `[GPU requires reset]`, `ERR!` · `unreadable`: anything else.
   */
  | {
      readonly known: false;
      readonly why: 'not-supported' | 'no-permission' | 'fault' | 'unreadable';
      readonly token: string;
    };

export function figure(value: number): Figure {
  return {known: true, value};
}

/** The number, or null where a token stood in its place. */
export function mibOf(read: Figure): number | null {
  return read.known ? read.value : null;
}

export interface Gpu {
  /** `GPU-…`, lower case after the prefix as printed: the key. Indexes can change at each boot. */
  readonly uuid: string;
  readonly index: number | null;
  /** Lower case, domain of 8 digits: `00000000:09:00.0`. */
  readonly busId: string;
  /** N of /dev/nvidiaN, from /proc/driver/nvidia/gpus; null where that could not be read. */
  readonly minor: number | null;
  readonly name: string;
  readonly totalMiB: Figure;
  readonly reservedMiB: Figure;
  readonly usedMiB: Figure;
  readonly utilizationPercent: Figure;
  readonly computeMode: string;
  readonly persistenceMode: string;
  readonly migMode: string;
  readonly driverVersion: string;
  readonly recoveryAction: string;
  /** Any field of this row that speaks of a broken GPU, as printed: its figures are not to be trusted. */
  readonly fault: string | null;
}

/** One row of `nvidia-smi --query-compute-apps`: what the driver bills to a PID, dead or alive. */
export interface Charge {
  readonly gpuUuid: string;
  readonly pid: number;
  /** As printed: a path, a name, `[Not Found]` (no such PID here), `[No data]` (zombie leader), … */
  readonly name: string;
  readonly usedMiB: Figure;
  /** `MIG-…`: the part of the GPU that the driver billed it on; then `gpuUuid` is the whole GPU, where that is known. */
  readonly instance?: string;
}

export interface OpenCount {
  /** The device path as linked, e.g. `/dev/nvidia0`; may end in ` (deleted)`. */
  readonly path: string;
  readonly count: number;
}

/** How one process was seen to hold NVIDIA devices, by source. */
export interface Holding {
  readonly pid: number;
  /** /proc/PID/fd */
  readonly opens: readonly OpenCount[];
  /** /proc/PID/maps: paths only. */
  readonly mappings: readonly string[];
  /** /proc/PID/task/TID/fd, looked at for zombie leaders only. */
  readonly threadOpens: readonly OpenCount[];
  /** By device number, where no path told: from a deeper look only. */
  readonly numbered: readonly NumberedDevice[];
  /** Descriptors that wait in its unix sockets, and files that its io_uring keeps: from a deeper look only. */
  readonly queued: number;
}

export interface Executable {
  /** readlink /proc/PID/exe without a trailing ` (deleted)`. */
  readonly path: string;
  readonly deleted: boolean;
  /** `device:inode`, decimal. */
  readonly id: string;
  readonly ownerUid: number;
  /** Permission bits, e.g. 0o755. */
  readonly mode: number;
}

export interface ProcessFacts {
  readonly pid: number;
  readonly ppid: number;
  readonly processGroup: number;
  readonly session: number;
  /** First letter only: R S D T t Z X I … */
  readonly state: string;
  readonly startTicks: string;
  /** PF_KTHREAD (0x00200000) in field 9 of stat. */
  readonly kernelThread: boolean;
  /** At most 15 bytes, as the process wishes. */
  readonly comm: string;
  readonly threads: number;
  /** User plus system time, in ticks. */
  readonly cpuTicks: string;
  /** Effective uid; null if status could not be read. */
  readonly uid: number | null;
  readonly userName: string | null;
  /** /proc/PID/loginuid; null if unset (4294967295) or unreadable. */
  readonly loginUid: number | null;
  /** null: unreadable, or none (kernel thread, zombie). */
  readonly executable: Executable | null;
  /** The command line's NUL-separated words, capped at 4 KB in all. Written by the process itself. */
  readonly words: readonly string[];
  readonly wordsCut: boolean;
  /** Paths of /proc/PID/cgroup, deduplicated, in order. */
  readonly cgroups: readonly string[];
  /** Inode digits of /proc/PID/ns/pid and ns/mnt; null if unreadable. */
  readonly pidNamespace: string | null;
  readonly mountNamespace: string | null;
  /** Hex masks of /proc/PID/status; empty string if unreadable. */
  readonly signalBlocked: string;
  readonly signalIgnored: string;
  readonly signalCaught: string;
  readonly signalPending: string;
  /** What of this process could not be read, e.g. `exe`, `cgroup`. */
  readonly unreadable: readonly string[];
}

/** A process whose command line or comm holds a workload pattern or the request's `match`. */
export interface Match {
  readonly pid: number;
  /** The literal that was found. */
  readonly literal: string;
}

export interface SectionReport {
  readonly name: string;
  /** The section's own exit code; null if its end marker never came. */
  readonly exitCode: number | null;
  readonly complete: boolean;
  /** What it said on standard error, or the frame's problem; shown, never parsed. */
  readonly note: string;
}

/** How much of the host we could see. `full` is the only sight that lets "nobody" be said. */
export interface Sight {
  readonly full: boolean;
  readonly euid: number;
  /** The hidepid option of /proc; '0' when off. */
  readonly hidepid: string;
  /** Fd folders of processes that are no plain zombies and that we were not allowed to read. */
  readonly unreadableFdFolders: number;
  readonly foreignPidNamespace: boolean;
  /** PIDs at which a scan stood still until its limit. */
  readonly stuckAt: readonly number[];
}

/** Whether nvidia-smi answered. */
export type SmiState =
  | {readonly state: 'answered'; readonly exitCode: number; readonly note: string}
  | {
      readonly state: 'missing' | 'timed-out' | 'still-stuck' | 'failed';
      readonly exitCode: number | null;
      readonly note: string;
    };

export interface Snapshot {
  readonly host: HostName;
  readonly machine: MachineIdentity;
  /** The bot's clock when the probe came back, epoch ms. */
  readonly takenAtMs: number;
  /** The host's own /proc/uptime at the start of the probe. */
  readonly uptimeMs: number;
  readonly clockTicksPerSecond: number;
  readonly kernel: string;
  /** Mount namespace of the host's own services, from our own shell: inode digits. */
  readonly mountNamespace: string | null;
  readonly sight: Sight;
  readonly smi: SmiState;
  readonly gpus: readonly Gpu[];
  /** Lines of nvidia-smi that named a broken GPU without a usable row. */
  readonly gpuFaults: readonly string[];
  readonly charges: readonly Charge[];
  readonly holdings: readonly Holding[];
  readonly processes: readonly ProcessFacts[];
  readonly matches: readonly Match[];
  /** Our own shell, its ancestors and descendants: never holders, never targets. */
  readonly ownPids: readonly number[];
  readonly sections: readonly SectionReport[];
  /** The deeper look that was taken right after this one; null if none was needed, or none came back. */
  readonly deep: DeepLook | null;
}
