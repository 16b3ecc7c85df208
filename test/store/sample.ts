/** Values for the tests of this room, and for the second programs that they start: whole, but as small as the types allow. */
import {hostName} from '../../src/domain/host.ts';
import type {Plan} from '../../src/domain/plan.ts';
import type {LeaseOwner, Run, RunEvent, RunId} from '../../src/domain/run.ts';
import {runId} from '../../src/domain/run.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import type {RunStore} from '../../src/engine/ports.ts';

export const ANNA = {kind: 'os-user', name: 'anna', uid: 1000} as const;
export const HOST = hostName('gpu-07');
export const MACHINE = {hostKey: 'SHA256:k', bootId: 'boot-1', pidNamespace: '4026531836'};
export const OWNER: LeaseOwner = {kind: 'terminal', pid: 4711, startTicks: '99', bootId: 'boot-0', by: 'os:anna'};
export const RUN = runId('0123456789ab');

export function requested(host: string = HOST): RunEvent {
  return {
    kind: 'requested',
    atMs: 1,
    request: {
      host: hostName(host),
      gpus: null,
      match: 'vllm',
      user: null,
      pids: [],
      includeOthers: false,
      graceMs: null,
      dryRun: false,
      reason: null,
      requester: ANNA,
    },
  };
}

export function snapshot(takenAtMs: number): Snapshot {
  return {
    host: HOST,
    machine: MACHINE,
    takenAtMs,
    uptimeMs: 5_000,
    clockTicksPerSecond: 100,
    kernel: '6.1',
    mountNamespace: null,
    sight: {
      full: true,
      euid: 0,
      hidepid: '0',
      unreadableFdFolders: 0,
      foreignPidNamespace: false,
      stuckAt: [],
    },
    smi: {state: 'answered', exitCode: 0, note: ''},
    gpus: [],
    gpuFaults: [],
    charges: [],
    holdings: [],
    processes: [],
    matches: [],
    ownPids: [],
    sections: [],
    deep: null,
  };
}

export function planned(digest: string, expiresAtMs = 1_000): RunEvent {
  const plan: Plan = {
    runId: RUN,
    version: 1,
    host: HOST,
    machine: MACHINE,
    madeAtMs: 2,
    targets: [],
    kept: [],
    gpus: [],
    stops: [],
    noStops: [],
    owned: null,
    writing: {files: [], unread: []},
    graceMs: 30_000,
    longestGraceMs: 600_000,
    memberDelayMs: 5_000,
    verifyMs: 120_000,
    stalledMs: 10_000,
  };
  return {kind: 'planned', atMs: 2, plan, digest, expiresAtMs};
}

/** An event that carries a text of the test's choice. */
export function noted(text: string): RunEvent {
  return {kind: 'noted', atMs: 3, note: {what: 'stopped', by: text}};
}

export async function openRun(store: RunStore, id: RunId = RUN, host: string = HOST): Promise<Run> {
  const run = await store.open({
    id,
    host: hostName(host),
    atMs: 1,
    requester: 'os:anna',
    event: requested(host),
    owner: OWNER,
  });
  if (!run.ok) throw new Error(`busy with ${run.busy.id}`);
  return run.run;
}

/** A run whose plan waits for a go until 1,000 ms. */
export async function awaitingGo(store: RunStore, digest = 'd1'): Promise<Run> {
  const run = await openRun(store);
  const asked = await store.append({
    runId: run.id,
    expectedVersion: run.version,
    phase: 'awaiting-go',
    events: [planned(digest)],
    outbox: [],
    openApproval: {digest, expiresAtMs: 1_000},
    releaseLease: true,
  });
  if (!asked.ok) throw new Error(asked.conflict);
  return asked.run;
}
