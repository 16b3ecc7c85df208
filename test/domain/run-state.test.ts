import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {Outcome} from '../../src/domain/outcome.ts';
import type {Plan} from '../../src/domain/plan.ts';
import type {ReclaimRequest} from '../../src/domain/request.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {runId} from '../../src/domain/run.ts';
import {
  approvalOf,
  attemptsOf,
  doubtfulAttempts,
  firstSnapshot,
  lastSeenOf,
  lastSnapshot,
  outcomeOf,
  planOf,
  requestOf,
} from '../../src/domain/run-state.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';

const anna = {kind: 'os-user', name: 'anna', uid: 1000} as const;
const machine = {hostKey: 'SHA256:k', bootId: 'boot', pidNamespace: '4026531836'};
const requested: RunEvent = {kind: 'requested', atMs: 1, request: {dryRun: false} as ReclaimRequest};
const closed: RunEvent = {kind: 'closed', atMs: 90, outcome: {word: 'reclaimed'} as Outcome};

function run(...events: readonly RunEvent[]): Run {
  return {id: runId('0123456789ab'), host: hostName('gpu-07'), phase: 'looking', version: 1, createdAtMs: 1, events};
}

function planned(digest: string): RunEvent {
  return {kind: 'planned', atMs: 2, plan: {version: 1} as Plan, digest, expiresAtMs: 9};
}

function approved(digest: string): RunEvent {
  return {
    kind: 'approved',
    atMs: 3,
    by: anna,
    digest,
    choice: 'terminate-then-kill',
    breakGlass: false,
    reason: null,
  };
}

function surveyed(takenAtMs: number): RunEvent {
  return {kind: 'surveyed', atMs: takenAtMs, snapshot: {takenAtMs} as Snapshot};
}

function looked(takenAtMs: number | null): RunEvent {
  const snapshot = takenAtMs === null ? null : ({takenAtMs} as Snapshot);
  return {kind: 'looked-again', atMs: 5, snapshot, failure: null};
}

function intended(rung: number, ...pids: readonly number[]): RunEvent {
  const identities = pids.map((pid) => ({pid, startTicks: `${pid}0`, uid: 0, executable: '1:2'}));
  return {kind: 'signal-intended', atMs: 4, rung, identities, signal: 'SIGTERM', machine, notAfterUptimeMs: 500};
}

function answered(rung: number, pid: number, result: 'sent' | 'gone'): RunEvent {
  return {kind: 'signal-result', atMs: 5, rung, pid, signal: 'SIGTERM', result, detail: '', uptimeMs: 400};
}

function seen(pid: number, observation: 'alive' | 'gone'): RunEvent {
  return {kind: 'seen', atMs: 6, pid, observation, uptimeMs: 410};
}

describe('the state of a run', () => {
  it('has the request that it began with', () => {
    expect(requestOf(run(requested, planned('a')))).toEqual({dryRun: false});
  });

  it('says that a run without a request is a bug', () => {
    expect(() => requestOf(run())).toThrow('Internal error');
  });

  it.each<[string, readonly RunEvent[], string | null, boolean]>([
    ['nothing was planned', [requested], null, false],
    ['a plan waits', [requested, planned('a')], 'a', false],
    ['the plan got its go', [requested, planned('a'), approved('a')], 'a', true],
    ['a newer plan outdates the go', [requested, planned('a'), approved('a'), planned('b')], 'b', false],
    ['the newer plan got its own go', [planned('a'), approved('a'), planned('b'), approved('b')], 'b', true],
    ['a go came for a plan that was never shown', [requested, approved('x')], null, false],
  ])('knows plan and go where %s', (_, events, digest, hasGo) => {
    expect(planOf(run(...events))?.digest ?? null).toBe(digest);
    expect(approvalOf(run(...events)) !== null).toBe(hasGo);
  });

  it.each<[string, readonly RunEvent[], readonly (string | null)[], readonly number[]]>([
    ['nothing was sent', [requested], [], []],
    ['all was answered', [intended(0, 7, 8), answered(0, 8, 'gone'), answered(0, 7, 'sent')], ['sent', 'gone'], []],
    ['the link was lost', [intended(0, 7, 8), answered(0, 7, 'sent')], ['sent', null], [8]],
    ['another rung was answered', [intended(0, 7), intended(1, 7), answered(1, 7, 'sent')], [null, 'sent'], [7]],
    ['a second go begins at rung 0', [intended(0, 7), intended(0, 7), answered(0, 7, 'gone')], [null, 'gone'], [7]],
    ['an answer has no intent', [answered(0, 7, 'sent')], [], []],
  ])('pairs intents and answers where %s', (_, events, results, doubtful) => {
    expect(attemptsOf(run(...events)).map((attempt) => attempt.result)).toEqual(results);
    expect(doubtfulAttempts(run(...events)).map((attempt) => attempt.identity.pid)).toEqual(doubtful);
  });

  it('keeps with each attempt until when it may still arrive', () => {
    expect(attemptsOf(run(intended(0, 7)))[0]).toMatchObject({notAfterUptimeMs: 500, machine, uptimeMs: null});
  });

  it('keeps the last sight of each process', () => {
    const last = lastSeenOf(run(seen(7, 'alive'), seen(8, 'alive'), seen(7, 'gone')));
    expect([...last]).toEqual([
      [7, 'gone'],
      [8, 'alive'],
    ]);
  });

  it.each<[string, readonly RunEvent[], number | null, number | null]>([
    ['nobody looked', [requested], null, null],
    ['one look', [surveyed(10)], 10, 10],
    ['looked again', [surveyed(10), looked(20)], 10, 20],
    ['the last look failed', [surveyed(10), looked(20), looked(null)], 10, 20],
  ])('knows the first and the last snapshot where %s', (_, events, first, last) => {
    expect(firstSnapshot(run(...events))?.takenAtMs ?? null).toBe(first);
    expect(lastSnapshot(run(...events))?.takenAtMs ?? null).toBe(last);
  });

  it('keeps an outcome whatever is added later', () => {
    expect(outcomeOf(run(requested))).toBeNull();
    const later: RunEvent = {kind: 'noted', atMs: 99, note: {what: 'stopped', by: 'os:anna'}};
    expect(outcomeOf(run(requested, closed, later))?.word).toBe('reclaimed');
  });
});
