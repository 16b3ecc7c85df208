/** Bills that moved when the maker of shared memory died: told by an earlier look of the same boot, and by nothing less. */
import {describe, expect, it} from 'vitest';
import {movedBills, withMovedBills} from '../../src/domain/moved-bill.ts';
import type {Snapshot} from '../../src/domain/snapshot.ts';
import {
  aDiagnosis,
  aProcess,
  aSnapshot,
  BO_UID,
  billed,
  holderOf,
  holds,
  keptOf,
  MACHINE,
  PLAIN_ZOMBIE,
  planFor,
  targetOf,
  targetPids,
  uuidOf,
} from '../doubles/build.ts';

const maker = aProcess({pid: 500, words: ['python3', '-m', 'vllm.entrypoints.openai.api_server']});
const other = aProcess({pid: 501, words: ['python3', 'maker.py']});
const shared = aProcess({pid: 700, ppid: 1, uid: BO_UID, words: ['python3', 'shared_server.py']});
const THEN = {takenAtMs: 5};
const then = aSnapshot([billed(maker, {0: 4_614}), billed(shared, {0: 518})], {used: [5_147], ...THEN});
/** Figures as measured on an H200. */
const now = aSnapshot([billed(shared, {0: 4_614})], {used: [4_623]});

describe('a bill has moved', () => {
  it('by 4096 MiB to the importer when the exporter with 4614 died (H200)', () => {
    expect(movedBills([then], now)).toEqual([
      {
        gpuUuid: uuidOf(0),
        pid: 700,
        MiB: 4_096,
        from: [{pid: 500, name: 'vllm.entrypoints.openai.api_server', MiB: 4_614}],
        seenAtMs: 5,
      },
    ]);
    expect(holderOf(withMovedBills(aDiagnosis(now), [then]), 700)).toMatchObject({
      findings: ['importer', 'bystander'],
      chargedMiB: 4_614,
      mayKeep: [],
    });
    expect(holderOf(withMovedBills(aDiagnosis(now), [then]), 700).evidence[0]).toEqual({
      source: 'earlier-look',
      fact: 'its bill on GPU 0 grew by 4096 MiB; dead there: PID 500 vllm.entrypoints.openai.api_server, 4614 MiB',
    });
  });

  it.each<[string, Snapshot, Snapshot]>([
    [
      'to one that had the GPU open and no bill yet',
      aSnapshot([billed(maker, {0: 4_614}), holds(shared, [0])], THEN),
      aSnapshot([billed(shared, {0: 4_614})]),
    ],
    [
      'from one that is a plain zombie now',
      then,
      aSnapshot([{process: {...maker, ...PLAIN_ZOMBIE}}, billed(shared, {0: 4_614})]),
    ],
    [
      'from one whose number another process has by now',
      then,
      aSnapshot([{...maker, startTicks: '9'}, billed(shared, {0: 4_614})]),
    ],
  ])('%s', (_, before, after) => {
    expect(movedBills([before], after)).toMatchObject([{pid: 700, from: [{pid: 500}]}]);
  });

  it('from several at once', () => {
    const two = aSnapshot([billed(maker, {0: 4_614}), billed(other, {0: 4_614}), billed(shared, {0: 518})], THEN);
    const after = aSnapshot([billed(shared, {0: 8_710})]);
    expect(movedBills([two], after)).toMatchObject([{MiB: 8_192, from: [{pid: 500}, {pid: 501}]}]);
  });

  it('as an older look tells, when the newer ones only saw it afterwards', () => {
    const between = aSnapshot([billed(shared, {0: 4_614}), billed(other, {0: 900})], {takenAtMs: 6});
    expect(movedBills([then, between], now)).toMatchObject([{pid: 700, seenAtMs: 5}]);
  });
});

describe('no bill has moved', () => {
  it.each<[string, Snapshot, Snapshot]>([
    ['while its maker lives and has let go of it', then, aSnapshot([maker, billed(shared, {0: 4_614})])],
    ['while its maker lives', then, aSnapshot([billed(maker, {0: 4_614}), billed(shared, {0: 4_614})])],
    [
      'while the dead one is billed itself: somebody keeps its files',
      then,
      aSnapshot([billed(shared, {0: 4_614})], {
        charges: [{...then.charges[0], name: '[Not Found]'} as Snapshot['charges'][number]],
      }),
    ],
    ['on another GPU', then, aSnapshot([billed(shared, {0: 518, 1: 4_614})])],
    ['where a neighbour grew by more', then, aSnapshot([billed(shared, {0: 21_000})])],
    ['where a neighbour grew by less', then, aSnapshot([billed(shared, {0: 2_000})])],
    [
      'where a neighbour grew by next to nothing',
      aSnapshot([billed(maker, {0: 100}), billed(shared, {0: 518})], THEN),
      aSnapshot([billed(shared, {0: 578})]),
    ],
    ['to one that started since', then, aSnapshot([billed({...shared, startTicks: '9'}, {0: 4_614})])],
    ['to one that had nothing to do with that GPU', aSnapshot([billed(maker, {0: 4_614}), shared], THEN), now],
    ['as a look of another boot', {...then, machine: {...MACHINE, bootId: 'boot-0'}}, now],
    ['where we do not see everybody: not seen is not dead', then, {...now, sections: []}],
    [
      'where a figure is missing',
      aSnapshot(
        [
          billed(maker, {0: 4_614}),
          {
            ...billed(shared, {}),
            charges: [
              {
                ...now.charges[0],
                usedMiB: {known: false, why: 'not-supported', token: '[N/A]'},
              } as Snapshot['charges'][number],
            ],
          },
        ],
        THEN,
      ),
      now,
    ],
  ])('%s', (_, before, after) => {
    expect(movedBills([before], after)).toEqual([]);
  });

  it('in a diagnosis from inside another PID namespace: there the driver names strangers', () => {
    const inside = aDiagnosis({...now, sight: {...now.sight, foreignPidNamespace: true}});
    expect(withMovedBills(inside, [then])).toBe(inside);
  });
});

describe('who has a dead one’s memory', () => {
  it.each([{}, {match: 'vllm'}, {includeOthers: true}, {gpus: [0], includeOthers: true}])(
    'is never ticked for that, being shared for all we know: %j',
    (request) => {
      const plan = planFor(now, request, {earlier: [then]});
      expect(targetPids(plan)).toEqual([]);
      expect(keptOf(plan, 700)).toMatchObject({
        choosable: true,
        findings: ['importer', 'bystander'],
        chargedMiB: 4_614,
      });
    },
  );

  it('and is when it belongs to the request', () => {
    const family = aSnapshot([billed(maker, {0: 4_614}), billed({...shared, ppid: 500}, {0: 518})], THEN);
    expect(targetOf(planFor(now, {match: 'vllm'}, {earlier: [family]}), 700)).toMatchObject({
      belonging: {by: 'earlier-look'},
      findings: ['importer', 'renamed'],
    });
    expect(targetPids(planFor(now, {pids: [700]}, {earlier: [then]}))).toEqual([700]);
  });
});
