/** The `host` and `own` sections: which machine this is, from where we looked, and who we are there. */
import type {MachineIdentity} from '../process.ts';
import {INITIAL_PID_NAMESPACE} from '../process.ts';

export interface HostSection {
  readonly machine: MachineIdentity;
  readonly uptimeMs: number;
  readonly clockTicksPerSecond: number;
  readonly euid: number;
  readonly kernel: string;
  readonly mountNamespace: string | null;
  /** The hidepid option of /proc, '0' when off (proc(5)). */
  readonly hidepid: string;
  readonly foreignPidNamespace: boolean;
}

/** A text instead of a section: what stands in the way, for `probe-unreadable`. */
export function parseHost(lines: readonly string[], hostKey: string): HostSection | string {
  const value = (key: string): string =>
    lines
      .find((line) => line.startsWith(`${key} `))
      ?.slice(key.length + 1)
      .trim() ?? '';
  const bootId = value('boot_id');
  if (!/^[0-9a-f-]{36}$/i.test(bootId)) return 'no boot id';
  const uptime = value('uptime');
  if (!/^\d{1,10}(\.\d+)?$/.test(uptime)) return 'no uptime';
  const euid = value('euid');
  if (!/^\d{1,10}$/.test(euid)) return 'no effective uid';
  const pidNamespace = namespaceOf(lines, 'pid');
  if (pidNamespace === null) return 'no PID namespace';
  // `100 assumed` where getconf is missing: USER_HZ is 100 wherever NVIDIA has a driver.
  const ticks = /^([1-9]\d{0,4})( assumed)?$/.exec(value('clock_ticks'))?.[1];
  if (ticks === undefined) return 'no clock ticks';
  return {
    machine: {hostKey, bootId: bootId.toLowerCase(), pidNamespace},
    uptimeMs: Math.round(Number(uptime) * 1000),
    clockTicksPerSecond: Number(ticks),
    euid: Number(euid),
    kernel: value('kernel'),
    mountNamespace: namespaceOf(lines, 'mnt'),
    hidepid: hidepidOf(lines),
    foreignPidNamespace: pidNamespace !== INITIAL_PID_NAMESPACE,
  };
}

/** Our shell, its ancestors: lines `self PID` and `ancestor PID`. */
export function parseOwn(lines: readonly string[]): number[] {
  return lines.flatMap((line) => /^(?:self|ancestor) ([1-9]\d{0,9})$/.exec(line)?.[1] ?? []).map(Number);
}

function namespaceOf(lines: readonly string[], kind: string): string | null {
  for (const line of lines) {
    const inode = new RegExp(`^${kind}:\\[(\\d+)\\]$`).exec(line)?.[1];
    if (inode !== undefined) return inode;
  }
  return null;
}

/** From the last mount at /proc: a later one hides an earlier. */
function hidepidOf(lines: readonly string[]): string {
  const mount = lines.findLast((line) => / \/proc proc /.test(line));
  const option = /[ ,]hidepid=([a-z0-9]+)/.exec(mount ?? '')?.[1];
  return option === undefined || option === 'off' ? '0' : option;
}
