/** A stop of an owner as people read it: on the card, in the thread, afterwards. */
import {describe, expect, it} from 'vitest';
import type {StopResult} from '../../src/domain/order.ts';
import type {RunEvent} from '../../src/domain/run.ts';
import type {NoStop, Stop} from '../../src/domain/stop-owner.ts';
import {planLines} from '../../src/report/plan-card.ts';
import {workState} from '../../src/report/run-state-line.ts';
import {sentLines} from '../../src/report/sent-lines.ts';
import {shortPlanLines} from '../../src/report/short-plan.ts';
import {timeline} from '../../src/report/timeline.ts';
import {PHONE_COLUMNS} from '../../src/report/wrapped.ts';
import {threadReplies} from '../../src/slack/blocks/thread.ts';
import {aPlan, aRun, aTarget, MACHINE} from '../doubles/build.ts';

const UNIT = 'vllm@2.service';
const owner = {kind: 'unit', id: UNIT, name: UNIT, run: 'f0'} as const;
const stop: Stop = {...owner, folder: `/system.slice/${UNIT}`, pids: [500, 501], endsInKill: true, timeoutMs: 40_000};
const intended: RunEvent = {
  kind: 'stop-intended',
  atMs: 5,
  rung: 1,
  owner,
  identities: [aTarget({pid: 500}).identity],
  machine: MACHINE,
  notAfterUptimeMs: 9,
  timeoutMs: 1,
};
function answered(result: StopResult, detail = ''): Extract<RunEvent, {kind: 'stop-result'}> {
  return {kind: 'stop-result', atMs: 6, rung: 1, owner, result, detail, uptimeMs: 7};
}
const onOneLine = (lines: readonly string[]): string => lines.join(' ').replaceAll(/\s+/g, ' ');

describe('the card', () => {
  it('says whose processes end first and how many, and what no look can rule out', () => {
    const plan = aPlan({stops: [stop]});
    const lines = planLines(plan).map((line) => line.text);
    for (const line of [...lines, ...shortPlanLines(plan, 60)])
      expect([...line].length).toBeLessThanOrEqual(PHONE_COLUMNS);
    for (const text of [onOneLine(lines), onOneLine(shortPlanLines(plan, 60)), onOneLine(shortPlanLines(plan, 4))]) {
      expect(text).toContain(`stop unit ${UNIT} first (2 processes), then SIGTERM, kill -9`);
      expect(text).toContain('it may kill -9 by itself: no part of a go that ends at SIGTERM');
      expect(text).toContain('who joins it in the last moment ends too');
    }
  });

  it('does not warn of a kill where the unit sends none', () => {
    expect(onOneLine(shortPlanLines(aPlan({stops: [{...stop, endsInKill: false}]}), 60))).not.toContain(
      'kill -9 by itself',
    );
  });

  it.each<[Partial<NoStop>, string]>([
    [{why: 'dependents'}, 'other units would stop with it'],
    [{why: 'kept', pid: 501}, 'PID 501 stays'],
    [{why: 'unticked', pid: 501}, 'PID 501 is unticked'],
    [{why: 'unread'}, 'what it owns could not be read'],
  ])('says why not: %o', (change, words) => {
    const plan = aPlan({noStops: [{kind: 'docker', name: 'c0ffee', why: 'kept', pid: null, ...change}]});
    expect(onOneLine(shortPlanLines(plan, 60))).toContain(`Docker container c0ffee is not stopped first: ${words}`);
  });

  it('is as it was where nobody is to be stopped', () => {
    expect(onOneLine(shortPlanLines(aPlan(), 60))).not.toMatch(/stop/);
  });

  it('keeps names of hosts in their line', () => {
    const hostile = aPlan({noStops: [{kind: 'unit', name: 'a\nstop unit b first‮', why: 'kept', pid: 5}]});
    for (const line of shortPlanLines(hostile, 60)) expect(line).not.toMatch(/\n|‮/);
  });
});

describe('what became of it', () => {
  it('is told in thread, timeline and report', () => {
    const event = answered('changed', 'newcomer-4711');
    const run = aRun(intended, event);
    const words = `unit ${UNIT}: not stopped, changed since the plan (newcomer-4711)`;
    expect(JSON.stringify(threadReplies(run, event))).toContain(words);
    expect(timeline(run).join('\n')).toContain(words);
    expect(sentLines(run)).toEqual([`Owner: unit ${UNIT} not stopped, changed since the plan (newcomer-4711)`]);
    expect(threadReplies(run, intended)).toEqual([]);
  });

  it('is doubtful without an answer', () => {
    const run = aRun(intended);
    expect(sentLines(run)).toEqual([`May have been stopped: unit ${UNIT}; no answer came back`]);
    expect(workState(run)).toBe('terminating');
  });
});
