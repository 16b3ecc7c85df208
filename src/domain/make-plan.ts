/** Diagnosis and request -> plan. Gathers nothing, signals nothing: the plan is a value. */
import {touchedGpus} from './devices.ts';
import type {Belonging, Diagnosis, FindingKind, HolderDiagnosis} from './diagnosis.ts';
import {expectations} from './expect-memory.ts';
import {fail, ok, type Result} from './failure.ts';
import {withFamilies} from './family.ts';
import {diagnoseProcess} from './holder.ts';
import {ancestors, type ProcessTable, processTable} from './lineage.ts';
import {withMovedBills} from './moved-bill.ts';
import type {Kept, Plan, Target} from './plan.ts';
import {ageMs, type PlanInput, targetFacts} from './plan-input.ts';
import type {ReclaimRequest} from './request.ts';
import {titleOf} from './roles.ts';
import {choose, mayGoAlone, type SelectionInput} from './selection.ts';
import {serversOf} from './servers.ts';
import {gracesFor, withWriting, withWritingKept} from './writing-targets.ts';

/** A plan, perhaps with no target; or `gpu-absent` when the request names a GPU that the host does not have. */
export function makePlan(given: PlanInput): Result<Plan> {
  // Only earlier looks tell whose memory a bill is that has grown.
  const input: PlanInput = {...given, diagnosis: withMovedBills(given.diagnosis, given.earlier)};
  const {diagnosis, request, context} = input;
  const requested = requestedUuids(diagnosis, request);
  if (!requested.ok) return requested;
  const selection: SelectionInput = {diagnosis, request, requested: requested.value, earlier: input.earlier};

  const holders: Target[] = [];
  const kept: Kept[] = [];
  for (const holder of diagnosis.holders) {
    const choice = choose(holder, selection);
    if (choice.ticked && input.only !== null && !input.only.has(holder.process.pid)) {
      kept.push(keptFrom(holder, 'unticked', true, input));
      continue;
    }
    if (choice.ticked && holder.identity !== null) {
      holders.push({
        ...targetFacts({...holder, findings: asTarget(holder.findings, choice.belonging)}, input),
        identity: holder.identity,
        role: 'member',
        belonging: choice.belonging,
        selfGo: mayGoAlone(holder, choice.belonging, request),
      });
    } else if (!choice.ticked) {
      kept.push(keptFrom(holder, choice.why, choice.choosable, input));
    }
  }
  for (const other of diagnosis.others) {
    kept.push(keptFrom(other, other.findings.includes('unreaped') ? 'unreaped' : 'name-only', false, input));
  }
  kept.push(...typedInVain(input));
  const servers = serversOf(holders, input).filter((server) => input.only?.has(server.identity.pid) ?? true);
  const family = withFamilies(
    ordered([...servers, ...holders], processTable(diagnosis.snapshot)),
    diagnosis,
    input.earlier,
  );
  const targets = withWriting(family, input.writing, diagnosis);
  const serverPids = new Set(servers.map((server) => server.identity.pid));

  return ok({
    runId: input.runId,
    version: input.version,
    host: request.host,
    machine: diagnosis.snapshot.machine,
    madeAtMs: input.nowMs,
    targets,
    kept: withWritingKept(
      kept.filter((one) => !serverPids.has(one.pid)),
      input.writing,
    ),
    gpus: expectations(diagnosis, targets, requested.value),
    stops: [],
    noStops: [],
    owned: null,
    writing: input.writing,
    ...gracesFor(targets, request, context.policy),
    memberDelayMs: context.policy.memberDelayMs,
    verifyMs: context.policy.verifyMs,
    stalledMs: context.policy.stalledMs,
  });
}

/**
 * The text whose SHA-256 is the plan digest: what a go covers, and nothing that a second look may change by itself. With its
 * version: the same processes are another plan once somebody has chosen them, of a later look and for other reasons, and
 * whoever saw the card before has not seen that.
 */
export function digestText(plan: Plan): string {
  return JSON.stringify([
    'plan',
    3,
    plan.runId,
    plan.version,
    plan.host,
    [plan.machine.hostKey, plan.machine.bootId, plan.machine.pidNamespace],
    plan.targets.map((target) => [
      target.identity.pid,
      target.identity.startTicks,
      target.identity.uid,
      target.identity.executable,
      target.role,
      target.takesTerm,
      target.heldBy,
    ]),
    plan.gpus.filter((gpu) => gpu.requested).map((gpu) => gpu.gpuUuid),
    plan.graceMs,
    plan.longestGraceMs,
    plan.memberDelayMs,
    plan.stops.map(({kind, id, run, folder, pids, endsInKill, timeoutMs}) => [
      kind,
      id,
      run,
      folder,
      pids,
      endsInKill,
      timeoutMs,
    ]),
  ]);
}

function requestedUuids(diagnosis: Diagnosis, request: ReclaimRequest): Result<ReadonlySet<string>> {
  const {gpus} = diagnosis.snapshot;
  if (request.gpus === null) return ok(new Set(gpus.map((gpu) => gpu.uuid)));
  const uuids = new Set<string>();
  for (const index of request.gpus) {
    const gpu = gpus.find((one) => one.index === index);
    if (gpu === undefined) {
      const present = gpus.flatMap((one) => (one.index === null ? [] : [one.index]));
      return fail({reason: 'gpu-absent', host: request.host, asked: String(index), present});
    }
    uuids.add(gpu.uuid);
  }
  return ok(uuids);
}

/** Typed PIDs that hold no GPU: said, never signalled. */
function typedInVain(input: PlanInput): readonly Kept[] {
  const {diagnosis, request, context} = input;
  const {snapshot} = diagnosis;
  const known = new Set([...diagnosis.holders, ...diagnosis.others].map((one) => one.process.pid));
  return snapshot.processes
    .filter((process) => request.pids.includes(process.pid) && !known.has(process.pid))
    .map((process) => {
      const seen = diagnoseProcess(process, {
        snapshot,
        table: processTable(snapshot),
        dead: [],
        host: context.host,
        policy: context.policy,
      });
      return keptFrom(seen, seen.findings.includes('unreaped') ? 'unreaped' : 'no-holder', false, input);
    });
}

/** Ancestors before descendants; a target without a target above it leads. */
export function ordered(targets: readonly Target[], table: ProcessTable): readonly Target[] {
  const pids = new Set(targets.map((target) => target.identity.pid));
  const depth = (target: Target): number =>
    ancestors(target.identity.pid, table).filter((parent) => pids.has(parent.pid)).length;
  return targets
    .map((target) => ({target, depth: depth(target)}))
    .toSorted((a, b) => a.depth - b.depth || a.target.identity.pid - b.target.identity.pid)
    .map(({target, depth: above}) =>
      target.role === 'server' ? target : {...target, role: above === 0 ? 'leader' : 'member'},
    );
}

/** What belongs to the request is no bystander: it holds under another name, or is the workload that was asked for. */
function asTarget(findings: readonly FindingKind[], belonging: Belonging): readonly FindingKind[] {
  const instead: FindingKind | null =
    belonging.by === 'pid' || belonging.by === 'gpus' ? null : belonging.by === 'user' ? 'workload' : 'renamed';
  return instead === null ? findings : findings.map((kind) => (kind === 'bystander' ? instead : kind));
}

/** Somebody who stays, as the plan shows it. */
export function keptFrom(holder: HolderDiagnosis, why: Kept['why'], choosable: boolean, input: PlanInput): Kept {
  return {
    identity: holder.identity,
    pid: holder.process.pid,
    name: titleOf(holder.process),
    findings: holder.findings,
    evidence: holder.evidence,
    ownership: holder.ownership,
    container: holder.container,
    owners: holder.owners,
    gpuUuids: touchedGpus(holder),
    chargedMiB: holder.chargedMiB,
    ageMs: ageMs(holder.process, input.diagnosis.snapshot),
    why,
    choosable,
  };
}
