/** A grace that runs on: from what looks it is made, how long it counts, and what people hear of it. */
import {describe, expect, it} from 'vitest';
import type {Diagnosis} from '../../src/domain/diagnosis.ts';
import {growing, NOTHING_WRITTEN, nothingRead, type OpenFile, type WritesLook} from '../../src/domain/writing.ts';
import {batchFor} from '../../src/engine/batch.ts';
import {Ladder} from '../../src/engine/ladder.ts';
import type {Clock} from '../../src/engine/ports.ts';
import {RunOn} from '../../src/engine/run-on.ts';
import {ANNA, aDiagnosis, aPlan, aPolicy, aRequest, aRun, aSnapshot, aTarget} from '../doubles/build.ts';

function aClock(): Clock & {at: number} {
  const clock = {at: 0, now: () => clock.at, ticks: () => clock.at, wait: () => Promise.resolve()};
  return clock;
}

const SIZES = {first: {sizeBytes: 1, position: 1}, second: {sizeBytes: 2 ** 20 + 1, position: 2}};
const aFile = (pid: number, path = '/d/x.pt'): OpenFile => ({pid, asked: pid, path, mode: 'write', ...SIZES});
const aLook = (...files: readonly OpenFile[]): WritesLook => ({overMs: 500, files, unread: []});

describe('a grace that runs on', () => {
  it('has not been looked at at first, nor after a wait', () => {
    const runOn = new RunOn(aClock(), NOTHING_WRITTEN);
    expect(runOn.state()).toEqual({ranOnMs: 0, writing: null});
    runOn.saw(aLook(aFile(500)), [500]);
    expect(runOn.state().writing).toEqual(new Set([500]));
    runOn.waited();
    expect(runOn.state().writing).toBeNull();
    expect(runOn.writers()).toEqual(new Set([500]));
  });

  it('counts from the first look that saw somebody write', () => {
    const clock = aClock();
    const runOn = new RunOn(clock, NOTHING_WRITTEN);
    runOn.saw(aLook(), [500]);
    clock.at = 7_000;
    expect(runOn.state()).toEqual({ranOnMs: 0, writing: new Set()});
    runOn.saw(aLook(aFile(500)), [500]);
    clock.at = 12_000;
    runOn.saw(aLook(aFile(500)), [500]);
    expect(runOn.state().ranOnMs).toBe(5_000);
  });

  it('tells of each file and of each blind spot once, and of none that the plan told', () => {
    const runOn = new RunOn(aClock(), nothingRead([501]));
    const first = runOn.saw(aLook(aFile(500)), [500]);
    expect(first).toEqual(growing(aLook(aFile(500))));
    expect(runOn.saw(aLook(aFile(500)), [500])).toEqual(NOTHING_WRITTEN);
    const more = runOn.saw(aLook(aFile(500), aFile(500, '/d/y.pt')), [500]);
    expect(more.files.map((file) => file.path)).toEqual(['/d/y.pt']);
    expect(runOn.saw(null, [501, 502]).unread).toEqual([{pid: 502, path: null, why: 'no-answer'}]);
    expect(runOn.saw(null, [501, 502])).toEqual(NOTHING_WRITTEN);
  });

  it('takes nobody who wrote to have stopped because one look failed, and nobody to write for that', () => {
    const runOn = new RunOn(aClock(), NOTHING_WRITTEN);
    runOn.saw(null, [500]);
    expect(runOn.state().writing).toEqual(new Set());
    runOn.saw(aLook(aFile(500)), [500]);
    runOn.waited();
    runOn.saw(null, [500]);
    expect(runOn.state().writing).toEqual(new Set([500]));
    runOn.saw(aLook(), [500]);
    expect(runOn.state().writing).toEqual(new Set());
  });

  it('sees what a writer that paused has written since the look before', () => {
    const runOn = new RunOn(aClock(), NOTHING_WRITTEN);
    const paused = {...aFile(500), first: {sizeBytes: 2 ** 21, position: 5}, second: {sizeBytes: 2 ** 21, position: 5}};
    runOn.saw(aLook(aFile(500)), [500]);
    runOn.saw(aLook(paused), [500]);
    expect(runOn.state().writing).toEqual(new Set([500]));
    runOn.saw(aLook(paused), [500]);
    expect(runOn.state().writing).toEqual(new Set());
  });
});

it('a wait for a file watches its writer, also where SIGTERM would do nothing', () => {
  const clock = aClock();
  const deaf = aTarget({pid: 500, takesTerm: false, findings: ['deaf', 'writing']});
  const other = aTarget({pid: 501, takesTerm: false, findings: ['deaf']});
  const targets = [deaf, other, aTarget({pid: 502})];
  const diagnosis: Diagnosis = aDiagnosis(aSnapshot([]));
  const watched = (writers: readonly number[]) =>
    batchFor({
      run: aRun({kind: 'requested', atMs: 0, request: aRequest()}),
      move: {do: 'watch', watchMs: 5_000, last: false},
      approved: {plan: aPlan({targets}), targets, look: {snapshot: diagnosis.snapshot, diagnosis}},
      ladder: new Ladder(targets, clock),
      writers: new Set(writers),
      policy: aPolicy(),
      lookedAtTicks: 0,
      nowTicks: 0,
      approvedBy: ANNA,
    }).watch.map((identity) => identity.pid);
  expect(watched([])).toEqual([502]);
  expect(watched([500])).toEqual([500, 502]);
});
