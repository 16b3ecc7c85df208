/** Review & choose over a real socket: the fresh look and its drift, pages, filters, and what may happen meanwhile. */
import {describe, expect, it} from 'vitest';
import type {Failure} from '../../src/domain/failure.ts';
import {planOf} from '../../src/domain/run-state.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import {ACTION} from '../../src/slack/ids.ts';
import {aProcess, aSnapshot, BO_UID, billed} from '../doubles/build.ts';
import {askedForPlan, formSaying, offeredIn, textIn, ticksIn} from './choose-flow.ts';
import {HOST, type Rig, startRig} from './rig.ts';

const worker = (pid: number) => aProcess({pid, ppid: 500, words: ['python3', '-m', 'vllm.entrypoints', `${pid}`]});
const server = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints']});
const other = (pid: number) => aProcess({pid, uid: BO_UID, words: ['python3', 'train.py']});

/** A server with two workers; bo's job beside them. */
const FIRST = aSnapshot(
  [
    billed(server, {0: 20_000}),
    billed(worker(501), {0: 20_000}),
    billed(worker(502), {0: 22_464}),
    billed(other(600), {1: 21_630}),
  ],
  {used: [62_464, 22_246, 4]},
);
/** One worker is gone, somebody new is there, memory has fallen. */
const LATER = aSnapshot(
  [
    billed(server, {0: 20_000}),
    billed(worker(501), {0: 20_000}),
    billed(other(600), {1: 21_630}),
    billed(other(700), {2: 4_000}),
  ],
  {used: [45_056, 22_246, 4_004], takenAtMs: 1_700_000_060_000},
);

/** So many holders: a server and its workers, and the jobs of bo. */
function crowd(holders: number, change: Partial<Snapshot> = {}): Snapshot {
  const half = Math.floor(holders / 2);
  return aSnapshot(
    [
      billed(server, {0: 1}),
      ...Array.from({length: half - 1}, (_, at) => billed(worker(1_001 + at), {0: 1})),
      ...Array.from({length: holders - half}, (_, at) => billed(other(5_000 + at), {[at % 3]: 2})),
    ],
    {used: [half, holders, holders], ...change},
  );
}

async function opened(rig: Rig, what = /Since the card/) {
  const {slack} = rig;
  const card = await askedForPlan(rig);
  // A trigger lasts 3 s: the evidence of hundreds is written first.
  await slack.nextReply((message) => /What was found/.test(message.text), {withinMs: 30_000});
  await slack.click(slack.users.requester, card.ts, ACTION.choose);
  return {card, view: await formSaying(rig, slack.users.requester, what)};
}

async function waitingPlan(rig: Rig) {
  const [run] = await rig.store.openRuns();
  const shown = run === undefined ? null : planOf(run);
  if (run === undefined || shown === null) throw new Error('no plan waits');
  return {run, shown, pids: shown.plan.targets.map((target) => target.identity.pid)};
}

describe('opening the form', () => {
  it('says at once that it looks, then what has changed since the card', async () => {
    const rig = await startRig({first: FIRST, fresh: () => LATER});
    const {slack} = rig;
    const {requester} = slack.users;
    const card = await askedForPlan(rig);
    const release = rig.hold();
    await slack.click(requester, card.ts, ACTION.choose);
    const looking = await formSaying(rig, requester, /Looking at \*gpu-07\* again; nothing is signalled/);
    expect(looking.submit ?? null).toBeNull();
    release();
    const view = await formSaying(rig, requester, /Since the card/);
    expect(textIn(view)).toContain('*1 of 3 targets gone, 1 new holder, 61 → 48 GiB on GPU 0, 2*');
    expect(textIn(view)).toContain('PID 502');
    expect(offeredIn(view)).toEqual([500, 501, 600, 700]);
    expect(textIn(view)).toContain('PID 700 train.py · new since the card');
    expect(
      Object.values(ticksIn(view))
        .flat()
        .map((value) => value.split(':')[0]),
    ).toEqual(['500', '501']);
  });

  it('says too that nothing has changed', async () => {
    const rig = await startRig();
    expect(textIn((await opened(rig)).view)).toContain('*nothing has changed*');
  });

  it('is the same for two at once, and whoever is second is told of the other version', async () => {
    const rig = await startRig({first: FIRST, fresh: () => LATER});
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const {card, view} = await opened(rig);
    await slack.click(approver, card.ts, ACTION.choose);
    const theirs = await formSaying(rig, approver, /Since the card/);
    await slack.submitView(requester, ticksIn(view, {501: false}));
    expect((await waitingPlan(rig)).pids).toEqual([500]);
    slack.skip();
    await slack.submitView(approver, ticksIn(theirs, {600: true}));
    const told = await formSaying(rig, approver, /Another version of this plan waits by now/);
    // Nothing is lost: another look has the same ticks.
    await slack.click(approver, told.id, ACTION.chooseLook, {answers: ticksIn(told)});
    const again = await formSaying(rig, approver, /Since the card/);
    expect(
      Object.values(ticksIn(again))
        .flat()
        .map((value) => value.split(':')[0]),
    ).toEqual(['500', '501', '600']);
    await slack.submitView(approver, ticksIn(again));
    expect((await waitingPlan(rig)).pids.toSorted()).toEqual([500, 501, 600]);
  });

  it('shows the plan of the card where the look fails, and why', async () => {
    const failure: Failure = {reason: 'host-unreachable', host: HOST, address: 'gpu-07', detail: 'no route to host'};
    const rig = await startRig({first: FIRST, fresh: () => failure});
    const {slack} = rig;
    const {view} = await opened(rig, /no route to host/);
    expect(textIn(view)).toContain('This is the plan of *gpu-07* as it was');
    expect(offeredIn(view)).toEqual([500, 501, 502, 600]);
    await slack.submitView(slack.users.requester, ticksIn(view, {502: false}));
    const {run, pids} = await waitingPlan(rig);
    expect(pids).toEqual([500, 501]);
    expect(run.events.map((event) => event.kind)).toEqual(['requested', 'surveyed', 'planned', 'planned']);
  });

  it('takes a look that saw less for none', async () => {
    const blind = {...LATER, smi: {state: 'timed-out', exitCode: null, note: ''}} as const;
    const rig = await startRig({first: FIRST, fresh: () => blind});
    expect(offeredIn((await opened(rig, /nvidia-smi did not answer/)).view)).toEqual([500, 501, 502, 600]);
  });

  it('offers nothing on a host that was started anew', async () => {
    const rig = await startRig({
      first: FIRST,
      fresh: () => ({...LATER, machine: {...LATER.machine, bootId: 'boot-2'}}),
    });
    const {view} = await opened(rig, /started anew/);
    expect([view.submit ?? null, offeredIn(view)]).toEqual([null, []]);
  });

  it('is one sentence where the plan was decided during the look', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester, approver} = slack.users;
    const card = await askedForPlan(rig);
    const release = rig.hold();
    await slack.click(requester, card.ts, ACTION.choose);
    await formSaying(rig, requester, /Looking at/);
    await slack.click(approver, card.ts, ACTION.leave);
    await formSaying(rig, approver, /./);
    await slack.submitView(approver, {reason: 'no'});
    await slack.nextReply((message) => /Left as it is/.test(message.text));
    release();
    const view = await formSaying(rig, requester, /was denied by/);
    expect(view.submit ?? null).toBeNull();
  });

  it('is nothing to a form that was closed during the look', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {requester} = slack.users;
    const card = await askedForPlan(rig);
    const release = rig.hold();
    await slack.click(requester, card.ts, ACTION.choose);
    await formSaying(rig, requester, /Looking at/);
    await slack.closeView(requester);
    slack.skip();
    release();
    await slack.click(requester, card.ts, ACTION.choose);
    await formSaying(rig, requester, /Since the card/);
    expect((await waitingPlan(rig)).shown.plan.version).toBe(1);
    expect(rig.fatal).toEqual([]);
  });
});

describe('submitting', () => {
  it('makes the next version from the fresh look, which stands in the run before it; the expiry stays', async () => {
    const rig = await startRig({first: FIRST, fresh: () => LATER});
    const {slack} = rig;
    const {view} = await opened(rig);
    const before = await waitingPlan(rig);
    await slack.submitView(slack.users.requester, ticksIn(view, {501: false, 700: true}));
    const {run, shown, pids} = await waitingPlan(rig);
    expect(pids).toEqual([500, 700]);
    expect(shown).toMatchObject({expiresAtMs: before.shown.expiresAtMs, by: {id: slack.users.requester.id}});
    expect(shown.plan).toMatchObject({version: 2, madeAtMs: LATER.takenAtMs});
    expect(run.events.map((event) => event.kind)).toEqual(['requested', 'surveyed', 'planned', 'surveyed', 'planned']);
    expect(run.events.findLast((event) => event.kind === 'surveyed')).toMatchObject({
      snapshot: {takenAtMs: LATER.takenAtMs},
    });
    const told = await slack.nextReply((message) => /Chosen by hand/.test(message.text));
    expect(told.text).toContain(`<@${slack.users.requester.id}>`);
    expect(told.text).toContain('1 of 3 targets of version 1 is not there any more: PID 502 ');
    expect(slack.ephemerals(slack.users.requester)).toEqual([]);
  });

  it('of nobody is refused beside the ticks, and the form stays', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {view} = await opened(rig);
    const none = Object.fromEntries(Object.keys(ticksIn(view)).map((block) => [block, []]));
    slack.skip();
    await slack.submitView(slack.users.requester, none);
    const {errors} = await slack.nextView(slack.users.requester);
    expect(Object.values(errors).join()).toContain('Nobody is ticked');
    expect((await waitingPlan(rig)).shown.plan.version).toBe(1);
  });

  it('that was refused may be mended and submitted again', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {view} = await opened(rig);
    const none = Object.fromEntries(Object.keys(ticksIn(view)).map((block) => [block, []]));
    slack.skip();
    await slack.submitView(slack.users.requester, none);
    await slack.nextView(slack.users.requester);
    await slack.submitView(slack.users.requester, ticksIn(view));
    await slack.nextReply((message) => /Chosen by hand/.test(message.text));
    expect((await waitingPlan(rig)).shown.plan.version).toBe(2);
  });

  it('after the plan was decided is one sentence in the form', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {card, view} = await opened(rig);
    await slack.click(slack.users.approver, card.ts, ACTION.terminateThenKill);
    await slack.nextUpdate((message) => /reclaimed/.test(message.text));
    await slack.submitView(slack.users.requester, ticksIn(view));
    await formSaying(rig, slack.users.requester, /was approved by/);
    expect(rig.executed).toHaveLength(1);
  });

  it('after the plan has expired is one sentence in the form', async () => {
    const rig = await startRig();
    const {slack} = rig;
    const {view} = await opened(rig);
    rig.skip(16 * 60_000);
    await slack.submitView(slack.users.requester, ticksIn(view));
    await formSaying(rig, slack.users.requester, /expired/);
    expect((await waitingPlan(rig)).shown.plan.version).toBe(1);
  });

  it('works after a restart of the bot', async () => {
    const rig = await startRig({first: FIRST, fresh: () => LATER});
    const {view} = await opened(rig);
    await rig.restart();
    await rig.slack.submitView(rig.slack.users.requester, ticksIn(view, {600: true}));
    expect((await waitingPlan(rig)).pids.toSorted()).toEqual([500, 501, 600]);
  });

  it('is taken once however often Slack delivers it', async () => {
    const rig = await startRig({first: FIRST, fresh: () => LATER});
    const {view} = await opened(rig);
    rig.slack.setFault({kind: 'duplicate-envelope'});
    await rig.slack.submitView(rig.slack.users.requester, ticksIn(view));
    await rig.slack.nextReply((message) => /Chosen by hand/.test(message.text));
    expect((await waitingPlan(rig)).shown.plan.version).toBe(2);
  });
});

describe('pages', () => {
  it('of 150 holders carry their ticks along, and any of them may be submitted', {timeout: 60_000}, async () => {
    const rig = await startRig({
      first: crowd(150),
      policy: () => ({limits: {openRuns: 4, targets: 200, runsPerPerson: 3, runsPerPersonMs: 600_000}}),
    });
    const {slack} = rig;
    const {requester} = slack.users;
    const {view} = await opened(rig);
    expect(offeredIn(view)).toHaveLength(50);
    await slack.click(requester, view.id, ACTION.chooseNext, {answers: ticksIn(view, {1003: false})});
    const second = await formSaying(rig, requester, /Page 2 of 4/);
    expect(textIn(second)).toContain('Ticked on other pages: 49, 49 MiB');
    await slack.click(requester, second.id, ACTION.chooseNext, {answers: ticksIn(second)});
    const third = await formSaying(rig, requester, /Page 3 of 4/);
    const last = offeredIn(third).at(-1) ?? 0;
    await slack.submitView(requester, ticksIn(third, {[last]: true}));
    const {pids} = await waitingPlan(rig);
    expect(pids).toHaveLength(75);
    expect(pids).toContain(last);
    expect(pids).not.toContain(1_003);
  });

  it('of 500 holders are turned, narrowed and ticked as a whole, and hidden ticks stay', {
    timeout: 120_000,
  }, async () => {
    const rig = await startRig({
      first: crowd(500),
      policy: () => ({limits: {openRuns: 4, targets: 600, runsPerPerson: 3, runsPerPersonMs: 600_000}}),
    });
    const {slack} = rig;
    const {requester} = slack.users;
    const {view} = await opened(rig);
    expect(textIn(view)).toContain('500 processes can be chosen. Page 1 of 10');
    await slack.click(requester, view.id, ACTION.chooseWhole, {answers: ticksIn(view)});
    const none = await formSaying(rig, requester, /Tick all 250/);
    expect(Object.values(ticksIn(none)).flat()).toEqual([]);
    const answers = {...ticksIn(none, {500: true}), [blockOf(none, 'find_')]: '5012'};
    await slack.click(requester, none.id, ACTION.chooseFindNow, {answers});
    const found = await formSaying(rig, requester, /500 processes can be chosen, 1 listed/);
    expect(offeredIn(found)).toEqual([5_012]);
    expect(textIn(found)).toContain('Ticked and not listed now: 1, 1 MiB');
    await slack.click(requester, found.id, ACTION.chooseClear, {answers: ticksIn(found, {5012: true})});
    const all = await formSaying(rig, requester, /Page 1 of 10/);
    await slack.click(requester, all.id, ACTION.chooseGpu, {answers: ticksIn(all), choice: 'is:2'});
    const gpu = await formSaying(rig, requester, /listed/);
    expect(textIn(gpu)).toContain('500 processes can be chosen, 83 listed');
    await slack.submitView(requester, ticksIn(gpu));
    expect((await waitingPlan(rig)).pids.toSorted()).toEqual([500, 5_012]);
  });
});

function blockOf(view: {readonly blocks: readonly {readonly block_id?: string}[]}, start: string): string {
  return view.blocks.find((block) => block.block_id?.startsWith(start))?.block_id ?? 'none';
}
