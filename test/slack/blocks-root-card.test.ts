/** The root card through its whole life, word for word. */
import {describe, expect, it} from 'vitest';
import type {OutcomeWord} from '../../src/domain/outcome.ts';
import type {RunEvent} from '../../src/domain/run.ts';
import type {KnownBlock, Message} from '../../src/slack/blocks/message.ts';
import {rootCard} from '../../src/slack/blocks/root-card.ts';
import {ACTION, readButtonValue} from '../../src/slack/ids.ts';
import {ANNA, aPlan, RUN} from '../doubles/build.ts';
import {codeLinesIn, expectSafe} from './blocks-hostile-text.ts';
import {
  AT,
  approved,
  CARD,
  closedAs,
  DIGEST,
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
import {serverPlan} from './cards.ts';

const waitingRun = runOf('awaiting-go', requested, surveyed, planned(ghostPlan()));
const workingRun = runOf('executing', requested, surveyed, planned(ghostPlan()), approved);

function buttonsOf(message: Message) {
  return message.blocks.flatMap((block: KnownBlock) =>
    block.type === 'actions' ? block.elements.flatMap((element) => (element.type === 'button' ? [element] : [])) : [],
  );
}

describe('the card of a run that looks', () => {
  it('says that nothing has been signalled, and when it should have moved', () => {
    const card = rootCard(runOf('looking', requested), CARD);
    expectSafe(card);
    expect(card.text).toMatchInlineSnapshot(`
      "*🔎 Looking · gpu-07: nothing has been signalled* · asked by <@U0ANNA>
      *Host* gpu-07
      *GPUs* all
      *Plan* not known yet
      *Targets* not known yet
      *Since* <!date^1700000000^{date_short} {time_secs}|2023-11-14 22:13:20 UTC>
      *Why* prod at 9
      If there is no update by <!date^1700000120^{time_secs}|2023-11-14 22:15:20 UTC>, the bot is down.
      \`/gpu reclaim gpu-07 match=vllm\`
      Run 7f3a00 · without Slack: \`gpu-reclaim show 7f3a00\`, \`gpu-reclaim cancel 7f3a00\`"
    `);
    expect(buttonsOf(card)).toEqual([]);
  });
});

describe('the card of a plan that waits for a go', () => {
  const card = rootCard(waitingRun, CARD);

  it('says who asks for what, on whom, why, what it frees and who stays', () => {
    expectSafe(card);
    expect(card.text).toMatchInlineSnapshot(`
      "*⏳ Waiting for a go · gpu-07: kill -9 1 process? ~378 GiB* · asked by <@U0ANNA>
      *Host* gpu-07
      *GPUs* 0-7
      *Plan* kill -9 at once
      *Targets* 1 process of uid 0
      *Since* <!date^1700000000^{date_short} {time_secs}|2023-11-14 22:13:20 UTC>
      *Why* prod at 9
      Nothing matches "vllm"; 1 ghost found.
      ☑ PID 244199 python3 · ghost
        387,376 MiB on GPU 0-3, sole holder
        uid 0 · up 3 h 12 m
        · billed to dead PID 244180, 244181
        · ignores SIGTERM: no 30 s wait
      ☐ PID 250331 train.py
        · in use, kept
        bo · up 3 d · GPU 6, 21,630 MiB
      🔒 PID 1200 nvidia-persistenced
        · protected
      After: 7 of 8 free. GPU 6 busy (bo)
      Go by: <!subteam^S0ONCALL>, <@U0BOB>; the requester too, if among them
      Until <!date^1700000900^{date_short} {time_secs}|2023-11-14 22:28:20 UTC> · looked <!date^1700000002^{time_secs}|2023-11-14 22:13:22 UTC>
      Nothing has been signalled.
      [Kill -9 1 process] [Choose…] [Leave it]
      \`/gpu reclaim gpu-07 match=vllm\`
      Run 7f3a00 · plan 9f2c1ab0 · without Slack: \`gpu-reclaim show 7f3a00\`, \`gpu-reclaim cancel 7f3a00\`"
    `);
  });

  it('has its plan in monospace lines of at most 42 columns', () => {
    expect(codeLinesIn(card).length).toBeGreaterThan(8);
    expect(codeLinesIn(card).filter((line) => [...line].length > 42)).toEqual([]);
  });

  it('has a verb with a number on the dangerous button, which asks again with number and host', () => {
    const two = rootCard(runOf('awaiting-go', requested, surveyed, planned(serverPlan())), CARD);
    expect(buttonsOf(two).map((button) => [button.text.text, button.style ?? 'plain', button.action_id])).toEqual([
      ['Terminate 9, then kill -9', 'danger', 'go_terminate_then_kill'],
      ['Terminate 9 only', 'plain', 'go_terminate_only'],
      ['Choose…', 'plain', 'choose'],
      ['Leave it', 'plain', 'leave'],
    ]);
    expect(buttonsOf(two).map((button) => button.confirm?.title?.text ?? null)).toEqual([
      'kill -9 9 processes on gpu-07?',
      'SIGTERM to 9 processes on gpu-07?',
      null,
      null,
    ]);
    expect(buttonsOf(two)[0]?.confirm?.text.text).toBe(
      '9 processes on gpu-07, GPU 0-7, ~757 GiB. SIGTERM first; kill -9 after 30 s for those that are left. Nothing else is signalled.',
    );
  });

  it('offers no SIGTERM to those who cannot take it, and no signal where nobody is ticked', () => {
    expect(buttonsOf(card).map((button) => button.text.text)).toEqual(['Kill -9 1 process', 'Choose…', 'Leave it']);
    expect(buttonsOf(card)[0]?.confirm?.text.text).toBe(
      '1 process on gpu-07, GPU 0-3, ~378 GiB. kill -9 at once, since none of them takes SIGTERM. Nothing else is signalled.',
    );
    const nobody = runOf('awaiting-go', requested, surveyed, planned({...ghostPlan(), targets: []}));
    expect(buttonsOf(rootCard(nobody, CARD)).map((button) => button.text.text)).toEqual(['Choose…', 'Leave it']);
  });

  it('carries run and plan in every button, and has a label for those who do not see it', () => {
    for (const button of buttonsOf(card)) {
      expect(readButtonValue(button.value)).toEqual({runId: RUN, digest: DIGEST});
      expect(button.accessibility_label).toContain('gpu-07');
    }
  });

  it('says that the requester may not go alone where somebody else is reached', () => {
    const reaches = runOf('awaiting-go', requested, surveyed, planned(aPlan()));
    expect(rootCard(reaches, CARD).text).toContain('not the requester alone');
    expect(card.text).toContain('the requester too, if among them');
  });

  it('says so when nobody may give the go', () => {
    expect(rootCard(waitingRun, {...CARD, approvers: []}).text).toContain('Go by: nobody is listed');
  });

  it('loses its buttons once its time is over', () => {
    const late = rootCard(waitingRun, {...CARD, nowMs: AT + 900_000});
    expect(buttonsOf(late)).toEqual([]);
    expect(late.text).toContain('Ask again for a fresh look');
  });

  it('says that it was chosen by hand', () => {
    const chosen = runOf('awaiting-go', requested, surveyed, planned({...ghostPlan(), version: 2}));
    expect(rootCard(chosen, CARD).text).toContain('Chosen by hand, version 2 of this plan.');
  });

  it('names somebody at a terminal without a mention', () => {
    const own = {...requested, request: {...requested.request, requester: ANNA}};
    expect(rootCard(runOf('looking', own), CARD).text).toContain('asked by anna (terminal)');
  });
});

describe('the card of a run that works', () => {
  it('swaps the buttons for who gave the go, before anything is sent', () => {
    const card = rootCard(workingRun, CARD);
    expectSafe(card);
    expect(card.text).toMatchInlineSnapshot(`
      "*🔄 Starting · gpu-07: 1 process, ~378 GiB to free* · asked by <@U0ANNA>
      *Host* gpu-07
      *GPUs* 0-7
      *Plan* kill -9 at once
      *Targets* 1 process of uid 0
      *Since* <!date^1700000000^{date_short} {time_secs}|2023-11-14 22:13:20 UTC>
      *Why* prod at 9
      Go by <@U0BOB> at <!date^1700000070^{time_secs}|2023-11-14 22:14:30 UTC>, SIGTERM, then kill -9
      If there is no update by <!date^1700000120^{time_secs}|2023-11-14 22:15:20 UTC>, the bot is down.
      [Stop]
      \`/gpu reclaim gpu-07 match=vllm\`
      Run 7f3a00 · plan 9f2c1ab0 · without Slack: \`gpu-reclaim show 7f3a00\`, \`gpu-reclaim cancel 7f3a00\`"
    `);
    expect(buttonsOf(card).map((button) => button.text.text)).toEqual(['Stop']);
  });

  const [recheck, intent, result, seen] = killed();
  const memory = (used: number, uptimeMs: number): RunEvent => ({
    kind: 'memory',
    atMs: AT,
    uptimeMs,
    usedMiB: Object.fromEntries(ghostPlan().gpus.map((gpu) => [gpu.gpuUuid, used])),
  });
  const settled: RunEvent = {kind: 'settled', atMs: AT, how: 'expected', uptimeMs: 4};
  const lost: RunEvent = {
    kind: 'link-lost',
    atMs: AT,
    failure: {reason: 'link-lost', host: workingRun.host, mayHaveActed: true},
  };
  const steps: readonly (readonly [string, readonly (RunEvent | undefined)[], string])[] = [
    ['has only looked again', [recheck], '🔄 Starting · gpu-07: 1 process, ~378 GiB to free'],
    ['has sent kill -9', [recheck, intent, result], 'Sent: kill -9 to 1 process (PID 244199)'],
    ['has lost the answer', [recheck, intent, lost], '🔌 Connection lost, looking again · gpu-07'],
    ['may have sent something', [recheck, intent, lost], 'May have been sent: kill -9 to PID 244199'],
    ['sees the end of it', [recheck, intent, result, seen], '1 of 1 target has ended'],
    [
      'sees memory fall',
      [recheck, intent, result, seen, memory(5_000, 1), memory(500, 3_001)],
      'Still draining: 4,000 MiB in use on the requested GPUs after 3.0 s',
    ],
    ['has seen it settle', [recheck, intent, result, seen, memory(4, 1), settled], '🔄 Verifying · gpu-07'],
  ];

  it.each(steps)('and %s says so', (_what, events, line) => {
    const known = events.filter((event) => event !== undefined);
    const card = rootCard(runOf('executing', ...workingRun.events, ...known), CARD);
    expectSafe(card);
    expect(card.text).toContain(line);
  });

  it('says what is being done, and by when the bot must have spoken again', () => {
    const card = rootCard(workingRun, {...CARD, progress: {line: 'watching, 3 s', nextUpdateByMs: AT + 90_000}});
    expect(card.text).toContain('watching, 3 s\n');
    expect(card.text).toContain(
      'If there is no update by <!date^1700000090^{time_secs}|2023-11-14 22:14:50 UTC>, the bot is down.',
    );
    expect(card.text).toContain('`gpu-reclaim show 7f3a00`');
  });

  it('offers no second Stop', () => {
    const stopped: RunEvent = {kind: 'cancelled', atMs: AT, by: 'slack:U0BOB', reason: null};
    const card = rootCard(runOf('executing', ...workingRun.events, stopped), CARD);
    expect(buttonsOf(card)).toEqual([]);
    expect(card.text).toContain('Stopped by <@U0BOB>');
  });
});

describe('the card of a run that is over', () => {
  it('says what came of it, who gave the go, and what is free', () => {
    const card = rootCard(reclaimedRun(), CARD);
    expectSafe(card);
    expect(card.text).toMatchInlineSnapshot(`
      "*✅ gpu-07: reclaimed 378 GiB (387,360 MiB), 7 of 8 free* · asked by <@U0ANNA>
      *Host* gpu-07
      *GPUs* 0-7
      *Plan* kill -9 at once
      *Targets* 1 process of uid 0
      *Since* <!date^1700000000^{date_short} {time_secs}|2023-11-14 22:13:20 UTC>
      *Why* prod at 9
      Go by <@U0BOB> at <!date^1700000070^{time_secs}|2023-11-14 22:14:30 UTC>, SIGTERM, then kill -9
      Surviving targets: none · settled 0.4 s after the last signal
      Blocks a start: PID 250331 train.py (bo) on GPU 6, 21,630 MiB
      GPUs free now: 7 of 8; 8-GPU start not possible: GPU 6 (bo)
      \`/gpu reclaim gpu-07 match=vllm\`
      Run 7f3a00 · plan 9f2c1ab0 · without Slack: \`gpu-reclaim show 7f3a00\`"
    `);
  });

  const gpus = gpuChanges([96_844, 4, 4, null, 4, 4, 21_630, 4]);
  const denied: RunEvent = {kind: 'denied', atMs: AT, by: GOER, reason: 'train.py is mine'};
  const cases: readonly (readonly [OutcomeWord, readonly RunEvent[], string])[] = [
    [
      'reclaimed',
      [approved, ...killed(), closedAs('reclaimed', {gpus: gpuChanges([4, 4, 4, 4, 4, 4, 4, 4])})],
      '✅ gpu-07: reclaimed',
    ],
    ['partly', [approved, ...killed(), closedAs('partly', {gpus})], '1 unknown'],
    ['nothing-freed', [approved, ...killed(), closedAs('nothing-freed', {gpus})], '🔴 gpu-07: nothing freed'],
    ['nothing-to-do', [closedAs('nothing-to-do', {gpus})], 'Nothing matches "vllm"'],
    [
      'stood-down',
      [approved, closedAs('stood-down', {because: {reason: 'paused', by: 'slack:U0BOB', atMs: AT}})],
      'Paused by <@U0BOB>',
    ],
    ['dry-run', [closedAs('dry-run', {gpus})], 'Dry run, nothing was changed'],
    ['denied', [denied, closedAs('denied')], 'Left by <@U0BOB>'],
    ['expired', [{kind: 'expired', atMs: AT}, closedAs('expired')], 'Nobody gave the go before'],
    [
      'cancelled',
      [{kind: 'cancelled', atMs: AT, by: 'os:anna', reason: null}, closedAs('cancelled')],
      'Stopped by anna (terminal)',
    ],
    ['interrupted', [approved, ...killed(), closedAs('interrupted', {gpus})], '/gpu diagnose gpu-07'],
    ['failed', [closedAs('failed', {because: {reason: 'no-approvers'}})], 'No approver is configured'],
    ['unknown', [approved, ...killed(), closedAs('unknown', {gpus})], '❓ gpu-07: unknown'],
  ];

  it.each(cases)('as %s signals by no button and says why', (word, events, line) => {
    const card = rootCard(runOf('closed', ...waitingRun.events, ...events), CARD);
    expectSafe(card);
    const settled = ['reclaimed', 'nothing-to-do', 'dry-run', 'denied', 'cancelled'].includes(word);
    expect(buttonsOf(card).map((button) => button.action_id)).toEqual(settled ? [] : [ACTION.askAgain]);
    expect(card.text).toContain(line);
    expect(card.text).toContain('asked by <@U0ANNA>');
  });

  it('shows the plan of a dry run as the real card would, and never an amount that was freed', () => {
    const run = runOf(
      'closed',
      ...waitingRun.events,
      closedAs('dry-run', {gpus: gpuChanges([4, 4, 4, 4, 4, 4, 4, 4])}),
    );
    const {text} = rootCard(run, CARD);
    expect(text).toContain('☑ PID 244199 python3');
    expect(text.split('\n')[0]).toMatch(/Dry run, nothing was changed/);
    expect(text).not.toMatch(/reclaimed|freed \d/);
  });

  it('keeps its last word: later looks add a line', () => {
    const before = rootCard(reclaimedRun(), CARD).text.split('\n');
    const note = laterNote({last: false, returns: [{...UNIT_IS_BACK, gpus: [], MiB: null}]}, AT + 170_000);
    const after = rootCard(runOf('closed', ...reclaimedRun().events, note), CARD).text.split('\n');
    expect(after.filter((line) => !before.includes(line))).toEqual([
      'Later, <!date^1700000170^{time_secs}|2023-11-14 22:16:10 UTC>: returned at +90 s: unit vllm@2.service started vllm.entrypoints again, PID 812-813, no GPU yet; it stops with: systemctl stop vllm@2.service',
    ]);
    expect(before.filter((line) => !after.includes(line))).toEqual([]);
  });

  it('says when it is looked at again, lets that be stopped, and says once that nothing came back', () => {
    const looking = reclaimedRun().events.map((event) =>
      event.kind === 'closed' ? {...event, lookAgainMs: [60_000, 600_000]} : event,
    );
    const shown = (...notes: readonly RunEvent[]) => rootCard(runOf('closed', ...looking, ...notes), CARD);
    const first = laterNote({afterMs: 60_000, last: false}, AT + 140_000);
    expect(shown().text).toContain(
      'Looks again <!date^1700000140^{time_secs}|2023-11-14 22:15:40 UTC>, <!date^1700000680^{time_secs}|2023-11-14 22:24:40 UTC>',
    );
    expect(JSON.stringify(shown().blocks)).toContain(ACTION.stopLooking);
    expect(shown(first).text).toContain('Looks again <!date^1700000680^');
    expect(shown(first).text).not.toMatch(/Later,|came back/);
    const done = shown(first, laterNote());
    expect(done.text).toMatch(/Later, .*: nothing came back by \+10 m$/m);
    expect(done.text).not.toContain('Looks again');
    expect(JSON.stringify(done.blocks)).not.toContain(ACTION.stopLooking);
    const stopped = shown({kind: 'noted', atMs: AT + 90_000, note: {what: 'stopped', by: 'slack:U0BOB'}});
    expect(stopped.text).toContain('later looks stopped by <@U0BOB>');
    expect(stopped.text).not.toContain('Looks again');
  });
});

it('is the same for the same run, whatever the order of asking', () => {
  expect(rootCard(waitingRun, CARD)).toEqual(rootCard(structuredClone(waitingRun), CARD));
});
