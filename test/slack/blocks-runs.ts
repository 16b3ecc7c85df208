/** Runs in every phase and with every outcome, for cards and threads. Slack ids stand for people. */
import type {Note} from '../../src/domain/later-look.ts';
import type {GpuChange, Outcome, OutcomeWord} from '../../src/domain/outcome.ts';
import type {Person} from '../../src/domain/person.ts';
import type {Kept, Plan} from '../../src/domain/plan.ts';
import type {Return} from '../../src/domain/return.ts';
import type {Run, RunEvent, RunPhase} from '../../src/domain/run.ts';
import type {CardContext} from '../../src/slack/blocks/root-card.ts';
import {aPlan, aRequest, aRun, aSnapshot, aTarget, MACHINE, uuidOf} from '../doubles/build.ts';

export const AT = 1_700_000_000_000;
export const DIGEST = '9f2c1ab0'.repeat(8);
export const ASKER: Person = {kind: 'slack-user', id: 'U0ANNA', team: 'T1', groups: []};
export const GOER: Person = {kind: 'slack-user', id: 'U0BOB', team: 'T1', groups: ['S0ONCALL']};
export const CARD: CardContext = {
  nowMs: AT + 60_000,
  command: '/gpu reclaim gpu-07 match=vllm',
  approvers: ['<!subteam^S0ONCALL>', '<@U0BOB>'],
  progress: null,
};

export type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, {kind: K}>;

export const requested: EventOf<'requested'> = {
  kind: 'requested',
  atMs: AT,
  request: aRequest({match: 'vllm', reason: 'prod at 9', requester: ASKER}),
};
export const surveyed: EventOf<'surveyed'> = {kind: 'surveyed', atMs: AT + 1_000, snapshot: aSnapshot([])};

export function planned(plan: Plan): EventOf<'planned'> {
  return {kind: 'planned', atMs: AT + 2_000, plan, digest: DIGEST, expiresAtMs: AT + 900_000};
}

export const approved: EventOf<'approved'> = {
  kind: 'approved',
  atMs: AT + 70_000,
  by: GOER,
  digest: DIGEST,
  choice: 'terminate-then-kill',
  breakGlass: false,
  reason: null,
};

export function runOf(phase: RunPhase, ...events: readonly RunEvent[]): Run {
  return {...aRun(...events), phase, createdAtMs: AT};
}

/** The design's own example: one ghost over four GPUs, one person's work, two daemons. */
export function ghostPlan(): Plan {
  return aPlan({
    madeAtMs: AT + 2_000,
    targets: [
      aTarget({
        pid: 244_199,
        name: 'python3',
        findings: ['inheritor', 'deaf'],
        evidence: [
          {source: 'charges', fact: 'billed to dead PID 244180 on GPU 0-3'},
          {source: 'open-files', fact: '83 device files open'},
        ],
        belonging: {by: 'ghost', deadPids: [244_180, 244_181]},
        ownership: {person: null, uid: 0, by: 'uid'},
        gpuUuids: [0, 1, 2, 3].map(uuidOf),
        chargedMiB: 387_376,
        takesTerm: false,
        selfGo: true,
        ageMs: 11_520_000,
      }),
    ],
    kept: [
      aKept({pid: 250_331, name: 'train.py', gpuUuids: [uuidOf(6)], chargedMiB: 21_630, ageMs: 3 * 86_400_000}),
      aKept({
        pid: 1_200,
        name: 'nvidia-persistenced',
        why: 'protected',
        choosable: false,
        chargedMiB: null,
        gpuUuids: [],
      }),
    ],
    gpus: Array.from({length: 8}, (_, index) => ({
      gpuUuid: uuidOf(index),
      index,
      requested: true,
      beforeMiB: index < 4 ? 96_844 : index === 6 ? 21_630 : 4,
      totalMiB: 143_771,
      likelyAfterMiB: index === 6 ? 21_630 : 4,
      afterAtMostMiB: index === 6 ? 21_700 : 300,
    })),
  });
}

export function aKept(change: Partial<Kept> & {readonly pid: number}): Kept {
  const {pid, ...rest} = change;
  return {
    identity: {pid, startTicks: String(pid * 10), uid: 1001, executable: '2049:20'},
    pid,
    name: 'train.py',
    findings: ['bystander'],
    evidence: [],
    ownership: {person: 'bo', uid: 1001, by: 'uid'},
    container: null,
    owners: [],
    gpuUuids: [uuidOf(6)],
    chargedMiB: 21_630,
    ageMs: 60_000,
    why: 'in-use',
    choosable: true,
    ...rest,
  };
}

export function anOutcome(word: OutcomeWord, change: Partial<Outcome> = {}): Outcome {
  return {word, gpus: [], survivors: [], because: null, freedAfterMs: null, ...change};
}

export function gpuChanges(afterMiB: readonly (number | null)[]): readonly GpuChange[] {
  return afterMiB.map((after, index) => ({
    gpuUuid: uuidOf(index),
    index,
    beforeMiB: index < 4 ? 96_844 : index === 6 ? 21_630 : 4,
    afterMiB: after,
    expectedMiB: index === 6 ? 21_700 : 300,
    requested: true,
    heldBy: index === 6 ? [{pid: 250_331, name: 'train.py', chargedMiB: 21_630}] : [],
    unexplainedMiB: 0,
  }));
}

export function closedAs(word: OutcomeWord, change: Partial<Outcome> = {}): EventOf<'closed'> {
  return {kind: 'closed', atMs: AT + 80_000, outcome: anOutcome(word, change)};
}

/** The signals of the ghost's go: one kill -9, sent and seen gone. */
export function killed(): readonly RunEvent[] {
  const [target] = ghostPlan().targets;
  if (target === undefined) throw new Error('the ghost plan has a target');
  return [
    {kind: 'rechecked', atMs: AT + 71_000, snapshot: aSnapshot([]), drift: []},
    {
      kind: 'signal-intended',
      atMs: AT + 71_500,
      rung: 1,
      identities: [target.identity],
      signal: 'SIGKILL',
      machine: MACHINE,
      notAfterUptimeMs: 900_000,
    },
    {
      kind: 'signal-result',
      atMs: AT + 72_000,
      rung: 1,
      pid: 244_199,
      signal: 'SIGKILL',
      result: 'sent',
      detail: '',
      uptimeMs: 572_000,
    },
    {kind: 'seen', atMs: AT + 72_100, pid: 244_199, observation: 'gone', uptimeMs: 572_092},
  ];
}

type Compared = Extract<Note, {what: 'compared'}>;

/** A look ten minutes after the close that found nothing, unless said otherwise. */
export function laterNote(change: Partial<Compared> = {}, atMs = AT + 680_000): EventOf<'noted'> {
  const note: Note = {
    what: 'compared',
    afterMs: 600_000,
    last: true,
    late: false,
    returns: [],
    starts: [],
    unseenGpus: [],
    fullSight: true,
    ...change,
  };
  return {kind: 'noted', atMs, note};
}

export const UNIT_IS_BACK: Return = {
  by: 'restart',
  known: false,
  supervisor: {kind: 'unit', name: 'vllm@2.service', pid: null, stopCommand: 'systemctl stop vllm@2.service'},
  pids: [812, 813],
  name: 'vllm.entrypoints',
  gpus: [0, 1],
  MiB: 193_688,
};

/** The design's example, over: 7 of 8 free. */
export function reclaimedRun(): Run {
  return runOf(
    'closed',
    requested,
    surveyed,
    planned(ghostPlan()),
    approved,
    ...killed(),
    closedAs('reclaimed', {gpus: gpuChanges([4, 4, 4, 4, 4, 4, 21_630, 4]), freedAfterMs: 412}),
  );
}
