/** The ladder: every single state by table, every walk by property. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {
  KILL_WATCH_MS,
  type LadderState,
  type LadderStop,
  type LadderTarget,
  type Move,
  nextMove,
  WRITING_STEP_MS,
} from '../../src/domain/escalation.ts';
import type {Observation} from '../../src/domain/order.ts';
import type {TargetRole} from '../../src/domain/plan.ts';
import type {GoChoice} from '../../src/domain/run.ts';
import type {Signal} from '../../src/domain/signal.ts';

const ROLES: readonly TargetRole[] = ['server', 'leader', 'member'];
const LEFT: readonly Observation[] = ['alive', 'stuck'];
const OVER: readonly Observation[] = ['zombie', 'gone', 'replaced'];
const GRACE_MS = 30_000;
const LONGEST_MS = 600_000;

function aRung(change: Partial<LadderTarget> & {readonly pid: number}): LadderTarget {
  return {role: 'leader', takesTerm: true, attempts: [], seen: 'alive', mayWrite: false, excluded: false, ...change};
}

function aLadder(targets: readonly LadderTarget[], change: Partial<LadderState> = {}): LadderState {
  return {
    targets,
    choice: 'terminate-then-kill',
    graceMs: GRACE_MS,
    memberDelayMs: 5_000,
    sinceTermMs: 0,
    longestGraceMs: LONGEST_MS,
    ranOnMs: 0,
    writing: null,
    stops: [],
    ...change,
  };
}

const signal = (name: Signal, pids: readonly number[], watchMs: number, last: boolean): Move => ({
  do: 'signal',
  signal: name,
  pids,
  watchMs,
  last,
});
const term = (watchMs: number, last: boolean) => signal('SIGTERM', [500], watchMs, last);
const kill = signal('SIGKILL', [500], KILL_WATCH_MS, true);
const stop: Move = {do: 'stop'};

describe('one target', () => {
  it.each<[string, boolean, readonly Signal[], number, GoChoice, Move]>([
    ['gets SIGTERM first', true, [], 0, 'terminate-then-kill', term(GRACE_MS, false)],
    ['gets SIGTERM as the last thing of a go that ends there', true, [], 0, 'terminate-only', term(GRACE_MS, true)],
    [
      'is waited for until the grace is over',
      true,
      ['SIGTERM'],
      29_000,
      'terminate-then-kill',
      {do: 'watch', watchMs: 1_000, last: false},
    ],
    [
      'is waited for, and that is all',
      true,
      ['SIGTERM'],
      29_000,
      'terminate-only',
      {do: 'watch', watchMs: 1_000, last: true},
    ],
    ['is killed once the grace is over', true, ['SIGTERM'], 30_000, 'terminate-then-kill', kill],
    ['is never killed by a go that ends at SIGTERM', true, ['SIGTERM'], 30_000, 'terminate-only', stop],
    ['is killed once only', true, ['SIGTERM', 'SIGKILL'], 99_000, 'terminate-then-kill', stop],
    ['that is deaf or stopped is killed at once', false, [], 0, 'terminate-then-kill', kill],
    ['that is deaf or stopped gets nothing from such a go', false, [], 0, 'terminate-only', stop],
    ['that is deaf or stopped is killed once only', false, ['SIGKILL'], 0, 'terminate-then-kill', stop],
  ])('%s', (_, takesTerm, attempts, sinceTermMs, choice, move) => {
    for (const role of ROLES) {
      for (const seen of LEFT)
        expect(nextMove(aLadder([aRung({pid: 500, role, takesTerm, attempts, seen})], {choice, sinceTermMs}))).toEqual(
          move,
        );
      for (const seen of OVER)
        expect(nextMove(aLadder([aRung({pid: 500, role, takesTerm, attempts, seen})], {choice, sinceTermMs}))).toEqual(
          stop,
        );
      for (const seen of [...LEFT, ...OVER])
        expect(
          nextMove(
            aLadder([aRung({pid: 500, role, takesTerm, attempts, seen, excluded: true})], {choice, sinceTermMs}),
          ),
        ).toEqual(stop);
    }
  });

  it('stops when there is none', () => {
    expect(nextMove(aLadder([]))).toEqual(stop);
  });
});

describe('a workload', () => {
  const server = aRung({pid: 400, role: 'server'});
  const member = aRung({pid: 500, role: 'member'});

  it('is told at its top first, its members after the delay', () => {
    expect(nextMove(aLadder([server, member]))).toEqual(signal('SIGTERM', [400], 5_000, false));
    const told = {...server, attempts: ['SIGTERM'] as const};
    expect(nextMove(aLadder([told, member], {sinceTermMs: 5_100}))).toEqual(signal('SIGTERM', [500], GRACE_MS, false));
    const both = [told, {...member, attempts: ['SIGTERM'] as const}];
    expect(nextMove(aLadder(both, {sinceTermMs: 1_000}))).toEqual({do: 'watch', watchMs: 29_000, last: false});
    expect(nextMove(aLadder(both, {sinceTermMs: 30_000}))).toEqual(signal('SIGKILL', [400, 500], KILL_WATCH_MS, true));
  });

  it('whose top took its members along is over', () => {
    expect(
      nextMove(
        aLadder([
          {...server, attempts: ['SIGTERM'], seen: 'gone'},
          {...member, seen: 'gone'},
        ]),
      ),
    ).toEqual(stop);
  });

  it('gives its members their SIGTERM also when the grace is shorter than the delay', () => {
    expect(nextMove(aLadder([server, member], {graceMs: 1_000}))).toEqual(signal('SIGTERM', [400], 1_000, false));
    const told = {...server, attempts: ['SIGTERM'] as const};
    expect(nextMove(aLadder([told, member], {graceMs: 1_000, sinceTermMs: 1_100}))).toEqual(
      signal('SIGTERM', [500], 1_000, false),
    );
  });

  it('keeps nobody waiting for a deaf member: it is killed as soon as those that listen are gone', () => {
    const deaf = {...member, takesTerm: false};
    expect(nextMove(aLadder([server, deaf]))).toEqual(signal('SIGTERM', [400], GRACE_MS, false));
    expect(nextMove(aLadder([{...server, attempts: ['SIGTERM'], seen: 'gone'}, deaf], {sinceTermMs: 300}))).toEqual(
      signal('SIGKILL', [500], KILL_WATCH_MS, true),
    );
  });
});

describe('a target that may be in the middle of a file', () => {
  const told = {attempts: ['SIGTERM'] as const, mayWrite: true};
  const over = {sinceTermMs: GRACE_MS};
  const one = aRung({pid: 500, ...told});
  const idle = aRung({pid: 501, attempts: ['SIGTERM']});
  const look = (...pids: readonly number[]): Move => ({do: 'look', pids});
  const watch = (watchMs: number): Move => ({do: 'watch', watchMs, last: false});

  it.each<[string, readonly LadderTarget[], Partial<LadderState>, Move]>([
    ['is looked at before its kill', [one], {}, look(500)],
    ['is looked at, and nobody else', [idle, one], {}, look(500)],
    ['is killed once a look saw nothing grow', [one], {writing: new Set()}, kill],
    ['is waited for while it writes', [one], {writing: new Set([500])}, watch(WRITING_STEP_MS)],
    ['is looked at again after each wait', [one], {ranOnMs: WRITING_STEP_MS}, look(500)],
    [
      'is waited for no longer than the longest grace',
      [one],
      {ranOnMs: 567_000, writing: new Set([500])},
      watch(3_000),
    ],
    ['is killed when that is over, writing or not', [one], {ranOnMs: 570_000, writing: new Set([500])}, kill],
    ['is not even looked at then', [one], {ranOnMs: 570_000}, kill],
    ['is killed on time by a grace that was typed', [one], {longestGraceMs: GRACE_MS}, kill],
    ['is waited for by all the others', [idle, one], {writing: new Set([500])}, watch(WRITING_STEP_MS)],
    [
      'is of no concern once gone',
      [idle, {...one, seen: 'gone'}],
      {writing: new Set([500])},
      signal('SIGKILL', [501], KILL_WATCH_MS, true),
    ],
    [
      'is of no concern once refused',
      [idle, {...one, excluded: true}],
      {writing: new Set([500])},
      signal('SIGKILL', [501], KILL_WATCH_MS, true),
    ],
    ['is killed once only', [{...one, attempts: ['SIGTERM', 'SIGKILL']}], {writing: new Set([500])}, stop],
    ['is left alone by a go that ends at SIGTERM', [one], {choice: 'terminate-only'}, stop],
    ['is looked at where it is deaf, too', [{...one, takesTerm: false, attempts: []}], {sinceTermMs: 0}, look(500)],
    [
      'that writes counts only if it was asked about',
      [idle],
      {writing: new Set([501])},
      signal('SIGKILL', [501], KILL_WATCH_MS, true),
    ],
  ])('%s', (_, targets, change, move) => {
    expect(nextMove(aLadder(targets, {...over, ...change}))).toEqual(move);
  });

  it('changes nothing before the grace is over', () => {
    expect(nextMove(aLadder([{...one, attempts: []}], {writing: new Set([500])}))).toEqual(term(GRACE_MS, false));
    expect(nextMove(aLadder([one], {sinceTermMs: 29_000, writing: new Set([500])}))).toEqual(watch(1_000));
  });
});

describe('an owner that may be stopped', () => {
  const members = [aRung({pid: 500, role: 'server'}), aRung({pid: 501, role: 'member'})];
  const outside = aRung({pid: 600});
  const owner = (change: Partial<LadderStop> = {}): LadderStop => ({
    pids: [500, 501],
    endsInKill: true,
    tried: false,
    ...change,
  });
  const stopOwner = (at = 0): Move => ({do: 'stop-owner', at, watchMs: KILL_WATCH_MS, last: false});
  const terms = signal('SIGTERM', [500, 600], 5_000, false);

  it.each<[string, readonly LadderTarget[], Partial<LadderState>, Move]>([
    ['is stopped before anybody is signalled', [...members, outside], {stops: [owner()]}, stopOwner()],
    ['is stopped once only', [...members, outside], {stops: [owner({tried: true})]}, terms],
    ['comes after the one that was tried', [...members], {stops: [owner({tried: true}), owner()]}, stopOwner(1)],
    [
      'kills, and is no part of a go that ends at SIGTERM',
      [...members, outside],
      {stops: [owner()], choice: 'terminate-only'},
      {...terms},
    ],
    [
      'never kills, and is part of such a go',
      members,
      {stops: [owner({endsInKill: false})], choice: 'terminate-only'},
      stopOwner(),
    ],
    [
      'is left alone once a member had a signal',
      [{...outside, pid: 500, attempts: ['SIGTERM']}, members[1] ?? outside],
      {stops: [owner()], sinceTermMs: 5_100},
      signal('SIGTERM', [501], GRACE_MS, false),
    ],
    [
      'is left alone where a member may not be signalled',
      [members[0] ?? outside, {...outside, pid: 501, excluded: true}],
      {stops: [owner()]},
      signal('SIGTERM', [500], GRACE_MS, false),
    ],
    [
      'is stopped for the members that are left',
      [members[0] ?? outside, {...outside, pid: 501, seen: 'gone'}],
      {stops: [owner()]},
      stopOwner(),
    ],
    ['is stopped for the rest of what was planned', [members[0] ?? outside], {stops: [owner()]}, stopOwner()],
    [
      'is left alone with nobody left in it',
      [...members.map((one) => ({...one, seen: 'gone' as const})), outside],
      {stops: [owner()]},
      term600(GRACE_MS),
    ],
    ['is left alone with nobody left at all', [], {stops: [owner()]}, stop],
  ])('%s', (_, targets, change, move) => {
    expect(nextMove(aLadder(targets, change))).toEqual(move);
  });

  it.each<[string, Partial<LadderState>, Move]>([
    ['is looked at first', {}, {do: 'look', pids: [500]}],
    ['is stopped when nothing grows', {writing: new Set()}, stopOwner()],
    ['waits while it writes', {writing: new Set([500])}, {do: 'watch', watchMs: WRITING_STEP_MS, last: false}],
    ['waits no longer than the longest grace', {writing: new Set([500]), ranOnMs: 570_000}, stopOwner()],
    ['does not wait for others', {writing: new Set([600])}, stopOwner()],
  ])('whose member may write %s', (_, change, move) => {
    const writing = members.map((one) => ({...one, mayWrite: one.pid === 500}));
    expect(nextMove(aLadder([...writing, {...outside, mayWrite: true}], {stops: [owner()], ...change}))).toEqual(move);
  });

  it('that never kills waits for no file: neither does SIGTERM', () => {
    const writing = members.map((one) => ({...one, mayWrite: true}));
    expect(nextMove(aLadder(writing, {stops: [owner({endsInKill: false})]}))).toEqual(stopOwner());
  });

  function term600(watchMs: number): Move {
    return signal('SIGTERM', [600], watchMs, false);
  }
});

interface Fate {
  readonly seen: Observation;
  readonly excluded: boolean;
}
type Sent = Extract<Move, {readonly do: 'signal'}>;

const isLeft = (one: LadderTarget) => !one.excluded && LEFT.includes(one.seen);
const walks = fc.record({
  choice: fc.constantFrom<GoChoice>('terminate-then-kill', 'terminate-only'),
  graceMs: fc.nat(60_000),
  memberDelayMs: fc.nat(10_000),
  targets: fc.array(fc.record({role: fc.constantFrom(...ROLES), takesTerm: fc.boolean(), mayWrite: fc.boolean()}), {
    minLength: 1,
    maxLength: 5,
  }),
  // What becomes of one target at each step; most stay as they are.
  fates: fc.array(
    fc.record({
      step: fc.nat(6),
      at: fc.nat(4),
      fate: fc.record<Fate>({seen: fc.constantFrom(...LEFT, ...OVER), excluded: fc.boolean()}),
    }),
    {maxLength: 8},
  ),
  longestGraceMs: fc.nat(120_000),
  owners: fc.array(fc.record({of: fc.subarray([0, 1, 2, 3, 4], {minLength: 1}), endsInKill: fc.boolean()}), {
    maxLength: 3,
  }),
  // What each look sees being written, by place among the targets; nothing any more after the last.
  looks: fc.array(fc.subarray([0, 1, 2, 3, 4]), {maxLength: 20}),
  // The part of a watch that really passed: a lost connection cuts it short.
  passed: fc.constantFrom(0.4, 1),
});

it('whatever comes of each signal: gently before hard, once each, nobody who is over or refused, and an end', () => {
  fc.assert(
    fc.property(
      walks,
      ({choice, graceMs, longestGraceMs, memberDelayMs, targets: written, owners, fates, looks, passed}) => {
        let targets: readonly LadderTarget[] = written.map((one, at) => aRung({pid: 500 + at, ...one}));
        let stops: readonly LadderStop[] = owners.map(({of, endsInKill}) => ({
          pids: of.map((at) => 500 + at),
          endsInKill,
          tried: false,
        }));
        let sinceTermMs = 0;
        let ranOnFrom: number | null = null;
        let nowMs = 0;
        let looked = 0;
        let writing: ReadonlySet<number> | null = null;
        for (let step = 0; step < 120; step += 1) {
          const ranOnMs = ranOnFrom === null ? 0 : nowMs - ranOnFrom;
          const state = {targets, stops, choice, graceMs, longestGraceMs, memberDelayMs, sinceTermMs, ranOnMs, writing};
          const move = nextMove(state);
          if (move.do === 'stop') return checkEnd(targets, choice);
          if (move.do === 'look') {
            expect(writing).toBeNull();
            for (const pid of move.pids) expect(targets.find((one) => one.pid === pid)).toMatchObject({mayWrite: true});
            writing = new Set((looks[looked] ?? []).map((at) => 500 + at));
            looked += 1;
            if (writing.size > 0) ranOnFrom ??= nowMs;
            continue;
          }
          if (move.do === 'signal' && move.signal === 'SIGKILL') checkPatience(state, targets);
          if (move.do === 'signal') expect(dueStops(state)).toEqual([]);
          if (move.do === 'stop-owner') {
            const asked = stops[move.at];
            if (asked === undefined) throw new Error('stopped a stranger');
            expect(dueStops(state)).toContain(asked);
            if (asked.endsInKill)
              checkPatience(
                state,
                targets.filter((one) => asked.pids.includes(one.pid)),
              );
            stops = stops.map((one) => (one === asked ? {...one, tried: true} : one));
          }
          writing = null;
          if (move.do === 'signal') {
            checkSignal(move, targets, choice);
            if (move.signal === 'SIGKILL' && targets.some((one) => isLeft(one) && one.attempts.includes('SIGTERM')))
              expect(sinceTermMs).toBeGreaterThanOrEqual(graceMs);
            if (move.signal === 'SIGTERM') sinceTermMs = 0;
            const {pids, signal: name} = move;
            targets = targets.map((one) =>
              pids.includes(one.pid) ? {...one, attempts: [...one.attempts, name]} : one,
            );
          }
          const passedMs = Math.max(1, Math.ceil(move.watchMs * passed));
          sinceTermMs += passedMs;
          nowMs += passedMs;
          targets = targets.map((one, at) => {
            const fate = fates.find((each) => each.step === step && each.at === at)?.fate;
            return fate === undefined || OVER.includes(one.seen)
              ? one
              : {...one, seen: fate.seen, excluded: one.excluded || fate.excluded};
          });
        }
        throw new Error('no end');
      },
    ),
    {numRuns: 500},
  );
});

/** Untried, allowed by the go, every member may still be ended, none was signalled, and one is left. */
function dueStops({stops, targets, choice}: LadderState): readonly LadderStop[] {
  return stops.filter(({pids, endsInKill, tried}) => {
    const members = targets.filter((one) => pids.includes(one.pid));
    const isFree = members.every((one) => !one.excluded && one.attempts.length === 0);
    return !tried && isFree && members.some(isLeft) && (choice === 'terminate-then-kill' || !endsInKill);
  });
}

/** Nobody is killed unlooked at, nor in the middle of a file, while the grace may run on. */
function checkPatience(
  {writing, longestGraceMs, graceMs, ranOnMs}: LadderState,
  doomed: readonly LadderTarget[],
): void {
  const mayWrite = doomed.filter((one) => isLeft(one) && one.mayWrite && !one.attempts.includes('SIGKILL'));
  if (mayWrite.length === 0 || longestGraceMs - graceMs <= ranOnMs) return;
  expect(writing).not.toBeNull();
  expect(mayWrite.filter((one) => writing?.has(one.pid))).toEqual([]);
}

/** Everybody who is left had all that the go covers, and nobody more. */
function checkEnd(targets: readonly LadderTarget[], choice: GoChoice): void {
  for (const one of targets.filter(isLeft)) {
    const due: readonly Signal[] = choice === 'terminate-only' ? [] : ['SIGKILL'];
    expect(one.attempts).toEqual(one.takesTerm ? ['SIGTERM', ...due] : due);
  }
}

function checkSignal(move: Sent, targets: readonly LadderTarget[], choice: GoChoice): void {
  expect(move.pids.length).toBeGreaterThan(0);
  if (move.signal === 'SIGKILL') expect(choice).toBe('terminate-then-kill');
  for (const pid of move.pids) {
    const one = targets.find((target) => target.pid === pid);
    if (one === undefined) throw new Error('signalled a stranger');
    expect(isLeft(one)).toBe(true);
    if (move.signal === 'SIGKILL') expect(one.attempts).toEqual(one.takesTerm ? ['SIGTERM'] : []);
    else expect([one.takesTerm, one.attempts]).toEqual([true, []]);
    if (move.signal === 'SIGTERM' && one.role === 'member') {
      const tops = targets.filter((each) => each.role !== 'member' && each.takesTerm && isLeft(each));
      for (const top of tops) expect(top.attempts).toContain('SIGTERM');
    }
  }
}
