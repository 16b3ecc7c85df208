/** Who holds a lease, in words that another program on this machine can check against /proc. */
import {readFileSync} from 'node:fs';
import type {LeaseOwner} from '../domain/run.ts';

/** This process. `by` names who runs it, e.g. `os:anna`. */
export function ownLeaseOwner(kind: LeaseOwner['kind'], by: string): LeaseOwner {
  const own = processNow(process.pid);
  if (own === null) throw new Error('Internal error: /proc/PID/stat of this process cannot be read');
  return {kind, pid: process.pid, startTicks: own.startTicks, bootId: bootId(), by};
}

/**
 * True while that very process runs: same boot (/proc/sys/kernel/random/boot_id), same PID with the same start ticks,
 * and no zombie. Sees its own PID namespace only: an owner in another container counts as gone, which the version
 * and the lease fence of each append make safe.
 */
export function isOwnerAlive(owner: LeaseOwner): boolean {
  if (owner.bootId !== bootId()) return false;
  const now = processNow(owner.pid);
  return now !== null && now.startTicks === owner.startTicks && now.state !== 'Z' && now.state !== 'X';
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Fields 3 and 22 of /proc/PID/stat, proc_pid_stat(5). Field 2, the name, may hold spaces and brackets: read from its end. */
function processNow(pid: number): {readonly state: string; readonly startTicks: string} | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    return state === undefined || startTicks === undefined ? null : {state, startTicks};
  } catch {
    return null;
  }
}
