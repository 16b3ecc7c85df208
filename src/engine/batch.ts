/** One rung of the ladder as a signalling command. */
import type {Move} from '../domain/escalation.ts';
import {expectations} from '../domain/expect-memory.ts';
import type {ExpectedMemory, SignalBatch, StopOrder} from '../domain/order.ts';
import {type Person, personId} from '../domain/person.ts';
import type {Plan, Target} from '../domain/plan.ts';
import type {Policy} from '../domain/policy.ts';
import type {Run} from '../domain/run.ts';
import type {Stop} from '../domain/stop-owner.ts';
import type {Ladder} from './ladder.ts';
import type {Look} from './ports.ts';

export interface BatchInput {
  readonly run: Run;
  readonly move: Extract<Move, {readonly watchMs: number}>;
  readonly approved: {readonly plan: Plan; readonly targets: readonly Target[]; readonly look: Look};
  readonly ladder: Ladder;
  /** Targets whose files grow: waited for, whether or not they could take SIGTERM. */
  readonly writers: ReadonlySet<number>;
  readonly policy: Policy;
  /** Monotonic ms at the fresh look, and now: how far the host's uptime has gone on since. */
  readonly lookedAtTicks: number;
  readonly nowTicks: number;
  readonly approvedBy: Person;
}

export function batchFor(input: BatchInput): SignalBatch {
  const {run, move, approved, ladder, policy} = input;
  const left = ladder.left();
  const stop = move.do === 'stop-owner' ? ladder.stops.at(move.at) : null;
  const byPid = new Map(left.map((target) => [target.identity.pid, target]));
  const signal = move.do === 'signal' ? move.signal : 'SIGTERM';
  const ordered = move.do === 'signal' ? move.pids.flatMap((pid) => byPid.get(pid) ?? []) : [];
  // Those that cannot take SIGTERM are not waited for while only SIGTERM is out.
  const waitedFor =
    stop !== null
      ? left.filter((target) => stop.pids.includes(target.identity.pid))
      : move.do === 'signal' && move.signal === 'SIGKILL'
        ? left
        : left.filter((target) => target.takesTerm || input.writers.has(target.identity.pid));
  // Memory is worth watching once nobody is left to be signalled.
  const proves = move.last || waitedFor.length === left.length;
  return {
    runId: run.id,
    requester: word(requesterOf(run)),
    approver: word(personId(input.approvedBy)),
    machine: approved.plan.machine,
    notAfterUptimeMs: Math.round(
      approved.look.snapshot.uptimeMs + (input.nowTicks - input.lookedAtTicks) + policy.lateAfterMs,
    ),
    stop: stop === null ? null : stopOrder(stop, waitedFor, approved.plan),
    orders: ordered.map((target) => ({identity: target.identity, signal, mustHold: target.heldBy})),
    watch: waitedFor.map((target) => target.identity),
    watchMs: Math.round(move.watchMs),
    final: move.last,
    expected: proves ? expectedMemory(approved) : [],
    verifyMs: approved.plan.verifyMs,
    stalledMs: approved.plan.stalledMs,
  };
}

/** Nobody but the targets that are left may stand in what is stopped. */
function stopOrder(stop: Stop, members: readonly Target[], {graceMs}: Plan): StopOrder {
  const {kind, id, run, folder, timeoutMs} = stop;
  const approved = members.map(({identity, heldBy}) => ({identity, mustHold: heldBy}));
  return {kind, id, run, folder, timeoutMs, graceMs, members: approved};
}

/** Only GPUs that a target uses are watched: a neighbour's coming and going is no part of this run. */
function expectedMemory(approved: BatchInput['approved']): readonly ExpectedMemory[] {
  const touched = new Set(approved.targets.flatMap((target) => target.gpuUuids));
  const requested = new Set(approved.plan.gpus.filter((gpu) => gpu.requested).map((gpu) => gpu.gpuUuid));
  return expectations(approved.look.diagnosis, approved.targets, requested)
    .filter((gpu) => touched.has(gpu.gpuUuid))
    .map((gpu) => ({gpuUuid: gpu.gpuUuid, atMostMiB: gpu.afterAtMostMiB}));
}

/** The host's journal line is made of words: everything else becomes a dot. */
function word(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9:._-]/g, '.').slice(0, 64) || 'unknown';
}

function requesterOf(run: Run): string {
  const first = run.events[0];
  return first?.kind === 'requested' ? personId(first.request.requester) : 'unknown';
}
