/**
 * Who may keep memory that nobody in sight explains. Two ways leave no trace of which memory it is: device files that were
 * sent to a socket and not yet received, and exported memory that was handed to a process without a context of its own.
 */
import {gpusByMinor, holdsDevice, keepsControlOnly, minorOf} from './devices.ts';
import type {GpuAccount} from './diagnosis.ts';
import type {Evidence} from './finding.ts';
import type {Holding, Snapshot} from './snapshot.ts';

/** Accounts with memory that no proven holder explains. */
export function looseAccounts(accounts: readonly GpuAccount[]): readonly GpuAccount[] {
  return accounts.filter((account) => account.loose);
}

export interface Keeping {
  readonly kind: 'in-flight' | 'importer';
  readonly gpuUuids: readonly string[];
  readonly evidence: readonly Evidence[];
}

/**
 * How this process may keep what is loose; empty where nothing is loose: every desktop has files waiting in sockets. One
 * that is billed itself, and keeps files in an io_uring and nowhere else, needs no suspicion.
 */
export function keepings(
  holding: Holding,
  isBilled: boolean,
  loose: readonly GpuAccount[],
  snapshot: Snapshot,
): readonly Keeping[] {
  const queued = queueOf(holding, snapshot);
  const inRing = isBilled && !holdsDevice(holding) && holding.queued > 0 && queued.rings > 0;
  if (loose.length === 0) return inRing ? [{kind: 'in-flight', gpuUuids: [], evidence: queued.evidence}] : [];
  const found: Keeping[] = [];
  const waiting = loose.filter((account) => queued.gpus === null || queued.gpus.has(account.gpuUuid));
  if (holding.queued > 0 && waiting.length > 0)
    found.push({kind: 'in-flight', gpuUuids: uuids(waiting), evidence: [...queued.evidence, looseFact(waiting)]});
  else if (inRing) found.push({kind: 'in-flight', gpuUuids: [], evidence: queued.evidence});
  // Exported memory keeps no context of its own, so nobody is billed: a dead PID's bill is another matter.
  const exported = loose.filter((account) => unbilledMiB(account) > account.baselineMiB);
  if (!isBilled && holdsDevice(holding) && keepsControlOnly(holding) && exported.length > 0) {
    const fact = 'has only nvidiactl open, no GPU, no nvidia-uvm: as after an import of exported memory';
    found.push({
      kind: 'importer',
      gpuUuids: uuids(exported),
      evidence: [{source: 'open-files', fact}, looseFact(exported)],
    });
  }
  return found;
}

/** What waits in its sockets and io_urings, and on which GPUs: null where no name tells. `rings`: those with devices, or without names. */
function queueOf(
  holding: Holding,
  snapshot: Snapshot,
): {readonly gpus: ReadonlySet<string> | null; readonly rings: number; readonly evidence: readonly Evidence[]} {
  const sockets = (snapshot.deep?.queued ?? []).filter((one) => one.pid === holding.pid && one.count > 0);
  const rings = (snapshot.deep?.rings ?? []).filter((one) => one.pid === holding.pid && one.files > 0);
  const evidence: Evidence[] = [];
  if (sockets.length > 0) {
    const count = sockets.reduce((sum, one) => sum + one.count, 0);
    const fact = `${count} files wait in its sockets (scm_fds of fd ${sockets.map((one) => one.fd).join(', ')}); which files cannot be seen`;
    evidence.push({source: 'socket-queues', fact});
  }
  const names = rings.flatMap((one) => one.devices ?? []);
  const nameless = rings.filter((one) => one.devices === null);
  if (names.length > 0) evidence.push({source: 'socket-queues', fact: `its io_uring keeps ${names.join(', ')} open`});
  for (const {fd, files} of nameless) {
    const fact = `its io_uring (fd ${fd}) keeps ${files} files open; which files cannot be seen`;
    evidence.push({source: 'socket-queues', fact});
  }
  const minors = names.map(minorOf);
  // nvidiactl alone names no GPU, and exported memory needs no more.
  const open = sockets.length > 0 || nameless.length > 0 || minors.includes(null) || rings.length === 0;
  return {
    gpus: open ? null : gpusByMinor(minors, snapshot),
    rings: rings.filter((one) => one.devices === null || one.devices.length > 0).length,
    evidence: [...evidence, ...queueGaps(snapshot)],
  };
}

/** What the deeper look could not read of the sockets: others may have files waiting as well. */
export function queueGaps({deep}: Snapshot): readonly Evidence[] {
  const gaps = deep?.sections.filter((section) => section.name === 'queue' && !section.complete) ?? [];
  return gaps.map(({note}) => ({source: 'socket-queues', fact: `not all sockets could be read: ${note || 'cut'}`}));
}

/** What is left over, dead PIDs' bills aside. */
function unbilledMiB(account: GpuAccount): number {
  const dead = account.deadCharged.reduce((sum, charge) => sum + (charge.kept ? 0 : (charge.usedMiB ?? 0)), 0);
  return (account.unexplainedMiB ?? 0) - dead;
}

/** "may keep 4623 MiB that nobody was seen to keep, on GPU 0, dead PID 1403 is billed there" */
function looseFact(accounts: readonly GpuAccount[]): Evidence {
  const total = accounts.reduce((sum, account) => sum + (account.unexplainedMiB ?? 0), 0);
  const gpus = accounts.map((account) => account.index ?? account.gpuUuid);
  const dead = new Set(
    accounts.flatMap((account) => account.deadCharged.flatMap((one) => (one.kept ? [] : [one.pid]))),
  );
  const bill = dead.size === 0 ? 'billed to nobody' : `billed to dead PID ${[...dead].join(', ')}`;
  return {
    source: 'gpu-totals',
    fact: `may keep ${total} MiB that nobody was seen to keep, on GPU ${gpus.join(', ')}, ${bill}`,
  };
}

function uuids(accounts: readonly GpuAccount[]): readonly string[] {
  return accounts.map((account) => account.gpuUuid);
}
