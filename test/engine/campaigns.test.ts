/** Campaigns over a real store and the real engine: whom a hold keeps out, and which looks are not made meanwhile. */
import {describe, expect, it} from 'vitest';
import type {Person} from '../../src/domain/person.ts';
import {requestOf} from '../../src/domain/run-state.ts';
import {ANNA, aRequest, BO, HOST} from '../doubles/build.ts';
import {bench, H200, OTHER} from '../doubles/campaign-bench.ts';

const HOUR = 3_600_000;
const CARLA: Person = {kind: 'os-user', name: 'carla', uid: 1002};

async function id(started: Promise<Awaited<ReturnType<Awaited<ReturnType<typeof bench>>['start']>>>): Promise<string> {
  const done = await started;
  if (!done.ok) throw new Error(JSON.stringify(done.failure));
  return done.value.campaign.id;
}

describe('a campaign', () => {
  it('is looked at when it starts and when it ends, and not between', async () => {
    const {said, engine, start} = await bench();
    const campaign = await id(start('profile', 'gpu-07 sweep out=/data'));
    expect(said).toMatchObject({looks: 1, folders: ['/data']});
    expect(await engine.report([{kind: 'host', name: HOST}])).toMatchObject({
      value: {hosts: [{state: 'failed', failure: {reason: 'host-measured', hold: {by: 'os:anna'}}}]},
    });
    expect(await engine.look(HOST, {unasked: true})).toMatchObject({failure: {reason: 'host-measured'}});
    expect(said.looks).toBe(1);
    // Who names the host may look, and so may anybody elsewhere.
    expect((await engine.look(HOST)).ok).toBe(true);
    expect((await engine.look(OTHER, {unasked: true})).ok).toBe(true);
    expect(said.looks).toBe(3);

    said.powerW = 300;
    const stopped = await engine.stopHold(campaign, ANNA);
    expect(stopped).toMatchObject({
      value: {
        report: {hosts: [{state: 'seen', leftovers: [], settings: {changes: [{what: 'power-limit', from: '700 W'}]}}]},
      },
    });
    expect((await engine.look(HOST, {unasked: true})).ok).toBe(true);
    said.powerW = 700;
    said.probe = H200.replace(/(GPU-\S+, .*, 143771, \d+, )(\d+)/, '$19');
    const later = await engine.campaignReport(HOST);
    const usedMiB = Number(/GPU-\S+, .*, 143771, \d+, (\d+)/.exec(H200)?.[1]);
    expect(later).toMatchObject({
      value: {report: {hosts: [{settings: {changes: []}, gpus: [{beforeMiB: usedMiB, afterMiB: usedMiB, nowMiB: 9}]}]}},
    });
    expect(await engine.stopHold(campaign, ANNA)).toMatchObject({failure: {reason: 'campaign-ended'}});
  });

  it('keeps those looks away too that wait for idle GPUs', async () => {
    const {said, clock, engine, start} = await bench();
    const hosts = [{kind: 'host', name: HOST}] as const;
    const when = {kind: 'idle', forMs: 300_000} as const;
    const added = await engine.addSchedule({when, zone: 'UTC', hosts, channel: null, quiet: true, by: 'os:bo'});
    if (!added.ok) throw new Error(JSON.stringify(added.failure));
    await id(start('profile', 'gpu-07'));
    const {looks} = said;
    clock.at += HOUR;
    expect((await engine.checkWatch(added.value.schedule.id)).ok).toBe(true);
    expect(said.looks).toBe(looks);
  });

  it('does not begin on a host that does not answer, nor on a GPU that is not there', async () => {
    const {said, engine, start} = await bench();
    expect(await start('profile', 'gpu-07 gpus=0,5')).toMatchObject({failure: {reason: 'gpu-absent', asked: '5'}});
    said.probe = null;
    expect(await start('profile', 'gpu-07')).toMatchObject({failure: {reason: 'host-unreachable'}});
    expect(await engine.holds()).toMatchObject({value: []});
  });

  it('ends on a host that does not answer, whose report is unknown, and made later', async () => {
    const {said, engine, start} = await bench();
    const campaign = await id(start('profile', 'gpu-07'));
    const {probe} = said;
    said.probe = null;
    expect(await engine.stopHold(campaign, ANNA)).toMatchObject({
      ok: true,
      value: {report: {hosts: [{state: 'unseen'}]}},
    });
    said.probe = probe;
    expect(await engine.campaignReport(campaign)).toMatchObject({value: {report: {hosts: [{state: 'seen'}]}}});
  });

  it('is one a GPU; one’s own keep beside it is no hindrance, another’s is', async () => {
    const {said, start} = await bench();
    await id(start('keep', 'gpu-07 until=2h mine'));
    await id(start('profile', 'gpu-07'));
    const {looks} = said;
    expect(await start('profile', 'gpu-07')).toMatchObject({
      failure: {reason: 'held-already', hold: {kind: 'profile'}},
    });
    expect(await start('profile', 'gpu-07 gpu-08', BO)).toMatchObject({failure: {reason: 'held-already'}});
    expect(await start('keep', 'gpu-07 until=2h why', BO)).toMatchObject({failure: {reason: 'held-already'}});
    expect(said.looks).toBe(looks);
    expect((await start('profile', 'gpu-08', BO)).ok).toBe(true);
  });

  it('reports on nothing before it is ended, and on none that is not there', async () => {
    const {engine, start} = await bench();
    const campaign = await id(start('profile', 'gpu-07'));
    expect(await engine.campaignReport(campaign)).toMatchObject({failure: {reason: 'campaign-running'}});
    expect(await engine.stopHold('c9', ANNA)).toMatchObject({failure: {reason: 'campaign-unknown'}});
    expect(await engine.stopHold('', ANNA)).toMatchObject({failure: {reason: 'campaign-unknown'}});
  });
});

describe('a hold', () => {
  it('keeps others’ reclaims out before anybody looks, and lets its holder and dry runs through', async () => {
    const {said, engine, start} = await bench();
    await id(start('keep', 'gpu-07 gpus=0 until=2h why'));
    const ask = (change: object) => engine.propose(aRequest({host: HOST, ...change}));
    expect(await ask({requester: BO})).toMatchObject({failure: {reason: 'gpus-held', holds: [{by: 'os:anna'}]}});
    expect(await ask({requester: BO, gpus: [0, 1]})).toMatchObject({failure: {reason: 'gpus-held'}});
    expect(await ask({requester: BO, reason: 'now'})).toMatchObject({failure: {reason: 'gpus-held'}});
    expect(said.looks).toBe(0);
    expect((await engine.openRuns()).ok && (await engine.recent(9))).toMatchObject({value: []});
    expect((await ask({requester: BO, dryRun: true})).ok).toBe(true);
    expect(said.looks).toBe(1);
  });

  it('is overridden with a reason, which the run keeps with whom it overrides', async () => {
    const {engine, start} = await bench();
    const hold = await id(start('keep', 'gpu-07 until=2h why'));
    await engine.propose(
      aRequest({host: HOST, requester: BO, dryRun: true, override: {why: 'prod is down', holds: []}}),
    );
    const runs = await engine.recent(1);
    const [run] = runs.ok ? runs.value : [];
    expect(run === undefined ? null : requestOf(run).override).toMatchObject({
      why: 'prod is down',
      holds: [{id: hold, by: 'os:anna'}],
    });
  });

  it('that came after the plan keeps the go back, unless its holder gives it', async () => {
    const {engine, start} = await bench();
    const proposed = await engine.propose(aRequest({host: HOST, requester: CARLA}));
    if (!proposed.ok) throw new Error(JSON.stringify(proposed.failure));
    const {run, digest} = proposed.value;
    expect(run.phase).toBe('awaiting-go');
    const hold = await id(start('keep', 'gpu-07 until=2h why', BO));
    const go = (person: Person) =>
      engine.approve({run, digest, person, choice: 'terminate-only', reason: null, atTerminal: false});
    expect(await go(CARLA)).toMatchObject({failure: {reason: 'gpus-held', holds: [{id: hold}]}});
    expect(await go(BO)).toMatchObject({ok: true, value: {phase: 'executing'}});
    // And nobody begins a campaign while it ends processes there.
    await engine.stopHold(hold, BO);
    expect(await start('profile', 'gpu-07')).toMatchObject({failure: {reason: 'host-busy', runId: run.id}});
  });

  it('holds until its time, and is ended by its holder or an approver only', async () => {
    const {clock, engine, start} = await bench();
    const hold = await id(start('keep', 'gpu-07 until=2h why', BO));
    expect(await engine.stopHold(hold, ANNA)).toMatchObject({failure: {reason: 'not-the-holder'}});
    const refused = () =>
      engine.propose(aRequest({host: HOST, requester: ANNA, dryRun: false, match: 'nobody at all'}));
    expect(await refused()).toMatchObject({failure: {reason: 'gpus-held'}});
    clock.at += 2 * HOUR;
    expect((await refused()).ok).toBe(true);
    expect(await engine.stopHold(hold, CARLA)).toMatchObject({ok: true, value: {report: {hosts: []}}});
  });

  it('has an end that is still to come', async () => {
    const {start} = await bench();
    expect(await start('keep', 'gpu-07 until=18:00 why')).toMatchObject({
      value: {campaign: {untilMs: Date.parse('2027-03-01T18:00:00Z')}},
    });
  });
});
