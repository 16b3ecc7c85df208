/** Samples over a real store: made once a slot, through restarts, failures, runs and ends; what is missing is told. */
import {describe, expect, it} from 'vitest';
import type {Campaign} from '../../src/domain/campaign.ts';
import type {Person} from '../../src/domain/person.ts';
import {ANNA, aRequest, HOST} from '../doubles/build.ts';
import {bench, H200} from '../doubles/campaign-bench.ts';
import {OWNER} from '../store/sample.ts';

const MINUTE = 60_000;

async function sampled(words = 'gpu-07 sample=60s') {
  const on = await bench();
  const started = await on.start('profile', words);
  if (!started.ok) throw new Error(JSON.stringify(started.failure));
  const {campaign} = started.value;
  /** The clock goes on by so many minutes, with the sample of each that is due. */
  const minutes = async (count: number, engine = on.engine): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      on.clock.at += MINUTE;
      await engine.takeSample(campaign.id, HOST);
    }
  };
  const report = async () => {
    const stopped = await on.engine.stopHold(campaign.id, ANNA);
    if (!stopped.ok) throw new Error(JSON.stringify(stopped.failure));
    const [host] = stopped.value.report.hosts;
    if (host?.state !== 'seen') throw new Error('the host was not seen');
    return host;
  };
  return {...on, campaign, minutes, report};
}

describe('a campaign that samples', () => {
  it('looks once an interval, and reports the peak with what it rests on', async () => {
    const {said, minutes, report} = await sampled();
    said.sample = {usedMiB: 900};
    await minutes(3);
    said.sample = {usedMiB: 40_000, utilization: '97', pids: [7]};
    await minutes(1);
    said.sample = {usedMiB: 4};
    await minutes(2);
    expect(said.samples).toBe(6);
    const {samples, gpus, sampleMs} = await report();
    expect(sampleMs).toBe(MINUTE);
    expect(samples).toMatchObject({count: 6, missed: 0, costMs: 180, gaps: []});
    expect(gpus[0]?.peakMiB).toBe(40_000);
  });

  it('does not look before its time, nor twice in one', async () => {
    const {said, clock, engine, campaign} = await sampled();
    clock.at += MINUTE - 1;
    await engine.takeSample(campaign.id, HOST);
    expect(said.samples ?? 0).toBe(0);
    clock.at += 1;
    await Promise.all([engine.takeSample(campaign.id, HOST), engine.takeSample(campaign.id, HOST)]);
    await engine.takeSample(campaign.id, HOST);
    const held = await engine.holds();
    expect(held.ok && held.value[0]?.samples).toMatchObject([{samples: {count: 1}}]);
  });

  it('goes on after a restart, and tells the two hours without a bot', async () => {
    const {said, clock, minutes, report, restarted} = await sampled();
    said.sample = {usedMiB: 900};
    await minutes(2);
    clock.at += 120 * MINUTE;
    said.sample = {usedMiB: 5};
    await minutes(1, restarted());
    expect((await report()).samples).toMatchObject({
      count: 3,
      missed: 120,
      gaps: [{missed: 120, why: 'not-made'}],
      gpus: [{maxMiB: 900}],
    });
  });

  it('has a gap where the host is cut, and where a reclaim works there', async () => {
    const {said, store, clock, minutes, report} = await sampled();
    await minutes(1);
    said.sample = null;
    await minutes(2);
    said.sample = {usedMiB: 4};
    await minutes(1);
    const id = `9${'0'.repeat(11)}` as never;
    const event = {kind: 'requested', atMs: clock.at, request: aRequest({host: HOST})} as const;
    const opened = await store.open({id, host: HOST, atMs: clock.at, requester: 'os:bo', event, owner: OWNER});
    if (!opened.ok) throw new Error('busy');
    await store.append({runId: id, expectedVersion: opened.run.version, phase: 'executing', events: [], outbox: []});
    await minutes(1);
    expect((await report()).samples).toMatchObject({
      count: 2,
      missed: 3,
      gaps: [
        {missed: 2, why: 'failed'},
        {missed: 1, why: 'run'},
      ],
    });
  });

  it('ends with until=, with stop, and with its host in the hosts file', async () => {
    const {said, clock, engine, campaign, minutes, store, restarted, report} =
      await sampled('gpu-07 sample=60s until=3m');
    await minutes(1);
    await restarted({hosts: []}).takeSample(campaign.id, HOST);
    clock.at += MINUTE;
    await restarted({hosts: []}).takeSample(campaign.id, HOST);
    expect(await engine.comingSamples()).toMatchObject({value: [{id: campaign.id, host: HOST}]});
    await minutes(5);
    expect(await engine.comingSamples()).toMatchObject({value: []});
    expect(said.samples).toBe(1);
    expect((await report()).samples).toMatchObject({count: 1, missed: 1, gaps: [{why: 'host-gone', missed: 1}]});
    const [kept] = await store.campaigns.all(clock.at);
    const samples = kept?.samples[0]?.samples;
    if (samples === undefined) throw new Error('no samples are kept');
    expect(
      await store.campaigns.keepSamples(campaign.id, {fromMs: kept?.samples[0]?.nextMs ?? 0, nextMs: 9, samples}),
    ).toBe(false);
  });

  it('says so where no bot ever ran', async () => {
    const {clock, report} = await sampled();
    clock.at += 10 * MINUTE + 6_000;
    expect((await report()).samples).toMatchObject({count: 0, missed: 10, gaps: [{missed: 10, why: 'not-made'}]});
  });

  it('is not sampled unless that was asked for', async () => {
    const {said, engine, minutes, report} = await sampled('gpu-07');
    expect(await engine.comingSamples()).toMatchObject({value: []});
    await minutes(3);
    expect(said.samples ?? 0).toBe(0);
    expect((await report()).samples).toBeNull();
  });
});

describe('the question at idle GPUs', () => {
  async function asked() {
    const on = await sampled();
    await on.minutes(46);
    const owed = await on.engine.noticesOwed(on.clock.at);
    // It has no card yet, and nothing to be asked under.
    expect(owed).toMatchObject({value: {notices: [{kind: 'card'}]}});
    await on.engine.keepHoldCard(on.campaign.id, {channel: 'C1', ts: '1.2'});
    const now = await on.engine.noticesOwed(on.clock.at - 5 * MINUTE);
    const [notice] = now.ok ? now.value.notices : [];
    if (notice?.question == null) throw new Error('nothing is asked');
    const {question} = notice;
    const answer = (what: 'end' | 'keep', person: Person = ANNA) =>
      on.engine.answerIdle({id: on.campaign.id, question: question.id, answer: what}, person);
    return {...on, notice, answer};
  }

  it('is asked once, and late only where nobody was there', async () => {
    const {engine, clock, notice} = await asked();
    expect(notice).toMatchObject({kind: 'idle', late: false});
    expect(await engine.noticesOwed(clock.at + 1)).toMatchObject({value: {notices: [{late: true}]}});
    await engine.noticeTold(notice, {kind: 'later'});
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {notices: [{what: notice.what}]}});
    await engine.noticeTold(notice, {kind: 'told', card: {channel: 'C1', ts: '1.2'}});
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {notices: []}});
  });

  it('is answered by one of many at once', async () => {
    const {answer, store, clock} = await asked();
    const answers = await Promise.all([answer('keep'), answer('end'), answer('end'), answer('keep')]);
    expect(answers.filter(({ok}) => ok)).toHaveLength(1);
    for (const one of answers)
      if (!one.ok) expect(one.failure).toMatchObject({reason: 'idle-answered', by: 'os:anna', atMs: clock.at});
    const [kept] = await store.campaigns.all(clock.at);
    expect(kept).toMatchObject({ended: null});
  });

  it('is its holder’s and an approver’s to answer, while it holds', async () => {
    const {answer, engine, campaign} = await asked();
    const stranger: Person = {kind: 'os-user', name: 'dora', uid: 1009};
    expect(await answer('end', stranger)).toMatchObject({failure: {reason: 'not-the-holder'}});
    await engine.stopHold(campaign.id, ANNA);
    expect(await answer('keep')).toMatchObject({failure: {reason: 'campaign-ended'}});
  });

  it('ends it as was said where the program died after the answer; once', async () => {
    const {answer, restarted, clock, campaign, store} = await asked();
    expect(await answer('end')).toMatchObject({ok: true, value: {answer: 'end', untilMs: null}});
    const next = restarted();
    expect(await next.noticesOwed(clock.at)).toMatchObject({value: {unfinished: []}});
    clock.at += 2 * MINUTE;
    expect(await next.noticesOwed(clock.at)).toMatchObject({value: {unfinished: [campaign.id]}});
    await Promise.all([next.finishEnd(campaign.id), restarted().finishEnd(campaign.id)]);
    const [kept] = await store.campaigns.all(clock.at);
    expect(kept).toMatchObject({ended: {by: 'os:anna', atMs: clock.at}});
    expect(await next.noticesOwed(clock.at)).toMatchObject({value: {unfinished: [], notices: [{kind: 'ended'}]}});
  });
});

describe('a campaign that is not sampled', () => {
  it('is asked about where people’s own looks show nothing but idle GPUs, close together', async () => {
    const {said, clock, engine, store, campaign, report} = await sampled('gpu-07');
    said.probe = H200.replace(/(143771, \d+, \d+, )\d+/, '$10');
    const quietSinceMs = async () => (await store.campaigns.live())[0]?.samples[0]?.samples.quietSinceMs;
    const firstMs = clock.at;
    for (let at = 0; at < 4; at += 1) {
      expect((await engine.look(HOST)).ok).toBe(true);
      clock.at += 12 * MINUTE;
    }
    expect(await quietSinceMs()).toBe(firstMs);
    await engine.keepHoldCard(campaign.id, {channel: 'C1', ts: '1.2'});
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {notices: [{kind: 'idle'}]}});
    clock.at += 20 * MINUTE;
    await engine.look(HOST);
    expect(await quietSinceMs()).toBe(clock.at);
    // None of them is a sample: it is told as it was asked for.
    expect(await report()).toMatchObject({samples: null, gpus: [{peakMiB: null}]});
  });
});

/** A campaign that an older program kept has no word of samples. */
it('an older campaign is not sampled', async () => {
  const {store, engine, clock, start} = await bench();
  await start('profile', 'gpu-07');
  const [kept] = await store.campaigns.all(clock.at);
  if (kept === undefined) throw new Error('no campaign is kept');
  const {sampleMs: _, ...old} = kept.campaign;
  await store.campaigns.add({...old, id: 'c99999'} as Campaign, () => false);
  expect(await engine.comingSamples()).toMatchObject({value: []});
});
