/** Every card and answer, from data that wants to be something else, and from more of it than fits. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {type HostName, hostName} from '../../src/domain/host.ts';
import type {OutcomeWord} from '../../src/domain/outcome.ts';
import type {Plan} from '../../src/domain/plan.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {failureMessage, sentence} from '../../src/slack/blocks/answers.ts';
import {helpMessage} from '../../src/slack/blocks/help.ts';
import {diagnosisMessage, hostsMessage, statusMessage} from '../../src/slack/blocks/host-answers.ts';
import {rootCard} from '../../src/slack/blocks/root-card.ts';
import {runMessage, runsMessage} from '../../src/slack/blocks/run-answers.ts';
import {breakGlassModal, leaveModal} from '../../src/slack/blocks/small-modals.ts';
import {threadReplies} from '../../src/slack/blocks/thread.ts';
import {checkView} from '../../src/slack/check-blocks.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aGpu,
  aHost,
  aPolicy,
  aProcess,
  aSnapshot,
  aTarget,
  billed,
  holds,
  uuidOf,
} from '../doubles/build.ts';
import {codeLinesIn, expectSafe, hostile} from './blocks-hostile-text.ts';
import {
  AT,
  aKept,
  anOutcome,
  approved,
  CARD,
  GOER,
  ghostPlan,
  gpuChanges,
  killed,
  planned,
  requested,
  runOf,
  surveyed,
} from './blocks-runs.ts';

const WORDS: readonly OutcomeWord[] = [
  ...(['reclaimed', 'partly', 'nothing-freed', 'nothing-to-do', 'stood-down', 'dry-run'] as const),
  ...(['denied', 'expired', 'cancelled', 'interrupted', 'failed', 'unknown'] as const),
];

/** A run with this text wherever a host or a person could have put some. */
const LOOKED = {afterMs: 60_000, last: true, late: true};

function poisoned(text: string, word: OutcomeWord | null): Run {
  const plan: Plan = {
    ...ghostPlan(),
    host: hostName(text),
    targets: [
      aTarget({
        pid: 7,
        name: text,
        evidence: [{source: 'process', fact: text}],
        belonging: {by: 'named', literal: text},
        ownership: {person: text, uid: 7, by: 'uid'},
        container: {kind: 'docker', name: text, stopCommand: text},
        takesTerm: false,
      }),
      aTarget({pid: 8, name: `${text}1`, belonging: {by: 'parents', ancestorPid: 7, ancestorName: text}}),
      aTarget({pid: 9, name: `${text}2`, belonging: {by: 'parents', ancestorPid: 7, ancestorName: text}}),
    ],
    kept: [
      aKept({pid: 10, name: text, container: {kind: 'unit', name: text, stopCommand: text}}),
      aKept({pid: 11, name: text, ownership: {person: text, uid: 3, by: 'uid'}, choosable: false, why: 'protected'}),
    ],
  };
  const events: readonly RunEvent[] = [
    {...requested, request: {...requested.request, match: text, user: text, reason: text}},
    surveyed,
    planned(plan),
    {...planned({...plan, version: 2})},
    {...approved, breakGlass: true, reason: text},
    {kind: 'rechecked', atMs: AT, snapshot: aSnapshot([]), drift: [{pid: 7, what: 'replaced', detail: text}]},
    ...killed()
      .slice(1)
      .map((event) => (event.kind === 'signal-result' ? {...event, result: 'failed' as const, detail: text} : event)),
    {
      kind: 'still-writing',
      atMs: AT,
      files: [{pid: 500, writerPid: 501, path: `/${text}.pt`, what: 'checkpoint', MiBPerSecond: 38}],
      unread: [{pid: 500, path: `/${text}`, why: 'no-answer'}],
      untilMs: AT,
    },
    {
      kind: 'link-lost',
      atMs: AT,
      failure: {reason: 'host-unreachable', host: hostName('gpu-07'), address: text, detail: text},
    },
    {kind: 'cancelled', atMs: AT, by: `os:${text}`, reason: text},
    {kind: 'denied', atMs: AT, by: GOER, reason: text},
  ];
  const host = hostName(text);
  if (word === null) return {...runOf('executing', ...events), host};
  const survivors = [{pid: 7, name: text, observation: 'stuck', findings: [], why: 'stuck-in-kernel'}] as const;
  const gpus = gpuChanges([4, 4, null, 4, 4, 4, 21_630, 4]).map((gpu) => ({
    ...gpu,
    heldBy: [{pid: 7, name: text, chargedMiB: 1}],
  }));
  const because = {reason: 'not-an-approver', person: `os:${text}`, approvers: [`os ${text}`]} as const;
  const closed = runOf(
    'closed',
    ...events,
    {kind: 'closed', atMs: AT, outcome: anOutcome(word, {gpus, survivors, because, freedAfterMs: 3})},
    {kind: 'noted', atMs: AT, note: {what: 'stopped', by: `os:${text}`}},
    {kind: 'noted', atMs: AT, note: {...LOOKED, what: 'no-look', failure: because}},
    {
      kind: 'noted',
      atMs: AT,
      note: {
        ...LOOKED,
        what: 'compared',
        returns: [
          {by: 'ghost', known: false, pid: 7, startTicks: '1', name: text, gpus: [0], MiB: 3},
          {
            by: 'restart',
            known: false,
            supervisor: {kind: 'unit', name: text, pid: null, stopCommand: text},
            pids: [8],
            name: text,
            gpus: [],
            MiB: null,
          },
        ],
        starts: [
          {pid: 9, startTicks: '2', name: text, ownership: {person: text, uid: 1, by: 'uid'}, gpus: [1], MiB: 4},
        ],
        unseenGpus: [null],
        fullSight: false,
      },
    },
  );
  return {...closed, host};
}

describe('cards of a run that is built from hostile text', () => {
  it('are taken by Slack and hold no markup but ours, in every phase and with every outcome', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(null, ...WORDS), (text, word) => {
        const run = poisoned(text, word);
        const card = {
          ...CARD,
          command: text,
          approvers: [...CARD.approvers, `no id ${text}`],
          progress: {line: text, nextUpdateByMs: AT},
        };
        for (const phase of [run.phase, 'looking', 'awaiting-go'] as const) expectSafe(rootCard({...run, phase}, card));
        for (const event of run.events) for (const reply of threadReplies(run, event, card)) expectSafe(reply);
        expectSafe(runMessage(run));
        expectSafe(runsMessage([run, run]));
      }),
      {numRuns: 40},
    );
  });
});

describe('answers that are built from hostile text', () => {
  it('are taken by Slack and hold no markup but ours', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const diagnosis = aDiagnosis(
          aSnapshot(
            [
              billed(aProcess({pid: 500, comm: text, words: [text], userName: text, executable: null}), {0: 4_000}),
              aProcess({pid: 501, words: ['vllm', text]}),
            ],
            {used: [4_004, 4], gpuFaults: [text], smi: {state: 'failed', exitCode: 9, note: text}},
          ),
        );
        const host = aHost({name: hostName(text), groups: [text], labels: {[text]: text}});
        expectSafe(diagnosisMessage(diagnosis));
        expectSafe(
          statusMessage([{name: hostName(text), look: {ok: true, value: {snapshot: diagnosis.snapshot, diagnosis}}}]),
        );
        const lost = {
          ok: false,
          failure: {reason: 'host-unreachable', host: hostName(text), address: text, detail: text},
        } as const;
        expectSafe(
          statusMessage([
            {name: hostName(text), look: lost},
            {name: hostName('b'), look: lost},
          ]),
        );
        expectSafe(hostsMessage([host]));
        expectSafe(sentence(text));
        expectSafe(failureMessage({reason: 'verb-unknown', verb: text, nearest: [text]}));
        expectSafe(
          failureMessage({reason: 'host-busy', host: hostName(text), runId: runOf('looking').id, by: `os:${text}`}),
        );
        expectSafe(
          helpMessage(
            {
              command: text,
              hosts: [host],
              policy: aPolicy(),
              approvers: [`no id ${text}`],
              isApprover: true,
              place: 'here',
              channels: [text],
            },
            null,
          ),
        );
        expect(checkView(breakGlassModal(text, 'm'))).toEqual([]);
        expect(checkView(leaveModal(text, 'm'))).toEqual([]);
      }),
      {numRuns: 40},
    );
  });
});

describe('64 GPUs, 500 holders and titles of 10,000 characters', () => {
  const GPUS = 64;
  const HOLDERS = 500;
  const longName = (index: number) => `${'<&`'.repeat(3_333)}${index}`;

  function crowdedPlan(): Plan {
    const gpu = (index: number) => `GPU-${String(index).padStart(8, '0')}`;
    return {
      ...ghostPlan(),
      targets: Array.from({length: HOLDERS / 2}, (_, index) =>
        aTarget({
          pid: 1_000 + index,
          name: index % 2 === 0 ? `${longName(index)}x` : longName(index),
          gpuUuids: [gpu(index % GPUS)],
          chargedMiB: 100,
          evidence: [{source: 'process', fact: longName(index)}],
        }),
      ),
      kept: Array.from({length: HOLDERS / 2}, (_, index) =>
        aKept({
          pid: 5_000 + index,
          name: longName(index),
          gpuUuids: [gpu(index % GPUS)],
          chargedMiB: 10,
          choosable: index % 2 === 0,
        }),
      ),
      gpus: Array.from({length: GPUS}, (_, index) => ({
        gpuUuid: gpu(index),
        index,
        requested: true,
        beforeMiB: 400,
        totalMiB: 143_771,
        likelyAfterMiB: 40,
        afterAtMostMiB: 300,
      })),
    };
  }

  const plan = crowdedPlan();
  const waiting = runOf('awaiting-go', requested, surveyed, planned(plan));

  it('make a card that Slack takes, with all buttons, and with what is left out counted and summed', () => {
    const card = rootCard(waiting, CARD);
    expectSafe(card);
    expect(card.blocks.filter((block) => block.type === 'actions')).toHaveLength(1);
    expect(card.text).toMatch(/☑ … \d+ more, [\d,]+ MiB/);
    expect(card.text).toMatch(/☐ … \d+ more, [\d,]+ MiB/);
    expect(card.text).toMatch(/🔒 … \d+ more/);
    expect(card.text).toMatch(/After: \d+ of 64 free/);
  });

  it('leave out and show as many targets as there are', () => {
    const {text} = rootCard(waiting, CARD);
    const [, left, MiB] = /☑ … (\d+) more, ([\d,]+) MiB/.exec(text) ?? [];
    const shown = (text.match(/^☑ PID \d+ /gm) ?? []).length;
    const grouped = [...text.matchAll(/^☑ PID (\d+)× /gm)].reduce((sum, match) => sum + Number(match[1]), 0);
    expect(shown + grouped + Number(left)).toBe(HOLDERS / 2);
    expect(MiB?.replaceAll(',', '')).toBe(String(Number(left) * 100));
  });

  it('make a thread that Slack takes, with each GPU in it', () => {
    const [reply] = threadReplies(waiting, planned(plan), CARD);
    if (reply === undefined) throw new Error('a plan is news');
    expectSafe(reply);
    for (let index = 0; index < GPUS; index += 1) expect(reply.text).toMatch(new RegExp(`^ ${index} +400 /`, 'm'));
    expect(reply.text).toMatch(/… \d+ more, [\d,]+ MiB/);
  });

  it('make a report that Slack takes, whatever survived', () => {
    const gpus = plan.gpus.map((gpu) => ({
      ...gpu,
      afterMiB: 400,
      expectedMiB: 300,
      unexplainedMiB: 0,
      heldBy: [{pid: 1_000, name: longName(1), chargedMiB: 100}],
    }));
    const survivors = plan.targets.map(({identity, name}) => ({
      pid: identity.pid,
      name,
      observation: 'alive' as const,
      findings: [],
      why: 'not-permitted' as const,
    }));
    const closed = {kind: 'closed', atMs: AT, outcome: anOutcome('nothing-freed', {gpus, survivors})} as const;
    const run = runOf('closed', requested, surveyed, planned(plan), approved, ...killed(), closed);
    const [reply] = threadReplies(run, closed);
    if (reply === undefined) throw new Error('an outcome is news');
    expectSafe(reply);
    expect(reply.text).toMatch(/… and 245 more, PID .* and \d+ more: the act account may not signal it/);
    expect(reply.text).toContain('GPUs free now: 0 of 64');
    expectSafe(rootCard(run, CARD));
    expectSafe(runMessage(run));
  });

  it('make answers that Slack takes, from a look and from 200 hosts', () => {
    const seen = Array.from({length: HOLDERS}, (_, index) =>
      index % 3 === 0
        ? holds(aProcess({pid: 1_000 + index, words: [longName(index)]}), [index % 8])
        : billed(aProcess({pid: 1_000 + index, words: [longName(index)]}), {[index % 8]: 50}),
    );
    const gpus = Array.from({length: GPUS}, (_, index) => ({
      ...aGpu(index, 4_000),
      uuid: index < 8 ? uuidOf(index) : `GPU-${index}`,
    }));
    const diagnosis = aDiagnosis(aSnapshot(seen, {gpus, charges: [aDeadCharge(9, 1, 500)]}));
    const message = diagnosisMessage(diagnosis);
    expectSafe(message);
    expect(message.blocks.filter((block) => block.type === 'actions')).toHaveLength(1);
    expect(message.text).toMatch(/… \d+ more, [\d,]+ MiB/);
    const look = {ok: true, value: {snapshot: diagnosis.snapshot, diagnosis}} as const;
    expectSafe(statusMessage([{name: hostName('gpu-07'), look}]));
    const names: readonly HostName[] = Array.from({length: 200}, (_, index) => hostName(`${longName(index)}`));
    const fleet = statusMessage(names.map((name) => ({name, look})));
    expectSafe(fleet);
    expect(fleet.text).toMatch(/… \d+ more · \d+ dirty · [\d,]+ · [\d,]+ · \d+ dirty/);
    expectSafe(hostsMessage(names.map((name) => aHost({name}))));
  });

  it('keep monospace lines of a plan within 42 columns', () => {
    const [reply] = threadReplies(waiting, planned(plan), CARD);
    const lines = [...codeLinesIn(rootCard(waiting, CARD)), ...(reply === undefined ? [] : codeLinesIn(reply))];
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.filter((line) => [...line].length > 42)).toEqual([]);
  });
});
