/** Who may ask, go, deny, cancel, pause and resume (design 2.2): asked at the request and again at the go. */
import {asHold, type Campaign, holdsGpus, holdsProcess} from './campaign.ts';
import type {Failure} from './failure.ts';
import type {Host} from './host.ts';
import {isSameId, isSamePerson, type Person, personId, type SamePerson} from './person.ts';
import type {Plan} from './plan.ts';
import type {Approver, Policy} from './policy.ts';
import type {ReclaimRequest} from './request.ts';

export interface Load {
  readonly openRuns: number;
  /** Runs that this person asked for in the policy's window, and when the oldest of them was. */
  readonly byPerson: number;
  readonly oldestByPersonAtMs: number | null;
  readonly paused: {readonly by: string; readonly atMs: number} | null;
}

export function isApprover(person: Person, policy: Policy): boolean {
  return policy.approvers.some((approver) => isMeant(person, approver));
}

/** Why this request may not open a run; null if it may. A dry run signals nothing and needs neither approver nor act mode. */
export function refuseRequest(input: {
  readonly person: Person;
  readonly host: Host;
  readonly policy: Policy;
  readonly load: Load;
  readonly dryRun: boolean;
  readonly nowMs: number;
}): Failure | null {
  const {person, host, policy, load} = input;
  const {limits} = policy;
  if (!input.dryRun) {
    if (host.mode === 'observe') return {reason: 'host-observe-only', host: host.name};
    if (policy.approvers.length === 0 && !host.practice) return {reason: 'no-approvers'};
    if (load.paused !== null) return {reason: 'paused', ...load.paused};
  }
  if (load.openRuns >= limits.openRuns) return {reason: 'too-many-open-runs', limit: limits.openRuns};
  if (!input.dryRun && load.byPerson >= limits.runsPerPerson) {
    return {
      reason: 'too-many-runs-by-person',
      person: personId(person),
      limit: limits.runsPerPerson,
      windowMs: limits.runsPerPersonMs,
      againAtMs: (load.oldestByPersonAtMs ?? input.nowMs) + limits.runsPerPersonMs,
    };
  }
  return null;
}

/**
 * GPUs that others hold, asked at the request: null if none are wanted, or if the request says why it goes on. A dry run
 * takes nothing from anybody.
 */
export function refuseHeld(request: ReclaimRequest, inTheWay: readonly Campaign[]): Failure | null {
  if (inTheWay.length === 0 || request.dryRun || request.override !== undefined) return null;
  return {reason: 'gpus-held', host: request.host, holds: inTheWay.map(asHold)};
}

/** The request with whom it overrides; an override that nobody is in the way of is none. */
export function overriding(request: ReclaimRequest, inTheWay: readonly Campaign[]): ReclaimRequest {
  const {override, ...rest} = request;
  return override === undefined || inTheWay.length === 0
    ? rest
    : {...rest, override: {...override, holds: inTheWay.map(asHold)}};
}

/** Processes that others hold and that the plan would signal, however they came onto it. A dry run takes nothing. */
export function refuseHeldTargets(plan: Plan, request: ReclaimRequest, holds: readonly Campaign[]): Failure | null {
  const overridden = overriddenBy(request);
  const left = holds.filter((hold) => !overridden.has(hold.id) && holdsTarget(hold, plan));
  if (left.length === 0 || request.dryRun) return null;
  return {reason: 'gpus-held', host: plan.host, holds: left.map(asHold)};
}

function holdsTarget(hold: Campaign, plan: Plan): boolean {
  return plan.targets.some(({identity}) => holdsProcess(hold, plan.machine, identity));
}

function overriddenBy(request: ReclaimRequest): ReadonlySet<string> {
  return new Set(request.override?.holds.map(({id}) => id));
}

/**
 * Asked again at the go, for the GPUs that the plan's targets use: a hold that came later, or that was left out then, is
 * in the way whatever the request said, unless its holder is who gives the go.
 */
export function refuseHeldGo(
  plan: Plan,
  request: ReclaimRequest,
  person: Person,
  /** Those of others than the requester on that host. */
  holds: readonly Campaign[],
  same: SamePerson,
): Failure | null {
  const used = new Set(plan.targets.flatMap((target) => target.gpuUuids));
  const known = plan.gpus.flatMap(({gpuUuid, index}) => (used.has(gpuUuid) && index !== null ? [index] : []));
  // A GPU without a number may be any; so may the memory of a target that uses none that is known, whatever the others use.
  const blind = plan.targets.some(({gpuUuids, heldBy}) => gpuUuids.length === 0 && heldBy !== 'nothing');
  const anyGpu = blind || known.length < used.size || used.size === 0;
  const overridden = overriddenBy(request);
  const left = holds
    .filter((hold) => holdsGpus(hold, plan.host, anyGpu ? null : known) || holdsTarget(hold, plan))
    .filter(({id, by}) => !overridden.has(id) && !isSameId(by, personId(person), same));
  return left.length === 0 ? null : {reason: 'gpus-held', host: plan.host, holds: left.map(asHold)};
}

/** Who holds may end it, and an approver may. */
export function mayEndHold(person: Person, campaign: Campaign, policy: Policy): boolean {
  return isSameId(campaign.by, personId(person), policy.samePerson) || isApprover(person, policy);
}

export type Go = {readonly may: true; readonly breakGlass: boolean} | {readonly may: false; readonly failure: Failure};

export interface GoInput {
  readonly person: Person;
  readonly requester: Person;
  readonly plan: Plan;
  readonly host: Host;
  readonly policy: Policy;
  readonly paused: {readonly by: string; readonly atMs: number} | null;
  /** Typed by the person for a break-glass go. */
  readonly reason: string | null;
  /** The plan was made as a drill, on a host that had proved to be a lab. */
  readonly practice: boolean;
  /** A terminal with a typed confirmation: the only place where one who is no listed approver may break the glass. */
  readonly atTerminal: boolean;
}

/**
 * May this person give this plan its go? On a practice host anybody; else another approver always; the requester alone if an approver and every target is
 * a proven ghost or their own; else break-glass with a typed reason, where the policy leaves that open.
 */
export function mayGo(input: GoInput): Go {
  const {person, requester, plan, host, policy} = input;
  const refuse = (failure: Failure): Go => ({may: false, failure});
  if (host.mode === 'observe') return refuse({reason: 'host-observe-only', host: host.name});
  if (input.paused !== null) return refuse({reason: 'paused', ...input.paused});
  // A drill: nothing there is anybody's.
  if (input.practice && host.practice) return {may: true, breakGlass: false};
  if (policy.approvers.length === 0) return refuse({reason: 'no-approvers'});
  const approver = isApprover(person, policy);
  const self = isSamePerson(person, requester, policy.samePerson);
  if (approver && !self) return {may: true, breakGlass: false};
  if (approver && policy.selfGo && plan.targets.every((target) => target.selfGo)) return {may: true, breakGlass: false};

  const glass = policy.breakGlass && (approver || (input.atTerminal && person.kind === 'os-user'));
  const approvers = policy.approvers.map(approverName);
  if (!glass)
    return refuse(
      approver
        ? {reason: 'needs-another-approver', person: personId(person), approvers, breakGlass: false}
        : {reason: 'not-an-approver', person: personId(person), approvers},
    );
  if (input.reason === null || input.reason.trim() === '') {
    return refuse(
      self && approver
        ? {reason: 'needs-another-approver', person: personId(person), approvers, breakGlass: true}
        : {reason: 'break-glass-needs-reason', person: personId(person)},
    );
  }
  return {may: true, breakGlass: true};
}

/**
 * More targets than the policy lets outside one workload; null if within. Kin of one named process do not count, and
 * ghosts that keep the same dead processes' memory count as one: a dead rank may leave a hundred loader children.
 */
export function refusePlan(plan: Plan, policy: Policy): Failure | null {
  const loose = new Set<string>();
  for (const {identity, belonging} of plan.targets) {
    switch (belonging.by) {
      case 'parents':
      case 'session':
      case 'process-group':
      case 'cgroup':
        break;
      case 'ghost':
        loose.add(belonging.deadPids.length === 0 ? `pid ${identity.pid}` : `dead ${belonging.deadPids.join()}`);
        break;
      case 'named':
      case 'user':
      case 'pid':
      case 'gpus':
      case 'earlier-look':
        loose.add(`pid ${identity.pid}`);
        break;
    }
  }
  return loose.size > policy.limits.targets
    ? {reason: 'too-many-targets', count: loose.size, limit: policy.limits.targets}
    : null;
}

/** Resuming after a pause is an approver's; pausing and cancelling are anybody's. */
export function mayResume(person: Person, policy: Policy): boolean {
  return isApprover(person, policy) || (policy.breakGlass && person.kind === 'os-user');
}

export function approverName(approver: Approver): string {
  switch (approver.kind) {
    case 'os-user':
      return approver.name;
    case 'slack-user':
      return `@${approver.id}`;
    case 'slack-group':
      return `@${approver.id}`;
  }
}

function isMeant(person: Person, approver: Approver): boolean {
  switch (approver.kind) {
    case 'os-user':
      return person.kind === 'os-user' && person.name === approver.name;
    case 'slack-user':
      return person.kind === 'slack-user' && person.id === approver.id;
    case 'slack-group':
      return person.kind === 'slack-user' && person.groups.includes(approver.id);
  }
}
