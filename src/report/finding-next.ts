/** What may be done about each finding, and the next safe step. */
import type {GpuReason, HolderDiagnosis} from '../domain/diagnosis.ts';
import type {FindingKind} from '../domain/finding.ts';
import type {Kept} from '../domain/plan.ts';
import {titleOf} from '../domain/roles.ts';
import type {ProcessFacts, Snapshot} from '../domain/snapshot.ts';
import {safeLine} from './safe-text.ts';

export interface Next {
  /** What this program would do, after a go. */
  readonly may: string;
  /** The next safe step for a person; empty where there is nothing to do. */
  readonly next: string;
}

export const FINDING_NEXT: Readonly<Record<FindingKind, Next>> = {
  workload: {may: 'SIGTERM, then kill -9', next: 'reclaim it by its name'},
  renamed: {may: 'SIGTERM, then kill -9', next: 'reclaim what it belongs to, or choose it by its PID'},
  deaf: {may: 'kill -9 without a wait', next: 'reclaim it; nothing it holds in memory is written first'},
  stopped: {may: 'kill -9 without a wait', next: 'ask its user whether it is to go on; else reclaim it'},
  inheritor: {
    may: 'SIGTERM, then kill -9 of this one; the dead PID cannot be signalled',
    next: 'reclaim it',
  },
  'zombie-leader': {may: 'kill -9: its other threads end with it', next: 'reclaim it; do not wait for its parent'},
  'mapping-only': {may: 'SIGTERM, then kill -9', next: 'reclaim it; fuser without -m and lsof do not list it'},
  importer: {
    may: 'only by explicit choice: it may be healthy and shared',
    next: 'ask its owner to restart it; that gives the memory back',
  },
  'in-flight': {
    may: 'only by explicit choice: which files wait there cannot be seen',
    next: 'end the owner of the socket, or have it receive what waits; ask whose it is first',
  },
  stuck: {may: 'no further signal', next: 'drain the host and reboot it; a reset of the GPU needs it drained as well'},
  writing: {may: 'wait while the file grows, then SIGTERM and kill -9', next: 'let it finish, or give that file up'},
  impostor: {may: 'as with any process: by belonging or by choice', next: 'find out who started it under that name'},
  unreaped: {
    may: 'no signal: it is dead',
    next: 'its parent must reap it; when that one ends, PID 1 does',
  },
  contained: {may: 'only by explicit choice: its owner would start it again', next: "stop it with its owner's command"},
  protected: {may: 'nothing, whatever is typed', next: ''},
  bystander: {may: "only by explicit choice, with another approver's go", next: 'ask its owner'},
  monitor: {may: 'nothing', next: 'it ends by itself'},
  server: {
    may: 'SIGTERM before its workers, then kill -9',
    next: 'reclaim the whole workload, else it starts them again',
  },
  'name-only': {may: 'nothing', next: ''},
};

/** How a process takes a signal; says nothing of whether it should get one. */
const MANNERS: ReadonlySet<FindingKind> = new Set(['deaf', 'stopped', 'writing']);

/** The next safe step with a GPU whose memory no process answers for; none of these is helped by a signal. */
export const REASON_NEXT: Partial<Readonly<Record<GpuReason, string>>> = {
  fault: 'no signal helps: drain it, then the recovery that nvidia-smi names, a reset or a reboot',
  xid: "look the code up in the driver's list of Xid errors before work is put there",
  'smi-failed': 'mend nvidia-smi first: driver and library may be of two versions until a reboot',
  'smi-timed-out': 'no signal: the driver may be stuck; look at the kernel log, and drain the host',
  'kernel-module': 'end what uses the module (RDMA, GPUDirect), then look again',
  'instance-unplaced': 'compare "nvidia-smi -L" for the instance, then look at the process that is billed',
  'not-all-readable': 'look with an account that may read all processes (manifests/sudoers.gpu-reclaim)',
  hidepid: 'look with an account that may read all processes (manifests/sudoers.gpu-reclaim)',
  'foreign-pid-namespace': 'look from the host itself, not from inside a container',
};

/** The next step with one that a plan leaves alone: by why it stays, where that is stronger than what it is. */
export function keptNext({why, findings}: Pick<Kept, 'why' | 'findings'>): string {
  const [lead] = findings;
  const kind = why in FINDING_NEXT ? (why as FindingKind) : lead;
  return kind === undefined ? '' : FINDING_NEXT[kind].next;
}

/** "May be done: kill -9 without a wait. Next: …" of the finding that leads; who has to reap is only known to a look. */
export function holderNextLine(holder: HolderDiagnosis, snapshot: Snapshot): string | null {
  const [lead] = holder.findings;
  if (lead === undefined) return null;
  if (lead === 'unreaped') {
    const parent = snapshot.processes.find((process) => process.pid === holder.process.ppid);
    const name = parent === undefined ? '' : ` ${safeLine(titleOf(parent), 30)}`;
    return worded({
      ...FINDING_NEXT.unreaped,
      next: `PID ${holder.process.ppid}${name} must reap it; when that one ends, PID 1 does`,
    });
  }
  if (lead !== 'contained' && holder.findings.includes('contained') && lead !== 'protected')
    return worded({...FINDING_NEXT[lead], next: FINDING_NEXT.contained.next});
  // That a signal is lost on it, or that it writes, makes nobody's live work fair game.
  if (holder.findings.includes('bystander') && MANNERS.has(lead)) return worded(FINDING_NEXT.bystander);
  return worded(FINDING_NEXT[lead]);
}

/** What of a process could not be read: its evidence is without that. */
export function unreadLine(process: ProcessFacts): readonly string[] {
  return process.unreadable.length === 0
    ? []
    : [`· could not be read: ${process.unreadable.map((one) => safeLine(one, 20)).join(', ')}`];
}

function worded({may, next}: Next): string {
  return `May be done: ${may}.${next === '' ? '' : ` Next: ${next}.`}`;
}
