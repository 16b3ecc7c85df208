/** Every card that a run can have, by name: what its golden texts, its limits and a look at the page are made from. */
import type {Run, RunEvent} from '../../src/domain/run.ts';
import type {Message} from '../../src/slack/blocks/message.ts';
import {type CardContext, rootCard} from '../../src/slack/blocks/root-card.ts';
import {threadReplies} from '../../src/slack/blocks/thread.ts';
import {aPlan, aSnapshot, aTarget, MACHINE, uuidOf} from '../doubles/build.ts';
import {
  AT,
  aKept,
  approved,
  CARD,
  closedAs,
  GOER,
  ghostPlan,
  gpuChanges,
  killed,
  laterNote,
  planned,
  reclaimedRun,
  requested,
  runOf,
  surveyed,
  UNIT_IS_BACK,
} from './blocks-runs.ts';

export interface NamedCard {
  readonly name: string;
  readonly run: Run;
  readonly card: CardContext;
}

/** A vLLM server with eight workers over eight GPUs, and a job of bo's on the last of them. */
export function serverPlan() {
  const pids = [4_000, 4_011, 4_012, 4_013, 4_014, 4_015, 4_016, 4_017, 4_018];
  return aPlan({
    madeAtMs: AT + 2_000,
    targets: pids.map((pid, at) =>
      aTarget({
        pid,
        name: at === 0 ? 'vllm serve' : `VLLM::Worker_TP${at - 1}`,
        role: at === 0 ? 'server' : 'member',
        heldBy: at === 0 ? 'nothing' : 'paths',
        family: {framework: 'vLLM', rootPid: 4_000},
        gpuUuids: at === 0 ? [] : [uuidOf(at - 1)],
        chargedMiB: at === 0 ? null : 96_844,
        ageMs: 11_520_000,
      }),
    ),
    kept: [aKept({pid: 250_331, name: 'train.py', gpuUuids: [uuidOf(7)], chargedMiB: 21_630})],
    gpus: Array.from({length: 8}, (_, index) => ({
      gpuUuid: uuidOf(index),
      index,
      requested: true,
      beforeMiB: index === 7 ? 118_478 : 96_848,
      totalMiB: 143_771,
      likelyAfterMiB: index === 7 ? 21_634 : 4,
      afterAtMostMiB: index === 7 ? 21_930 : 300,
    })),
  });
}

const waiting = runOf('awaiting-go', requested, surveyed, planned(ghostPlan()));
const server = runOf('awaiting-go', requested, surveyed, planned(serverPlan()));
const [recheck, intent, result, seen] = killed() as [RunEvent, RunEvent, RunEvent, RunEvent];
const lost: RunEvent = {
  kind: 'link-lost',
  atMs: AT + 73_000,
  failure: {reason: 'link-lost', host: waiting.host, mayHaveActed: true},
};
const memory = (used: number, uptimeMs: number): RunEvent => ({
  kind: 'memory',
  atMs: AT + 73_000,
  uptimeMs,
  usedMiB: Object.fromEntries(ghostPlan().gpus.map((gpu) => [gpu.gpuUuid, used])),
});
const termed: RunEvent = {
  kind: 'signal-intended',
  atMs: AT + 71_500,
  rung: 1,
  identities: serverPlan()
    .targets.slice(0, 1)
    .map(({identity}) => identity),
  signal: 'SIGTERM',
  machine: MACHINE,
  notAfterUptimeMs: 900_000,
};
const writing: RunEvent = {
  kind: 'still-writing',
  atMs: AT + 100_000,
  files: [{pid: 4_012, writerPid: 4_012, path: '/data/t.json.gz', what: 'trace', MiBPerSecond: 38}],
  unread: [],
  untilMs: AT + 160_000,
};
const drifted: RunEvent = {
  kind: 'rechecked',
  atMs: AT + 71_000,
  snapshot: aSnapshot([]),
  drift: [
    {pid: 244_199, what: 'replaced', detail: 'start ticks'},
    {pid: 250_400, what: 'new-holder', detail: 'python3'},
  ],
};
const gpus = gpuChanges([96_844, 4, 4, null, 4, 4, 21_630, 4]);
const stuck = [{pid: 244_199, name: 'python3', observation: 'stuck', findings: [], why: 'stuck-in-kernel'}] as const;
const overridden = {
  ...requested,
  request: {
    ...requested.request,
    override: {
      why: 'prod is down',
      holds: [
        {id: 'c0a1b2', kind: 'profile', by: 'slack:U0BOB', label: 'sweep', gpus: [0, 1], untilMs: AT + 3_600_000},
      ],
    },
  },
} as const satisfies RunEvent;
const looked = (run: Run): Run => ({
  ...run,
  events: run.events.map((event) => (event.kind === 'closed' ? {...event, lookAgainMs: [60_000, 600_000]} : event)),
});
const moving: CardContext = {...CARD, progress: {line: 'watching, 3.2 s', nextUpdateByMs: AT + 120_000}};
const closed = (...events: readonly RunEvent[]): Run => runOf('closed', ...waiting.events, ...events);
const work = (...events: readonly RunEvent[]): Run => runOf('executing', ...waiting.events, approved, ...events);

function a(name: string, run: Run, card: CardContext = CARD): NamedCard {
  return {name, run, card};
}

export const CARDS: readonly NamedCard[] = [
  a('looking', runOf('looking', requested), moving),
  a('waiting-ghost', waiting),
  a('waiting-server', server),
  a('waiting-override', runOf('awaiting-go', overridden, surveyed, planned(ghostPlan()))),
  a('waiting-chosen', runOf('awaiting-go', requested, surveyed, planned({...serverPlan(), version: 2}))),
  a('waiting-nobody-ticked', runOf('awaiting-go', requested, surveyed, planned({...ghostPlan(), targets: []}))),
  a('waiting-no-approver', waiting, {...CARD, approvers: []}),
  a('waiting-late', waiting, {...CARD, nowMs: AT + 900_000}),
  a('starting', work(), moving),
  a('starting-break-glass', work({...approved, breakGlass: true, reason: 'prod is down'}), moving),
  a('terminating', runOf('executing', ...server.events, approved, recheck, termed), moving),
  a('writing', runOf('executing', ...server.events, approved, recheck, termed, writing), moving),
  a('killing', work(recheck, intent, result), moving),
  a('link-lost', work(recheck, intent, lost), moving),
  a('draining', work(recheck, intent, result, seen, memory(5_000, 1), memory(500, 3_001)), moving),
  a(
    'stalled',
    work(recheck, intent, result, seen, memory(500, 3_001), {
      kind: 'settled',
      atMs: AT + 80_000,
      how: 'stalled',
      uptimeMs: 9,
    }),
    moving,
  ),
  a(
    'stopping',
    work(recheck, intent, result, {kind: 'cancelled', atMs: AT + 74_000, by: 'slack:U0ANNA', reason: 'wrong host'}),
    moving,
  ),
  a('reclaimed', looked(reclaimedRun())),
  a(
    'reclaimed-and-back',
    runOf('closed', ...looked(reclaimedRun()).events, laterNote({last: false, returns: [UNIT_IS_BACK]}, AT + 140_000)),
  ),
  a('partly', closed(approved, ...killed(), closedAs('partly', {gpus, survivors: stuck}))),
  a('nothing-freed', closed(approved, ...killed(), closedAs('nothing-freed', {gpus, survivors: stuck}))),
  a(
    'nothing-to-do',
    runOf('closed', requested, surveyed, planned({...ghostPlan(), targets: []}), closedAs('nothing-to-do', {gpus})),
  ),
  a('dry-run', closed(closedAs('dry-run', {gpus}))),
  a('plan-out-of-date', closed(approved, drifted, closedAs('stood-down'))),
  a('paused', closed(approved, closedAs('stood-down', {because: {reason: 'paused', by: 'slack:U0BOB', atMs: AT}}))),
  a('denied', closed({kind: 'denied', atMs: AT + 70_000, by: GOER, reason: 'train.py is mine'}, closedAs('denied'))),
  a('expired', closed({kind: 'expired', atMs: AT + 900_000}, closedAs('expired'))),
  a(
    'cancelled-unsent',
    closed({kind: 'cancelled', atMs: AT + 70_000, by: 'os:anna', reason: null}, closedAs('cancelled')),
  ),
  a(
    'cancelled-sent',
    closed(
      approved,
      ...killed(),
      {kind: 'cancelled', atMs: AT + 74_000, by: 'slack:U0ANNA', reason: 'wrong host'},
      closedAs('cancelled', {gpus}),
    ),
  ),
  a('interrupted', closed(approved, recheck, intent, closedAs('interrupted', {gpus}))),
  a('failed', runOf('closed', requested, closedAs('failed', {because: {reason: 'no-approvers'}}))),
  a('unknown', closed(approved, ...killed(), closedAs('unknown', {gpus}))),
];

/** All that the thread of a run says, oldest first. */
export function threadOf({run, card}: Pick<NamedCard, 'run' | 'card'>): readonly Message[] {
  return run.events.flatMap((event) => threadReplies(run, event, card));
}

export function cardOf({run, card}: NamedCard): Message {
  return rootCard(run, card);
}
