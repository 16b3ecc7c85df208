import {describe, expect, it} from 'vitest';
import {campaignState, holdsGpus, holdsOn, holdsProcess, inTheWayOf, measuringOn} from '../../src/domain/campaign.ts';
import {compareHost, isAsBefore} from '../../src/domain/campaign-report.ts';
import {hostName} from '../../src/domain/host.ts';
import {type HostFacts, hostFacts} from '../../src/domain/host-facts.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {ANNA, aDiagnosis, aGpu, aProcess, aSnapshot, BO, billed, HOST, uuidOf} from '../doubles/build.ts';
import {aCampaign, aHolder, hostSettings, kept, settingsOf, someFacts} from '../doubles/campaign.ts';

const NOW = 10_000;
const XID = {uptimeMs: 150_000, busId: '00000000:01:00.0', code: 79, pid: null, text: 'GPU has fallen off the bus'};

const UNTOLD = {known: false, why: 'no-permission', token: '[Insufficient Permissions]'} as const;

function compared(now: HostFacts, before: HostFacts = someFacts(), change = {}) {
  return compareHost(aCampaign(change), before, now);
}

describe('the post-profiling report', () => {
  it('is the same where nothing differs', () => {
    const host = compared(someFacts());
    expect(isAsBefore(host)).toBe(true);
    expect(host).toMatchObject({leftovers: [], profilers: [], xids: [], ecc: [], mps: 'same', rebooted: false});
  });

  it.each<[string, HostFacts]>([
    ['a holder', someFacts({see: {holders: [aHolder(7)]}})],
    [
      'a profiler without a GPU',
      someFacts({
        settings: hostSettings([settingsOf(0), settingsOf(1)], {
          profilers: [{pid: 9, startTicks: '1', name: 'nsys', folder: '/x'}],
        }),
      }),
    ],
    ['a setting', someFacts({settings: hostSettings([settingsOf(0, {powerLimitW: figure(300)}), settingsOf(1)])})],
    ['a GPU that is gone', someFacts({settings: hostSettings([settingsOf(0)])})],
    ['settings that could not be read', someFacts({settings: null})],
    [
      'settings that nvidia-smi did not tell',
      someFacts({settings: hostSettings([], {smi: {state: 'timed-out', exitCode: null, note: ''}})}),
    ],
    [
      'shared memory',
      someFacts({
        deep: {
          leftovers: [{kind: 'file', name: 'psm_1', MiB: 64, uid: 0, ageMs: 1}],
          xids: [],
          mpsControl: null,
          mpsSeen: true,
        },
      }),
    ],
    [
      'a setting that was known and is not',
      someFacts({settings: hostSettings([settingsOf(0, {migMode: '[N/A]'}), settingsOf(1)])}),
    ],
    [
      'a power limit that nvidia-smi does not tell',
      someFacts({
        settings: hostSettings([
          settingsOf(0, {powerLimitW: {known: false, why: 'fault', token: '[Unknown Error]'}}),
          settingsOf(1),
        ]),
      }),
    ],
    [
      'ECC counts that could not be read',
      someFacts({settings: hostSettings([settingsOf(0, {eccVolatile: UNTOLD, eccAggregate: UNTOLD}), settingsOf(1)])}),
    ],
    ['an Xid', someFacts({deep: {leftovers: [], xids: [XID], mpsControl: null, mpsSeen: true}})],
    ['an ECC error', someFacts({settings: hostSettings([settingsOf(0, {eccVolatile: figure(2)}), settingsOf(1)])})],
    ['MPS', someFacts({deep: {leftovers: [], xids: [], mpsControl: 5, mpsSeen: true}})],
    ['half a sight', someFacts({fullSight: false})],
    [
      'unexplained memory',
      someFacts({see: {gpus: [{uuid: uuidOf(0), index: 0, state: 'dirty', usedMiB: 900, unexplainedMiB: 896}]}}),
    ],
  ])('is not the same with %s', (_, now) => {
    expect(isAsBefore(compared(now))).toBe(false);
  });

  it('compares nothing with settings that nvidia-smi did not tell at the start', () => {
    const before = someFacts({settings: hostSettings([], {smi: {state: 'timed-out', exitCode: null, note: ''}})});
    expect(compared(someFacts(), before)).toMatchObject({settings: null, eccUnread: null});
    expect(isAsBefore(compared(someFacts(), before))).toBe(false);
  });

  it('is the same where the driver has no such thing, then as now', () => {
    const none = {known: false, why: 'not-supported', token: '[N/A]'} as const;
    const gpu = (index: number) =>
      settingsOf(index, {migMode: '[N/A]', eccMode: '[N/A]', eccVolatile: none, eccAggregate: none});
    const facts = someFacts({settings: hostSettings([gpu(0), gpu(1)])});
    expect(isAsBefore(compared(facts, facts))).toBe(true);
  });

  it('tells who was left behind from who was there, by more than the PID', () => {
    const before = someFacts({see: {holders: [aHolder(7), aHolder(8)]}});
    const now = someFacts({
      see: {holders: [aHolder(7), aHolder(8, {startTicks: 'later'}), aHolder(9)]},
      findings: {9: ['inheritor', 'deaf']},
    });
    const host = compared(now, before);
    expect(host.leftovers.map(({holder, findings}) => [holder.pid, findings])).toEqual([
      [8, ['renamed']],
      [9, ['inheritor', 'deaf']],
    ]);
    expect(host.wereThere.map(({pid}) => pid)).toEqual([7]);
  });

  it('calls a holder a profiler that is one, and names no process twice', () => {
    const profiler = {pid: 7, startTicks: '70', name: 'nsys', folder: null};
    const host = compared(
      someFacts({
        see: {holders: [aHolder(7)]},
        settings: hostSettings([settingsOf(0), settingsOf(1)], {profilers: [profiler]}),
      }),
    );
    expect(host.leftovers.map((one) => one.profiler)).toEqual([true]);
    expect(host.profilers).toEqual([]);
  });

  it('has nobody of before after a reboot, and every fault of the new boot', () => {
    const before = someFacts({see: {holders: [aHolder(7)]}, uptimeMs: 900_000});
    const now = someFacts({
      see: {bootId: 'boot-2', holders: [aHolder(7)]},
      deep: {
        leftovers: [{kind: 'file', name: 'psm_1', MiB: 1, uid: 0, ageMs: 1}],
        xids: [XID],
        mpsControl: null,
        mpsSeen: true,
      },
      settings: hostSettings([
        settingsOf(0, {eccVolatile: figure(1), eccAggregate: figure(0)}),
        settingsOf(1, {eccAggregate: figure(3)}),
      ]),
    });
    const host = compared(now, before);
    expect(host).toMatchObject({rebooted: true, wereThere: [], xids: [{index: 1}], ecc: [{index: 1, more: 3}]});
    expect(host.leftovers).toHaveLength(1);
    expect(host.shared).toHaveLength(1);
  });

  it('counts only faults since the start, on the GPUs that are held', () => {
    const now = someFacts({
      deep: {leftovers: [], xids: [XID, {...XID, uptimeMs: 99_000}], mpsControl: null, mpsSeen: true},
    });
    expect(compared(now).xids).toHaveLength(1);
    expect(compared(now, someFacts(), {gpus: [0]}).xids).toEqual([]);
  });

  it('is about the GPUs that are held', () => {
    const now = someFacts({
      see: {holders: [aHolder(7, {gpus: [1]}), aHolder(8, {gpus: []})]},
      settings: hostSettings([settingsOf(0), settingsOf(1, {powerLimitW: figure(300)})]),
    });
    const host = compared(now, someFacts(), {gpus: [0]});
    expect(host.gpus.map(({index}) => index)).toEqual([0]);
    expect(host.leftovers.map(({holder}) => holder.pid)).toEqual([8]);
    expect(host.settings?.changes).toEqual([]);
    expect(host.clocks).toHaveLength(2);
  });

  it('has what was used before, at its end and now', () => {
    const used = (usedMiB: number) =>
      someFacts({see: {gpus: [{uuid: uuidOf(0), index: 0, state: 'occupied', usedMiB, unexplainedMiB: 0}]}});
    const host = compareHost(aCampaign(), used(4), used(10), {after: used(9_000)});
    expect(host.gpus).toMatchObject([{beforeMiB: 4, afterMiB: 9_000, nowMiB: 10}]);
    expect(compareHost(aCampaign(), used(4), used(10)).gpus).toMatchObject([{afterMiB: 10}]);
    const without = someFacts({see: {gpus: []}});
    expect(compareHost(aCampaign(), used(4), without).gpus).toMatchObject([
      {beforeMiB: 4, nowMiB: null, state: 'unknown'},
    ]);
  });

  it('names report files of the campaign only', () => {
    const file = (path: string, changedAtMs: number) => ({path, MiB: 1, changedAtMs});
    const settings = hostSettings([settingsOf(0), settingsOf(1)], {
      files: [file('/o/old.ncu-rep', 999), file('/o/new.ncu-rep', 1_000)],
    });
    expect(compared(someFacts({settings})).files.map(({path}) => path)).toEqual(['/o/new.ncu-rep']);
  });

  it('does not compare shared memory that either look did not see', () => {
    const blind = someFacts({deep: {leftovers: null, xids: null, mpsControl: null, mpsSeen: false}});
    expect(compared(blind)).toMatchObject({shared: null, xids: null, mps: 'unknown'});
    expect(compared(someFacts(), blind)).toMatchObject({shared: null, mps: 'unknown'});
    expect(compared(someFacts({deep: null}))).toMatchObject({shared: null, xids: null, mps: 'unknown'});
  });

  it('is made of a diagnosis', () => {
    const python = aProcess({pid: 4711, words: ['python3', 'bench.py']});
    const diagnosis = aDiagnosis(aSnapshot([billed(python, {1: 4_096})], {gpus: [aGpu(0), aGpu(1, 4_100)]}));
    const facts = hostFacts(diagnosis, null);
    expect(facts).toMatchObject({
      fullSight: true,
      settings: null,
      deep: null,
      busIds: {[uuidOf(1)]: '00000000:01:00.0'},
    });
    expect(facts.seen.holders.map(({pid}) => pid)).toEqual([4711]);
    expect(facts.findings['4711']).toEqual(facts.seen.holders.map(({finding}) => finding));
  });
});

describe('a hold', () => {
  it.each([
    ['another’s on this host', kept(), BO, null, true],
    ['one’s own', kept(), ANNA, null, false],
    ['another’s on another host', kept({hosts: [hostName('gpu-08')]}), BO, null, false],
    ['another’s on these GPUs', kept({gpus: [0, 1]}), BO, [1, 2], true],
    ['another’s on others', kept({gpus: [0, 1]}), BO, [2, 3], false],
    ['another’s on some, where all are wanted', kept({gpus: [7]}), BO, null, true],
    ['one whose time is over', kept({untilMs: NOW}), BO, null, false],
    ['one whose time is not over', kept({untilMs: NOW + 1}), BO, null, true],
    ['one that is ended', kept({}, {ended: {by: 'os:anna', atMs: 2, after: []}}), BO, null, false],
    ['a keep', kept({kind: 'keep', before: []}), BO, null, true],
  ])('%s', (_, one, person, gpus, inTheWay) => {
    expect(inTheWayOf(holdsOn([one], HOST, person, [], NOW), {host: HOST, gpus, pids: []})).toHaveLength(
      inTheWay ? 1 : 0,
    );
  });

  it('is no hindrance to the same person by another id', () => {
    const same = [['os:anna', 'os:bo']];
    expect(holdsOn([kept()], HOST, BO, same, NOW)).toEqual([]);
  });

  it('on a process holds that very process, and no GPU', () => {
    const one = kept({processes: [{host: HOST, bootId: 'b', pid: 7, startTicks: '70', title: 'x'}]}).campaign;
    expect(holdsProcess(one, {bootId: 'b'}, {pid: 7, startTicks: '70'})).toBe(true);
    expect(holdsProcess(one, {bootId: 'b'}, {pid: 7, startTicks: '71'})).toBe(false);
    expect(holdsProcess(one, {bootId: 'c'}, {pid: 7, startTicks: '70'})).toBe(false);
    expect(holdsProcess(one, {bootId: 'b'}, {pid: 8, startTicks: '70'})).toBe(false);
    expect(holdsGpus(one, HOST, null)).toBe(false);
    expect(holdsGpus({...one, gpus: [0]}, HOST, [0])).toBe(true);
  });

  it('of a campaign keeps looks away while it lasts; a keep does not', () => {
    expect(measuringOn([kept()], HOST, NOW)?.id).toBe('c0a1b2');
    expect(measuringOn([kept({gpus: [0]})], HOST, NOW)?.id).toBe('c0a1b2');
    expect(measuringOn([kept()], hostName('gpu-08'), NOW)).toBeNull();
    expect(measuringOn([kept({untilMs: NOW})], HOST, NOW)).toBeNull();
    expect(measuringOn([kept({kind: 'keep'})], HOST, NOW)).toBeNull();
  });

  it('is over by its time, and ended by a person', () => {
    expect(campaignState(kept({untilMs: NOW}), NOW)).toBe('over');
    expect(campaignState(kept({untilMs: NOW}, {ended: {by: 'x', atMs: 1, after: []}}), NOW)).toBe('ended');
  });
});
