/** Which owners a plan stops first: only those whose every process is a target, or becomes one under the same rules. */
import {diagnoseProcess} from './holder.ts';
import {ancestors, isPlainZombie, type ProcessTable, processTable} from './lineage.ts';
import {keptFrom, ordered} from './make-plan.ts';
import type {OwnedBy, OwnedLook} from './owned.ts';
import type {Kept, Plan, Target} from './plan.ts';
import {type PlanInput, targetFacts} from './plan-input.ts';
import type {Recheck} from './recheck.ts';
import {mayGoAlone} from './selection.ts';
import type {Snapshot} from './snapshot.ts';
import {isNoStop, type NoStop, type NoStopWhy, type Stop, type StoppableOwner, stoppable} from './stop-owner.ts';

/** One look asks about no more owners. */
const MOST_ASKED = 16;
/** What the owner's tool needs beyond the grace to kill, and to say so, ms. */
const AFTER_GRACE_MS = 10_000;

type StopInput = Pick<PlanInput, 'diagnosis' | 'request' | 'context' | 'earlier' | 'nowMs'>;

/** Owners worth a look at what they own: of all that may be signalled, targets first. Empty unless the policy names one. */
export function ownersToStop(plan: Plan, {diagnosis, context}: StopInput): readonly StoppableOwner[] {
  const table = processTable(diagnosis.snapshot);
  const found = new Map<string, StoppableOwner>();
  const choosable = plan.kept.filter((kept) => kept.choosable);
  for (const {pid, owners} of [...plan.targets.map(asOwned), ...choosable]) {
    const process = table.get(pid);
    const owner = process === undefined ? null : stoppable(owners, process, context.policy);
    if (owner !== null && !isNoStop(owner)) found.set(`${owner.kind} ${owner.id}`, owner);
  }
  return [...found.values()].slice(0, MOST_ASKED);
}

/** The plan with its stops. `unticked`: who was offered because of a stop, and was left out by hand. */
export function withStops(
  plan: Plan,
  look: OwnedLook | null,
  input: StopInput & {readonly unticked: ReadonlySet<number>},
): Plan {
  const table = processTable(input.diagnosis.snapshot);
  const asked = new Map<string, StoppableOwner | NoStop>();
  for (const {pid, owners} of plan.targets.map(asOwned)) {
    const process = table.get(pid);
    const owner = process === undefined ? null : stoppable(owners, process, input.context.policy);
    if (owner !== null) asked.set(`${owner.kind} ${owner.name}`, owner);
  }
  const stops: Stop[] = [];
  const noStops: NoStop[] = [];
  const joined: Target[] = [];
  const left: Kept[] = [];
  for (const owner of asked.values()) {
    if (isNoStop(owner)) {
      noStops.push(owner);
      continue;
    }
    const whole = wholeOf(owner, plan, look, input);
    if ('stop' in whole) {
      stops.push(whole.stop);
      joined.push(...whole.joined);
    } else {
      noStops.push(whole.noStop);
      left.push(...whole.left);
    }
  }
  const joinedPids = new Set(joined.map((target) => target.identity.pid));
  return {
    ...plan,
    targets: joined.length === 0 ? plan.targets : inOrder([...plan.targets, ...joined], input, look),
    kept: [...plan.kept.filter((kept) => !joinedPids.has(kept.pid)), ...left],
    stops,
    noStops,
    owned: look,
  };
}

/** The stops that may still be carried out: every process that would end is a target still, or ended by itself. */
export function standingStops(plan: Plan, checked: Extract<Recheck, {go: true}>): readonly Stop[] {
  const targets = new Set(checked.targets.map((target) => target.identity.pid));
  const gone = new Set(checked.drift.flatMap((drift) => (drift.what === 'gone' ? [drift.pid] : [])));
  return plan.stops.filter((stop) => stop.pids.every((pid) => targets.has(pid) || gone.has(pid)));
}

type Whole =
  | {readonly stop: Stop; readonly joined: readonly Target[]}
  | {readonly noStop: NoStop; readonly left: readonly Kept[]};

function wholeOf(
  owner: StoppableOwner,
  plan: Plan,
  look: OwnedLook | null,
  input: StopInput & {readonly unticked: ReadonlySet<number>},
): Whole {
  const {kind, name} = owner;
  const refuse = (why: NoStopWhy, pid: number | null = null, left: readonly Kept[] = []): Whole => ({
    noStop: {kind, name, why, pid},
    left,
  });
  const owned = look?.owners.find((one) => one.kind === kind && one.id === owner.id);
  if (look === null || owned === undefined || owned.run === null || owned.pids === null) return refuse('unread');
  const against = againstAll(owner, owned, plan, input);
  if (against !== null) return refuse(against);
  const own = owned.pids.find((pid) => look.ownPids.includes(pid) || input.diagnosis.snapshot.ownPids.includes(pid));
  if (own !== undefined) return refuse('own-session');

  const members: number[] = [];
  const joined: Target[] = [];
  const refused: {readonly pid: number; readonly why: NoStopWhy; readonly left: readonly Kept[]}[] = [];
  for (const pid of owned.pids) {
    const found = memberOf(pid, owner, plan, look, input);
    if (found === null) continue;
    if ('why' in found) refused.push({pid, ...found});
    else members.push(pid);
    if ('joins' in found && found.joins !== null) joined.push(found.joins);
  }
  const [no] = refused;
  // Whoever was unticked is offered again, all of them: none comes back because of another.
  if (no !== undefined)
    return refuse(
      no.why,
      no.pid,
      refused.flatMap((one) => one.left),
    );
  const {graceMs} = plan;
  const {endsInKill} = owned;
  return {stop: {...owner, pids: members, endsInKill, timeoutMs: graceMs + AFTER_GRACE_MS}, joined};
}

function againstAll(
  owner: StoppableOwner,
  owned: OwnedBy,
  plan: Plan,
  {diagnosis, context}: StopInput,
): NoStopWhy | null {
  if (owned.run !== owner.run) return 'changed';
  if (owned.against !== null) return owned.against;
  const pids = owned.pids ?? [];
  if (pids.length > context.policy.limits.targets) return 'too-many';
  // A target that says it stands there, and does not: the folder is not what it was.
  const table = processTable(diagnosis.snapshot);
  const isThere = ({pid, owners}: ReturnType<typeof asOwned>) => {
    const process = table.get(pid);
    const its = process === undefined ? null : stoppable(owners, process, context.policy);
    return its === null || isNoStop(its) || its.folder !== owner.folder || pids.includes(pid);
  };
  return plan.targets.map(asOwned).every(isThere) ? null : 'changed';
}

type Member =
  /** A target, or what becomes one. */
  {readonly joins: Target | null} | {readonly why: NoStopWhy; readonly left: readonly Kept[]};

/** One process that would end; null for the dead, which hold nothing. */
function memberOf(
  pid: number,
  owner: StoppableOwner,
  plan: Plan,
  look: OwnedLook,
  input: StopInput & {readonly unticked: ReadonlySet<number>},
): Member | null {
  const refuse = (why: NoStopWhy, left: readonly Kept[] = []): Member => ({why, left});
  const target = plan.targets.find((one) => one.identity.pid === pid);
  const process = look.processes.find((one) => one.pid === pid);
  if (process === undefined) return refuse('no-identity');
  if (target !== undefined)
    return process.startTicks === target.identity.startTicks ? {joins: null} : refuse('changed');
  if (isPlainZombie(process)) return null;
  const holder = plan.kept.find((kept) => kept.pid === pid && kept.why !== 'name-only' && kept.why !== 'no-holder');
  if (holder !== undefined) return refuse(WHY_KEPT[holder.why] ?? 'kept');
  const snapshot = merged(input.diagnosis.snapshot, look);
  const {host, policy} = input.context;
  const table = processTable(snapshot);
  const seen = diagnoseProcess(process, {snapshot: {...snapshot, charges: []}, table, dead: [], host, policy});
  if (seen.findings.includes('protected')) return refuse('protected');
  if (seen.findings.includes('monitor')) return refuse('monitor');
  if (seen.identity === null) return refuse('no-identity');
  const planInput: PlanInput = {...input, runId: plan.runId, version: plan.version, only: null, writing: plan.writing};
  if (input.unticked.has(pid)) return refuse('unticked', [keptFrom(seen, 'unticked', true, planInput)]);
  const shared = sharedWith(owner, plan, input) ?? pid;
  const belonging = {by: 'cgroup', path: owner.folder, sharedWithPid: shared} as const;
  const isServer = plan.targets.some((one) => ancestors(one.identity.pid, table).some((above) => above.pid === pid));
  const findings = seen.findings.filter((kind) => kind !== 'name-only' && kind !== 'bystander');
  return {
    joins: {
      ...targetFacts({...seen, findings: isServer ? ['server', ...findings] : findings}, planInput),
      identity: seen.identity,
      role: isServer ? 'server' : 'member',
      belonging,
      heldBy: 'nothing',
      family: plan.targets.find((one) => one.identity.pid === shared)?.family ?? {framework: null, rootPid: pid},
      selfGo: mayGoAlone(seen, belonging, input.request),
    },
  };
}

const WHY_KEPT: Partial<Readonly<Record<Kept['why'], NoStopWhy>>> = {
  protected: 'protected',
  monitor: 'monitor',
  'no-identity': 'no-identity',
  'own-session': 'own-session',
  unticked: 'unticked',
};

/** The first target that the owner is the owner of. */
function sharedWith(owner: StoppableOwner, plan: Plan, {context, diagnosis}: StopInput): number | null {
  const table = processTable(diagnosis.snapshot);
  const first = plan.targets.map(asOwned).find(({pid, owners}) => {
    const process = table.get(pid);
    const its = process === undefined ? null : stoppable(owners, process, context.policy);
    return its !== null && !isNoStop(its) && its.folder === owner.folder;
  });
  return first?.pid ?? null;
}

function asOwned({identity, owners}: Target): Pick<Target, 'owners'> & {readonly pid: number} {
  return {pid: identity.pid, owners};
}

function inOrder(targets: readonly Target[], input: StopInput, look: OwnedLook | null): readonly Target[] {
  const {snapshot} = input.diagnosis;
  const table: ProcessTable = processTable(look === null ? snapshot : merged(snapshot, look));
  return ordered(targets, table);
}

/** What the first look knows of a process counts; the later one adds those that it did not read. */
function merged(snapshot: Snapshot, look: OwnedLook): Snapshot {
  const known = new Set(snapshot.processes.map((process) => process.pid));
  return {...snapshot, processes: [...snapshot.processes, ...look.processes.filter((one) => !known.has(one.pid))]};
}
