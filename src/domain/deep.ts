/**
 * What a second, deeper look found. It is taken only where the first left memory unexplained or a target alive, since it
 * costs another exec and reads far more. Facts only; `diagnose` does the thinking.
 */
import type {HostName} from './host.ts';
import type {MachineIdentity} from './process.ts';
import type {ProcessFacts, SectionReport} from './snapshot.ts';

/** What a deep look should read beside what it always reads. */
export interface DeepRequest {
  /** Processes whose kernel side is wanted: what was signalled and still stands. */
  readonly pids: readonly number[];
  /** Kernel messages of the driver from this host uptime on, ms; null: the last ones there are. */
  readonly sinceUptimeMs: number | null;
}

/** A device known by its number, under whatever name (proc(5), stat(2); majors from /proc/devices). */
export interface NumberedDevice {
  /** As linked or mapped; may be a node of another mount namespace, of another name, or ` (deleted)`. */
  readonly path: string;
  /** Driver name as in /proc/devices, e.g. `nvidia`, `nvidia-uvm`. */
  readonly driver: string;
  readonly major: number;
  readonly minor: number;
  readonly how: 'open' | 'mapped';
  readonly count: number;
}

export interface NumberedHolding {
  readonly pid: number;
  readonly devices: readonly NumberedDevice[];
}

/**
 * Descriptors that were sent over a unix socket and not yet received: nobody has them open (`scm_fds` of
 * /proc/PID/fdinfo/FD, net/unix/af_unix.c, Linux 5.12). It counts on the receiving or listening socket, and does not say
 * what kind of files they are.
 */
export interface QueuedDescriptors {
  readonly pid: number;
  readonly fd: number;
  readonly count: number;
}

/** Files registered with an io_uring stay open without a descriptor (`UserFiles` of fdinfo, io_uring/fdinfo.c). */
export interface RingFiles {
  readonly pid: number;
  readonly fd: number;
  readonly files: number;
  /** Names among them that are NVIDIA devices; null where the kernel prints no names. */
  readonly devices: readonly string[] | null;
}

/** The kernel side of one thread of a process that was asked for. */
export interface KernelState {
  readonly pid: number;
  readonly tid: number;
  /** First letter of the state. */
  readonly state: string;
  /** SIGKILL is in SigPnd or ShdPnd. */
  readonly killPending: boolean;
  /** /proc/PID/task/TID/wchan; null if unreadable or `0`. */
  readonly wchan: string | null;
  /** Function names of /proc/PID/task/TID/stack, innermost first; null if unreadable (needs CAP_SYS_ADMIN). */
  readonly stack: readonly string[] | null;
}

/** One `NVRM: Xid` line of the kernel log. The PID in it is the caller, not necessarily the culprit. */
export interface XidLine {
  /** Host uptime, ms. */
  readonly uptimeMs: number;
  /** Lower case, domain of 8 digits. */
  readonly busId: string;
  readonly code: number;
  readonly pid: number | null;
  readonly text: string;
}

/**
 * A shared-memory file or segment that no process maps or has open. Files are told only where every process of our PID
 * namespace was in sight; beyond it, somebody may keep one still. Segments are counted by the kernel itself.
 */
export interface SharedLeftover {
  readonly kind: 'file' | 'segment';
  /** Path below /dev/shm with newlines as `?`, or the shmid. Host text. */
  readonly name: string;
  readonly MiB: number;
  readonly uid: number;
  readonly ageMs: number | null;
}

/** CUDA MPS: one server's clients share its context, so the server's bill is theirs. */
export interface MpsState {
  readonly controlPid: number | null;
  readonly servers: readonly {readonly pid: number; readonly clients: readonly number[]}[];
}

export interface DeepLook {
  readonly host: HostName;
  readonly machine: MachineIdentity;
  readonly takenAtMs: number;
  readonly uptimeMs: number;
  /** Character majors of NVIDIA's drivers, by driver name. */
  readonly majors: Readonly<Record<string, number>>;
  /** Every process that holds such a device by number, those included that a path scan finds as well. */
  readonly numbered: readonly NumberedHolding[];
  readonly queued: readonly QueuedDescriptors[];
  readonly rings: readonly RingFiles[];
  readonly kernel: readonly KernelState[];
  readonly xids: readonly XidLine[];
  /** null: no MPS here, or its control did not answer within a second. */
  readonly mps: MpsState | null;
  readonly leftovers: readonly SharedLeftover[];
  /** TCP ports that somebody listens on, in the network namespace of our shell. */
  readonly listening: readonly number[];
  /** Use counts of nvidia*, gdrdrv and peer-memory modules, from /proc/modules. */
  readonly modules: Readonly<Record<string, number>>;
  /** Facts of every PID above that could be read. */
  readonly processes: readonly ProcessFacts[];
  /** What was read whole and what was not: an incomplete section says nothing about "nobody". */
  readonly sections: readonly SectionReport[];
}
