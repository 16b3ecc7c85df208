/** What dead PIDs were called: told by an earlier look of the same boot that saw them alive and billed. */
import {describe, expect, it} from 'vitest';
import {knownAs} from '../../src/domain/kinship.ts';
import {
  aDeadCharge,
  aProcess,
  aSnapshot,
  billed,
  holds,
  MACHINE,
  PLAIN_ZOMBIE,
  planFor,
  targetOf,
} from '../doubles/build.ts';

const SEEN_AT = Date.UTC(2026, 11, 1, 22, 40);
const rank = aProcess({pid: 768, words: ['VLLM::Worker_TP0']});
const loader = holds(aProcess({pid: 769, ppid: 1, comm: 'pt_data_worker'}), [0]);
const now = aSnapshot([loader], {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)], takenAtMs: SEEN_AT + 7_200_000});
const then = aSnapshot([billed(rank, {0: 4_614})], {takenAtMs: SEEN_AT});

describe('a dead PID', () => {
  it('is known by the name that it had while it lived', () => {
    expect(knownAs([768], now, [then])).toEqual([{pid: 768, title: 'VLLM::Worker_TP0', seenAtMs: SEEN_AT}]);
    const [evidence] = targetOf(planFor(now, {}, {earlier: [then]}), 769).evidence.filter(
      ({source}) => source === 'earlier-look',
    );
    expect(evidence?.fact).toBe('dead PID 768 was seen 22:40 UTC as VLLM::Worker_TP0');
  });

  it('by the newest look of them all', () => {
    const older = aSnapshot([billed({...rank, words: ['python3', 'boot.py']}, {0: 4_614})], {takenAtMs: SEEN_AT - 1});
    expect(knownAs([768], now, [older, then]).map((one) => one.title)).toEqual(['VLLM::Worker_TP0']);
    expect(knownAs([768], now, [older]).map((one) => one.title)).toEqual(['boot.py']);
  });

  it.each([
    ['of another boot', {...then, machine: {...MACHINE, bootId: 'boot-0'}}],
    ['that is later', {...then, takenAtMs: now.takenAtMs + 1}],
    ['in which it was not billed', aSnapshot([rank], {takenAtMs: SEEN_AT})],
    [
      'in which it was dead already',
      aSnapshot([billed(aProcess({pid: 768, ...PLAIN_ZOMBIE}), {0: 4_614})], {takenAtMs: SEEN_AT}),
    ],
    ['that has another PID', aSnapshot([billed({...rank, pid: 767}, {0: 4_614})], {takenAtMs: SEEN_AT})],
  ])('is not known by a look %s', (_, look) => {
    expect(knownAs([768], now, [look])).toEqual([]);
  });
});
