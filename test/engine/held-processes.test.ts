/** Processes that are held by themselves: whom they keep out, by which identity, and how such a hold ends. */
import {describe, expect, it, vi} from 'vitest';
import type {Person} from '../../src/domain/person.ts';
import {requestOf} from '../../src/domain/run-state.ts';
import {StoreError} from '../../src/store/store-error.ts';
import {ANNA, aRequest, BO, HOST} from '../doubles/build.ts';
import {bench, H200} from '../doubles/campaign-bench.ts';

const CARLA: Person = {kind: 'os-user', name: 'carla', uid: 1002};
const PID = 1365;
/** The same host without that process. */
const GONE = H200.replaceAll(String(PID), '1999');
const REBOOTED = H200.replace(/boot_id \S+/, 'boot_id 00000000-0000-0000-0000-000000000001');

async function holding(words = `gpu-07 pid=${PID} until=2h why`) {
  const on = await bench();
  const started = await on.start('keep', words);
  if (!started.ok) throw new Error(JSON.stringify(started.failure));
  const ask = (change: object) => on.engine.propose(aRequest({host: HOST, requester: BO, ...change}));
  return {...on, campaign: started.value.campaign, ask};
}

describe('a hold on a process', () => {
  it('knows it by boot and start, and is one of a process that is there', async () => {
    const {campaign, start} = await holding();
    expect(campaign).toMatchObject({gpus: null, processes: [{host: HOST, pid: PID}]});
    expect(campaign.processes[0]?.startTicks).toMatch(/^\d+$/);
    expect(await start('keep', 'gpu-07 pid=999999 until=2h why')).toMatchObject({
      failure: {reason: 'process-absent', pid: 999_999},
    });
  });

  it('refuses who names it, before anybody looks', async () => {
    const {said, ask} = await holding();
    const {looks} = said;
    expect(await ask({pids: [PID]})).toMatchObject({
      failure: {reason: 'gpus-held', holds: [{gpus: null, processes: [{pid: PID}]}]},
    });
    expect(said.looks).toBe(looks);
  });

  it('refuses a plan that comes upon it by another way, and lets all others be', async () => {
    const {engine, ask} = await holding();
    expect(await ask({includeOthers: true})).toMatchObject({failure: {reason: 'gpus-held', holds: [{by: 'os:anna'}]}});
    const [run] = await engine.recent(1).then((runs) => (runs.ok ? runs.value : []));
    expect(run?.phase).toBe('closed');
    expect((await ask({pids: [1367]})).ok).toBe(true);
  });

  it('lets its holder and dry runs through, and who says why', async () => {
    const {engine, campaign, ask} = await holding();
    expect((await ask({includeOthers: true, dryRun: true})).ok).toBe(true);
    const over = await ask({includeOthers: true, override: {why: 'prod is down', holds: []}});
    if (!over.ok) throw new Error(JSON.stringify(over.failure));
    expect(requestOf(over.value.run).override).toMatchObject({why: 'prod is down', holds: [{id: campaign.id}]});
    await engine.cancel(over.value.run, BO, null);
    expect((await ask({includeOthers: true, requester: ANNA})).ok).toBe(true);
  });

  it('that came after the plan keeps the go back, unless its holder gives it', async () => {
    const on = await bench();
    const proposed = await on.engine.propose(aRequest({host: HOST, requester: CARLA, pids: [PID]}));
    if (!proposed.ok) throw new Error(JSON.stringify(proposed.failure));
    expect((await on.start('keep', `gpu-07 pid=${PID} until=2h why`, BO)).ok).toBe(true);
    const {run, digest} = proposed.value;
    const go = (person: Person) =>
      on.engine.approve({run, digest, person, choice: 'terminate-only', reason: 'x', atTerminal: true});
    expect(await go(CARLA)).toMatchObject({failure: {reason: 'gpus-held'}});
    expect((await go(BO)).ok).toBe(true);
  });

  it('is no hindrance to a campaign on the GPUs; another’s hold of the same process is', async () => {
    const {start} = await holding();
    expect(await start('keep', `gpu-07 pid=${PID} until=2h why`, BO)).toMatchObject({
      failure: {reason: 'held-already'},
    });
    expect((await start('keep', 'gpu-07 pid=1367 until=2h why', BO)).ok).toBe(true);
    expect((await start('profile', 'gpu-07', BO)).ok).toBe(true);
  });
});

describe('the end of such a hold', () => {
  it.each([
    ['gone', GONE],
    ['reboot', REBOOTED],
  ])('comes by itself, and is said: %s', async (how, probe) => {
    const {said, clock, engine, campaign, store, ask} = await holding();
    await engine.checkHeld(campaign.id);
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {watched: [campaign.id]}});
    said.probe = probe;
    await Promise.all([engine.checkHeld(campaign.id), engine.checkHeld(campaign.id)]);
    const [kept] = await store.campaigns.all(clock.at);
    expect(kept).toMatchObject({ended: {by: 'itself', atMs: clock.at}, notes: [{what: 'released', by: how}]});
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {watched: []}});
    expect((await ask({pids: [1367]})).ok).toBe(true);
  });

  it('does not come of a host that does not answer, that is gone from the file, or that is measured', async () => {
    const {said, clock, engine, restarted, campaign, store, start} = await holding();
    said.probe = null;
    await engine.checkHeld(campaign.id);
    said.probe = GONE;
    await restarted({hosts: []}).checkHeld(campaign.id);
    await start('profile', 'gpu-07', BO);
    const {looks} = said;
    await engine.checkHeld(campaign.id);
    expect(said.looks).toBe(looks);
    const [kept] = await store.campaigns.all(clock.at);
    expect(kept?.ended).toBeNull();
  });

  it('does not come of processes where GPUs are held as well', async () => {
    const {said, clock, engine, campaign, store} = await holding(`gpu-07 gpus=0 pid=${PID} until=2h why`);
    said.probe = GONE;
    expect(await engine.noticesOwed(clock.at)).toMatchObject({value: {watched: []}});
    await engine.checkHeld(campaign.id);
    const [kept] = await store.campaigns.all(clock.at);
    expect(kept?.ended).toBeNull();
  });
});

describe('a keep whose time has passed', () => {
  it('is ended though the bot died, or the store was full, between telling that and writing it', async () => {
    const {clock, store, engine, start} = await bench();
    const began = await start('keep', 'gpu-07 gpus=0 until=1h why');
    if (!began.ok) throw new Error(JSON.stringify(began.failure));
    const {id} = began.value.campaign;
    await store.campaigns.keepCard(id, {channel: 'C1', ts: '1.0'});
    clock.at += 2 * 3_600_000;
    const telling = {kind: 'told', card: {channel: 'C1', ts: '1.0'}} as const;
    const owed = async () => {
      const all = await engine.noticesOwed(clock.at);
      if (!all.ok) throw new Error(JSON.stringify(all.failure));
      return all.value.notices;
    };
    const end = vi
      .spyOn(store.campaigns, 'end')
      .mockRejectedValueOnce(new StoreError({reason: 'store-unwritable', path: 'x', detail: 'full'}));
    const [first] = await owed();
    if (first === undefined) throw new Error('nothing is owed');
    expect((await engine.noticeTold(first, telling)).ok).toBe(false);
    end.mockRestore();
    const [again] = await owed();
    expect(again?.what).toBe('over');
    if (again !== undefined) await engine.noticeTold(again, telling);
    expect(await owed()).toEqual([]);
    expect(await engine.holds()).toMatchObject({value: [{ended: {by: 'itself'}}]});
  });
});
