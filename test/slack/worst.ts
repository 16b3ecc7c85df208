/** A host as bad as a card may meet one: 64 GPUs, 500 holders, command lines of 10,000 characters, and names that want to be markup. */
import type {GpuChange, Outcome, OutcomeWord} from '../../src/domain/outcome.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {aDiagnosis, aHost, aProcess, aSnapshot, BO_UID, billed, MACHINE, planFor, uuidOf} from '../doubles/build.ts';
import {ASKER, AT, approved, DIGEST, requested, runOf, UNIT_IS_BACK} from './blocks-runs.ts';

export const GPUS = 64;
export const HOLDERS = 500;

const EVIL = '</x>```<!channel> @here <@U0EVIL> &amp; *b* \u202e\u001b[31m漢字😀 `x` https://evil.example|y ';
export const LONG = EVIL.repeat(Math.ceil(10_000 / EVIL.length)).slice(0, 10_000);
/** As long as the name of anything gets by the rules of its own field. */
export const NAME = EVIL.slice(0, 60);

/** The first few as long as can be, the rest as names are: 500 times 10,000 characters would only take time. */
export function named(at: number): string {
  return at < 3 ? LONG : NAME;
}

const used = Array.from({length: GPUS}, (_, gpu) => (gpu % 3 === 0 ? 140_000 : 120_000 + gpu));

export const SNAPSHOT = aSnapshot(
  Array.from({length: HOLDERS}, (_, at) =>
    billed(
      aProcess({
        pid: 4_000_000 + at,
        comm: EVIL.slice(0, 15),
        words: ['python3', '-m', 'vllm.entrypoints', LONG],
        ...(at % 2 === 0 ? {} : {uid: BO_UID, userName: NAME}),
      }),
      Object.fromEntries(Array.from({length: at % 9 === 0 ? GPUS : 1}, (_, gpu) => [(at + gpu) % GPUS, 200])),
    ),
  ),
  {used},
);
export const DIAGNOSIS = aDiagnosis(SNAPSHOT);
export const PLAN = planFor(SNAPSHOT, {match: 'vllm', includeOthers: true, reason: LONG, requester: ASKER});
export const HOSTS = Array.from({length: 300}, (_, at) =>
  aHost({groups: [NAME], labels: {[NAME]: LONG}, mode: at % 2 === 0 ? 'act' : 'observe'}),
);

const identities = PLAN.targets.map(({identity}) => identity);
const gpus: readonly GpuChange[] = used.map((beforeMiB, index) => ({
  gpuUuid: uuidOf(index),
  index,
  beforeMiB,
  afterMiB: index % 5 === 0 ? null : beforeMiB,
  expectedMiB: 300,
  requested: true,
  heldBy: Array.from({length: 100}, (_, at) => ({pid: 4_000_000 + at, name: named(at + index), chargedMiB: 1_000})),
  unexplainedMiB: index % 2 === 0 ? 90_000 : 0,
  movedTo: [
    {
      pid: 7,
      name: named(index),
      MiB: 9_000,
      fromPids: [1, 2, 3],
      how: 'restarted',
      by: {name: LONG, stopCommand: LONG},
    },
  ],
}));

/** Every word that a run may end with, and as if it were true. */
export const OUTCOMES: Readonly<Record<OutcomeWord, true>> = {
  reclaimed: true,
  partly: true,
  'nothing-freed': true,
  'nothing-to-do': true,
  'stood-down': true,
  'dry-run': true,
  denied: true,
  expired: true,
  cancelled: true,
  interrupted: true,
  failed: true,
  unknown: true,
};

export function outcome(word: OutcomeWord): Outcome {
  return {
    word,
    gpus,
    survivors: PLAN.targets.map(({identity, findings}, at) => ({
      pid: identity.pid,
      name: named(at),
      observation: 'stuck',
      findings,
      why: 'stuck-in-kernel',
      evidence: [{source: 'process', fact: named(at)}],
    })),
    because: {reason: 'host-unreachable', host: PLAN.host, address: LONG, detail: LONG},
    freedAfterMs: 1,
  };
}

const asked: RunEvent = {
  ...requested,
  request: {...requested.request, includeOthers: true, reason: LONG, match: 'vllm'},
};
const seen: RunEvent = {kind: 'surveyed', atMs: AT, snapshot: SNAPSHOT};
const plan: RunEvent = {kind: 'planned', atMs: AT, plan: PLAN, digest: DIGEST, expiresAtMs: AT + 900_000};
const chosen: RunEvent = {...plan, plan: {...PLAN, version: 2}};
const go: RunEvent = {...approved, breakGlass: true, reason: LONG};
const acts: readonly RunEvent[] = [
  {
    kind: 'rechecked',
    atMs: AT,
    snapshot: SNAPSHOT,
    drift: identities.map(({pid}, at) => ({pid, what: 'replaced', detail: named(at)})),
  },
  {
    kind: 'signal-intended',
    atMs: AT,
    rung: 1,
    identities,
    signal: 'SIGKILL',
    machine: MACHINE,
    notAfterUptimeMs: 900_000,
  },
  ...identities.map(
    ({pid}, at): RunEvent => ({
      kind: 'signal-result',
      atMs: AT,
      rung: 1,
      pid,
      signal: 'SIGKILL',
      result: pid % 2 === 0 ? 'sent' : 'failed',
      detail: named(at),
      uptimeMs: 600_000,
    }),
  ),
  {
    kind: 'still-writing',
    atMs: AT,
    files: identities.map(({pid}, at) => ({
      pid,
      writerPid: pid,
      path: `/${named(at)}`,
      what: 'trace',
      MiBPerSecond: 9,
    })),
    unread: [],
    untilMs: AT + 60_000,
  },
  {kind: 'link-lost', atMs: AT, failure: {reason: 'host-unreachable', host: PLAN.host, address: LONG, detail: LONG}},
  ...Array.from(
    {length: 40},
    (_, step): RunEvent => ({
      kind: 'memory',
      atMs: AT,
      uptimeMs: 600_100 + step * 70,
      usedMiB: Object.fromEntries(used.map((MiB, gpu) => [uuidOf(gpu), gpu < step ? 4 : MiB])),
    }),
  ),
  {kind: 'settled', atMs: AT, how: 'timed-out', uptimeMs: 720_000},
  {kind: 'looked-again', atMs: AT, snapshot: SNAPSHOT, failure: null},
];
const end = (word: OutcomeWord): RunEvent => ({
  kind: 'closed',
  atMs: AT + 400_000,
  outcome: outcome(word),
  lookAgainMs: Array.from({length: 10}, (_, at) => (at + 1) * 60_000),
});
const back: RunEvent = {
  kind: 'noted',
  atMs: AT + 500_000,
  note: {
    what: 'compared',
    afterMs: 60_000,
    last: false,
    late: true,
    returns: Array.from({length: HOLDERS}, (_, nth) => ({
      ...UNIT_IS_BACK,
      name: named(nth),
      supervisor: {kind: 'unit', name: named(nth), pid: null, stopCommand: named(nth)},
      pids: Array.from({length: HOLDERS}, (_, at) => at * 3),
      gpus: Array.from({length: GPUS}, (_, at) => at),
    })),
    starts: [],
    unseenGpus: Array.from({length: GPUS}, (_, at) => at),
    fullSight: false,
  },
};

export const LOOKING = runOf('looking', asked, seen);
export const WAITING = runOf('awaiting-go', asked, seen, plan);
export const CHOSEN = runOf('awaiting-go', asked, seen, plan, chosen);
export const EXECUTING = runOf('executing', asked, seen, plan, go, ...acts);

/** Over, by each word, and come back since. */
export function closed(word: OutcomeWord): Run {
  return runOf('closed', asked, seen, plan, go, ...acts, end(word), back);
}

export const EVERY_RUN: readonly Run[] = [
  LOOKING,
  WAITING,
  CHOSEN,
  EXECUTING,
  ...(Object.keys(OUTCOMES) as OutcomeWord[]).map(closed),
  runOf('closed', asked, seen, plan, {kind: 'denied', atMs: AT, by: approved.by, reason: LONG}, end('denied')),
  runOf('closed', asked, seen, plan, {kind: 'expired', atMs: AT}, end('expired')),
  runOf('closed', asked, seen, plan, {kind: 'cancelled', atMs: AT, by: 'slack:U0ANNA', reason: LONG}, end('cancelled')),
  runOf(
    'closed',
    asked,
    {kind: 'failed', atMs: AT, failure: {reason: 'host-hung-up', host: PLAN.host, detail: LONG}},
    end('failed'),
  ),
];
