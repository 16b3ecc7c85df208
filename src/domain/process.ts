/**
 * What tells one machine, and one process on it, from any other. PIDs are reused and start ticks survive exec, so a
 * process is known by all of these together (proc(5): /proc/PID/stat field 22; pid_namespaces(7)).
 */
export interface MachineIdentity {
  /** SHA256:… of the host key that the connection was made with. */
  readonly hostKey: string;
  /** /proc/sys/kernel/random/boot_id */
  readonly bootId: string;
  /** Inode of the PID namespace that we looked from, as in `pid:[4026531836]`: digits only. */
  readonly pidNamespace: string;
}

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, clock ticks since boot: digits, compared as text. */
  readonly startTicks: string;
  /** Effective uid. */
  readonly uid: number;
  /** `device:inode` of /proc/PID/exe in decimal, as `stat -L -c %d:%i` prints it. */
  readonly executable: string;
}

/** The inode of the initial PID namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO). */
export const INITIAL_PID_NAMESPACE = '4026531836';

export function isSameMachine(a: MachineIdentity, b: MachineIdentity): boolean {
  return a.hostKey === b.hostKey && a.bootId === b.bootId && a.pidNamespace === b.pidNamespace;
}

export function isSameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks && a.uid === b.uid && a.executable === b.executable;
}
