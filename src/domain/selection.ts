/** Preselection (design 2.1): for each holder, why it would be ticked, or why it stays. */
import {isGhost} from './account.ts';
import {touchedGpus} from './devices.ts';
import type {Belonging, Diagnosis, HolderDiagnosis} from './diagnosis.ts';
import {kinshipEarlier, kinshipTo} from './kinship.ts';
import {ancestors, belowTyping, isEnvironment, type ProcessTable, processTable} from './lineage.ts';
import {isOwnedBy} from './ownership.ts';
import type {Kept} from './plan.ts';
import type {ReclaimRequest} from './request.ts';
import type {ProcessFacts, Snapshot} from './snapshot.ts';

export interface SelectionInput {
  readonly diagnosis: Diagnosis;
  readonly request: ReclaimRequest;
  /** UUIDs that the request's `gpus=` stood for at the survey; every GPU if it named none. */
  readonly requested: ReadonlySet<string>;
  readonly earlier: readonly Snapshot[];
}

export type Choice =
  | {readonly ticked: true; readonly belonging: Belonging}
  | {readonly ticked: false; readonly why: Kept['why']; readonly choosable: boolean};

/**
 * What the request names by itself: its match, its user (both, where both are given), and its PIDs. Holders or not. A
 * shell or multiplexer whose command line merely holds the text (`tmux new -s vllm`) names nothing: all kinds of work
 * run below it.
 */
export function namedBy(request: ReclaimRequest, diagnosis: Diagnosis): readonly ProcessFacts[] {
  const own = new Set(diagnosis.snapshot.ownPids);
  return diagnosis.snapshot.processes.filter(
    (process) =>
      !own.has(process.pid) &&
      (request.pids.includes(process.pid) ||
        (!isEnvironment(process) && matchesRequest(process, request, diagnosis.snapshot))),
  );
}

/** Ticked, or kept and why. A typed PID is a choice by hand: it overrides all but the locks. */
export function choose(holder: HolderDiagnosis, input: SelectionInput): Choice {
  const {request} = input;
  const pid = holder.process.pid;
  const keep = (why: Kept['why'], choosable: boolean): Choice => ({ticked: false, why, choosable});

  if (holder.findings.includes('protected')) return keep('protected', false);
  if (input.diagnosis.snapshot.ownPids.includes(pid)) return keep('own-session', false);
  if (holder.findings.includes('monitor')) return keep('monitor', false);
  if (holder.findings.includes('unreaped')) return keep('unreaped', false);
  // It has its kill -9 already; one more would change nothing.
  if (holder.findings.includes('stuck')) return keep('stuck', false);
  if (holder.identity === null) return keep('no-identity', false);
  // Billed, yet no scan saw it hold anything: another process may have got the PID of the one that is billed.
  if (holder.heldBy === 'nothing') return keep('no-holder', false);
  // A ghost stays one when it is chosen by hand: as such it is shown and approved, and as such it must be found again.
  if (request.pids.includes(pid))
    return {ticked: true, belonging: isGhost(holder) ? {by: 'ghost', deadPids: holder.deadCharged} : {by: 'pid'}};

  const used = holder.gpus.filter((use) => use.how !== 'opened').map((use) => use.gpuUuid);
  if (request.gpus !== null && !touchedGpus(holder).some((uuid) => input.requested.has(uuid)))
    return keep('outside-gpus', false);

  const belonging = belongingOf(holder, input);
  if (isSuspectOnly(holder)) {
    const isMeant = belonging !== null && !SWEEPING.includes(belonging.by) && !isEnvironment(holder.process);
    if (!isMeant) return keep('possible-keeper', true);
  }
  // Healthy and shared, for all we know: "all that is on this GPU" does not mean it.
  if (holder.findings.includes('importer') && belonging?.by === 'gpus') return keep('importer', true);
  if (belonging === null) {
    if (isGhost(holder)) return keep('unticked', true);
    // Another person's job is simply in use; "detached" speaks of one that nobody is known for.
    const somebody = holder.ownership.person !== null && !isOwnedBy(holder.ownership, request.requester);
    return keep(holder.process.ppid === 1 && !somebody ? 'detached' : 'in-use', true);
  }
  if (holder.findings.includes('contained')) return keep('contained', true);
  if (used.length > 0 && used.every((uuid) => isFaulty(uuid, input.diagnosis.snapshot))) return keep('gpu-fault', true);
  if (request.gpus !== null && used.some((uuid) => !input.requested.has(uuid))) return keep('outside-gpus', true);
  return {ticked: true, belonging};
}

/** A GPU that reports a fault: no figure of it can show that a signal freed anything, and often none arrives. */
function isFaulty(uuid: string, snapshot: Snapshot): boolean {
  return snapshot.gpus.some((gpu) => gpu.uuid === uuid && gpu.fault !== null);
}

/** Belonging that says nothing of the one process: whoever it is said of, it is said of everybody there. */
const SWEEPING: readonly Belonging['by'][] = ['user', 'gpus', 'ghost'];

/** Tied to the GPUs by nothing but what it may keep: a desktop's bus, say, in whose sockets files always wait. */
function isSuspectOnly(holder: HolderDiagnosis): boolean {
  return holder.mayKeep.length > 0 && holder.gpus.every((use) => use.how === 'opened');
}

function belongingOf(holder: HolderDiagnosis, input: SelectionInput): Belonging | null {
  const {diagnosis, request} = input;
  const {snapshot} = diagnosis;
  if (matchesRequest(holder.process, request, snapshot))
    return request.match === null ? {by: 'user'} : {by: 'named', literal: request.match};
  const {table, makers, lends} = kinOf(input);
  const kin = kinshipTo(holder.process, makers, table, lends);
  if (kin !== null) return kin;
  if (isGhost(holder) && !namesOnlyPids(request)) return {by: 'ghost', deadPids: holder.deadCharged};
  if (request.match !== null) {
    const sameBoot = input.earlier.filter(
      ({machine}) =>
        machine.bootId === snapshot.machine.bootId && machine.pidNamespace === snapshot.machine.pidNamespace,
    );
    const before = kinshipEarlier(holder.process, sameBoot, (one, look) => matchesRequest(one, request, look));
    if (before !== null) return before;
  }
  return request.includeOthers ? {by: 'gpus'} : null;
}

/** Whoever types a PID and nothing else means that one: ghosts elsewhere are offered, not ticked. */
function namesOnlyPids(request: ReclaimRequest): boolean {
  const {pids, match, user, gpus, includeOthers} = request;
  return pids.length > 0 && match === null && user === null && gpus === null && !includeOthers;
}

interface Kin {
  readonly table: ProcessTable;
  readonly makers: readonly ProcessFacts[];
  readonly lends: (one: ProcessFacts) => boolean;
}

/** The same for every holder of one look and one request. */
const KIN = new WeakMap<SelectionInput, Kin>();

function kinOf(input: SelectionInput): Kin {
  const known = KIN.get(input);
  if (known !== undefined) return known;
  const {request, diagnosis} = input;
  const table = processTable(diagnosis.snapshot);
  const kin = {table, makers: kinMakers(request, diagnosis), lends: lenders(diagnosis, table)};
  KIN.set(input, kin);
  return kin;
}

/** Named processes that make others kin. A holder that was typed by PID is a choice by hand of that one alone. */
function kinMakers(request: ReclaimRequest, diagnosis: Diagnosis): readonly ProcessFacts[] {
  const holders = new Set(diagnosis.holders.map((one) => one.process.pid));
  const pids = request.pids.filter((pid) => !holders.has(pid));
  return namedBy({...request, pids}, diagnosis).filter((process) => !isEnvironment(process));
}

/** Holders, and those above a holder: a name match elsewhere (`tail -f vllm.log`) is only a name. */
function lenders(diagnosis: Diagnosis, table: ProcessTable): (one: ProcessFacts) => boolean {
  const pids = new Set<number>();
  for (const {process} of diagnosis.holders) {
    pids.add(process.pid);
    for (const parent of belowTyping(ancestors(process.pid, table))) pids.add(parent.pid);
  }
  return (one) => pids.has(one.pid);
}

function matchesRequest(process: ProcessFacts, request: ReclaimRequest, snapshot: Snapshot): boolean {
  const {match, user} = request;
  if (match === null && user === null) return false;
  return (
    (user === null || isUser(process, user)) &&
    (match === null || snapshot.matches.some((one) => one.pid === process.pid && one.literal === match))
  );
}

function isUser(process: ProcessFacts, user: string): boolean {
  return process.userName === user || (process.uid !== null && String(process.uid) === user);
}

/**
 * What the requester may go for alone: proven ghosts, their own processes, and what an earlier look tied to the request,
 * unless somebody else is known for it: a short literal may once have named what is above everybody's work.
 */
export function mayGoAlone(holder: HolderDiagnosis, belonging: Belonging, request: ReclaimRequest): boolean {
  if (isGhost(holder) || isOwnedBy(holder.ownership, request.requester)) return true;
  return belonging.by === 'earlier-look' && holder.ownership.person === null;
}
