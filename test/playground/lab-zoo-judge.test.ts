/** The zoo's own rules: what it must not let pass. */
import {describe, expect, test} from 'vitest';
import {type Judged, judge, type Told, whyNot} from '../../src/playground/zoo-judge.ts';
import {ZOO, type ZooRow} from '../../src/playground/zoo-table.ts';
import {KEPT_WORD} from '../../src/report/wording.ts';

type Facts = Omit<Judged, 'broken'>;

function rowOf(change: Partial<ZooRow> = {}): ZooRow {
  const row: ZooRow = {species: 'x', finding: 'renamed', must: {what: 'free'}, needs: [], holder: 'x', workers: []};
  return {...row, ...change};
}

function factsOf(change: Partial<Facts> = {}): Facts {
  const facts: Facts = {
    species: 'x',
    findings: ['renamed'],
    freed: true,
    refused: null,
    serverGone: true,
    harmed: [],
    freedAfterMs: 90,
    report: '',
  };
  return {...facts, ...change};
}

function toldOf(change: {word?: string; beforeMiB?: number; afterMiB?: number; report?: string} = {}): Told {
  const {word = 'reclaimed', beforeMiB = 4_614, afterMiB = 0, report = ''} = change;
  return {
    plan: {targets: [], kept: []},
    outcome: {word, survivors: [], gpus: [{beforeMiB, afterMiB}], freedAfterMs: 90},
    report,
  };
}

describe('a species that must be freed', () => {
  test('is fine when it is', () => {
    expect(judge(rowOf(), factsOf(), toldOf(), true)).toEqual([]);
  });

  test.each<[string, Partial<Facts>, Parameters<typeof toldOf>[0], RegExp]>([
    ['is refused', {freed: false, refused: KEPT_WORD['in-use']}, {word: 'nothing-to-do'}, /not back: in use, kept/],
    ['has a server that lives', {serverGone: false}, {}, /server lives/],
    ['is freed, and an innocent is dead', {harmed: ['another user is dead']}, {}, /another user is dead/],
    ['has another name', {findings: ['bystander']}, {}, /not called renamed: bystander/],
    ['is not shown at all', {findings: []}, {}, /not shown at all/],
    ['is freed, and the outcome does not say so', {}, {word: 'partly'}, /outcome is partly/],
    ['is called reclaimed by figures that did not fall', {}, {afterMiB: 4_614}, /nothing came back/],
  ])('fails when it %s', (_, facts, told, sentence) => {
    expect(judge(rowOf(), factsOf(facts), toldOf(told), true).join('; ')).toMatch(sentence);
  });
});

describe('a species that must be refused', () => {
  const row = rowOf({must: {what: 'refuse', why: 'contained'}});
  const kept = {freed: false, serverGone: false, refused: KEPT_WORD.contained};
  const told = toldOf({word: 'nothing-to-do'});

  test('is fine when it is, by that word', () => {
    expect(judge(row, factsOf(kept), told, false)).toEqual([]);
  });

  test('fails when it is signalled, and when another word stands there', () => {
    expect(judge(row, factsOf(kept), told, true)).toEqual(['it was signalled']);
    expect(judge(row, factsOf({...kept, refused: KEPT_WORD['in-use']}), told, false)).toHaveLength(1);
  });
});

test('what stays must be owned up to, in the report and in the outcome', () => {
  const row = rowOf({must: {what: 'stay', says: /stuck/}});
  const facts = factsOf({freed: false});
  expect(judge(row, facts, toldOf({word: 'nothing-freed', report: 'PID 7: stuck'}), true)).toEqual([]);
  expect(judge(row, facts, toldOf({word: 'nothing-freed'}), true)).toHaveLength(1);
  expect(judge(row, facts, toldOf({report: 'PID 7: stuck'}), true)).toHaveLength(1);
});

test('why it was not freed comes from the plan, then from the report, then from the survivors', () => {
  const shown = {findings: [], why: 'protected'} as const;
  expect(whyNot(shown, undefined, {what: 'free'}, '')).toBe(KEPT_WORD.protected);
  expect(whyNot(undefined, undefined, {what: 'stay', says: /st\w+/}, 'is stuck')).toBe('stuck');
  expect(whyNot({findings: []}, undefined, {what: 'free'}, '')).toBeNull();
});

test('every species has a name of its own, and each of its holders is one that is made', () => {
  expect(new Set(ZOO.map((row) => row.species)).size).toBe(ZOO.length);
  for (const row of ZOO) {
    const parent = row.parent?.(row.workers);
    const made = [...row.workers, ...(row.beside ?? []), ...(parent === undefined ? [] : [parent])];
    const labels = made.flatMap((spec) => [spec.label, ...(spec.workers ?? []).map((one) => one.label)]);
    expect(labels).toContain(row.holder);
  }
});
