/** "Can I start?": what a closed run's own events say of the GPUs that were asked for, and what stands against a start. */
import type {DeepLook, SharedLeftover} from './deep.ts';
import type {Ownership} from './diagnosis.ts';
import type {GpuChange, Outcome} from './outcome.ts';
import type {Plan} from './plan.ts';
import {isSameMachine} from './process.ts';
import type {Run} from './run.ts';
import {firstSnapshot, planOf} from './run-state.ts';
import type {Snapshot} from './snapshot.ts';

/** Somebody who still uses a GPU that is not free. */
export interface Blocker {
  readonly pid: number;
  readonly name: string;
  /** null where neither the plan nor the closing look knows whose it is. */
  readonly ownership: Ownership | null;
  readonly gpus: readonly GpuChange[];
  /** On those GPUs; null where no bill has a figure. */
  readonly chargedMiB: number | null;
}

/** Xid lines of one GPU with one code, since the look before the first signal: from there on the log was read. */
export interface NewXid {
  readonly index: number | null;
  readonly busId: string;
  readonly code: number;
  readonly count: number;
}

export interface Readiness {
  readonly asked: readonly GpuChange[];
  readonly all: readonly GpuChange[];
  readonly blockers: readonly Blocker[];
  /** GPUs whose driver asks for a recovery before they are used again, as nvidia-smi words it. */
  readonly recovery: readonly {readonly index: number | null; readonly action: string}[];
  /** null: the kernel's log was not read whole, and showed none. */
  readonly newXids: readonly NewXid[] | null;
  /** Shared memory that no process has open or maps, newest first; null: not read. It is never ours to delete. */
  readonly leftovers: readonly SharedLeftover[] | null;
  /** Ports that the ended servers were told to listen on; null in `busy`: not read. */
  readonly ports: readonly {readonly port: number; readonly busy: boolean | null}[];
}

/** null for a run that never measured a GPU. */
export function readinessOf(run: Run, outcome: Outcome): Readiness | null {
  const plan = planOf(run)?.plan ?? null;
  if (plan === null || outcome.gpus.length === 0) return null;
  const before = firstSnapshot(run);
  const going = goingSnapshot(run) ?? before;
  const after = closingSnapshot(run);
  const deep = after?.deep ?? null;
  return {
    asked: outcome.gpus.filter((gpu) => gpu.requested),
    all: outcome.gpus,
    blockers: blockersOf(outcome, plan, after),
    recovery: after === null ? [] : recoveryOf(after),
    newXids: deep === null || going === null ? null : newXids(deep, going, after),
    leftovers: deep === null ? null : leftoversOf(deep),
    ports: before === null ? [] : portsOf(before, plan, outcome, deep),
  };
}

/** Known, at what those explain who were no targets, and nobody is billed there. */
export function isFree(gpu: GpuChange): boolean {
  return (
    gpu.afterMiB !== null &&
    gpu.expectedMiB !== null &&
    gpu.afterMiB <= gpu.expectedMiB &&
    gpu.heldBy.every((holder) => (holder.chargedMiB ?? 0) === 0)
  );
}

/** The look that the outcome was judged by; null if it failed, or was never taken. */
export function closingSnapshot(run: Run): Snapshot | null {
  const looked = run.events.findLast((event) => event.kind === 'looked-again');
  return looked?.kind === 'looked-again' ? looked.snapshot : null;
}

/** The look between the go and the first signal. */
function goingSnapshot(run: Run): Snapshot | null {
  const rechecked = run.events.findLast((event) => event.kind === 'rechecked');
  return rechecked?.kind === 'rechecked' ? rechecked.snapshot : null;
}

/** True only if a deeper look names the section and read all of it: else what it lacks proves nothing. */
export function isWhole(deep: DeepLook, ...sections: readonly string[]): boolean {
  return sections.every((name) => deep.sections.some((section) => section.name === name && section.complete));
}

function blockersOf(outcome: Outcome, plan: Plan, after: Snapshot | null): readonly Blocker[] {
  const blockers = new Map<number, Blocker>();
  for (const gpu of outcome.gpus) {
    if (isFree(gpu)) continue;
    for (const {pid, name, chargedMiB} of gpu.heldBy) {
      if (isDaemon(pid, plan)) continue;
      const known = blockers.get(pid);
      blockers.set(pid, {
        pid,
        name,
        ownership: known?.ownership ?? ownershipOf(pid, plan, after),
        gpus: [...(known?.gpus ?? []), gpu],
        chargedMiB: chargedMiB === null ? (known?.chargedMiB ?? null) : (known?.chargedMiB ?? 0) + chargedMiB,
      });
    }
  }
  return [...blockers.values()];
}

/** Daemons and monitors open every GPU by trade, and keep nobody from starting. */
function isDaemon(pid: number, plan: Plan): boolean {
  const kept = plan.kept.find((one) => one.pid === pid);
  return kept?.why === 'protected' || kept?.why === 'monitor';
}

function ownershipOf(pid: number, plan: Plan, after: Snapshot | null): Ownership | null {
  const planned =
    plan.kept.find((one) => one.pid === pid) ?? plan.targets.find((target) => target.identity.pid === pid);
  if (planned !== undefined) return planned.ownership;
  const process = after?.processes.find((one) => one.pid === pid);
  return process === undefined ? null : {person: process.userName, uid: process.uid, by: 'uid'};
}

/** `[N/A]` and the like are what drivers say that do not know the field. */
function recoveryOf(after: Snapshot): Readiness['recovery'] {
  return after.gpus.flatMap(({index, recoveryAction}) => {
    const action = recoveryAction.trim();
    return action === '' || /^none$/i.test(action) || /^\[?(N\/A|Not Supported)\]?$/i.test(action)
      ? []
      : [{index, action}];
  });
}

function newXids(deep: DeepLook, before: Snapshot, after: Snapshot | null): readonly NewXid[] | null {
  // After a reboot every line is of the new boot, and says nothing about this run.
  if (!isSameMachine(deep.machine, before.machine)) return null;
  const found = new Map<string, NewXid>();
  for (const {busId, code, uptimeMs} of deep.xids) {
    if (uptimeMs < before.uptimeMs) continue;
    const index = after?.gpus.find((gpu) => gpu.busId === busId)?.index ?? null;
    const key = `${busId} ${code}`;
    found.set(key, {index, busId, code, count: (found.get(key)?.count ?? 0) + 1});
  }
  return found.size > 0 || isWhole(deep, 'xids') ? [...found.values()] : null;
}

/** Youngest first; of unknown age last. */
function leftoversOf(deep: DeepLook): readonly SharedLeftover[] | null {
  if (deep.leftovers.length === 0 && !isWhole(deep, 'shm', 'segments')) return null;
  return deep.leftovers.toSorted((a, b) => (a.ageMs ?? Infinity) - (b.ageMs ?? Infinity) || (a.name < b.name ? -1 : 1));
}

/** By `--port N` in the words of targets that have ended. */
function portsOf(before: Snapshot, plan: Plan, outcome: Outcome, deep: DeepLook | null): Readiness['ports'] {
  const surviving = new Set(outcome.survivors.map((one) => one.pid));
  const ended = new Set(plan.targets.map((target) => target.identity.pid).filter((pid) => !surviving.has(pid)));
  const ports = new Set(
    before.processes.filter((process) => ended.has(process.pid)).flatMap((process) => portIn(process.words)),
  );
  return [...ports]
    .toSorted((a, b) => a - b)
    .map((port) => ({
      port,
      busy: deep?.listening.includes(port) === true ? true : deep !== null && isWhole(deep, 'listening') ? false : null,
    }));
}

function portIn(words: readonly string[]): readonly number[] {
  return words.flatMap((word, at) => {
    const value = word === '--port' ? words[at + 1] : word.startsWith('--port=') ? word.slice('--port='.length) : null;
    const port = value !== undefined && value !== null && /^\d{1,5}$/.test(value) ? Number(value) : 0;
    return port > 0 && port < 65_536 ? [port] : [];
  });
}
