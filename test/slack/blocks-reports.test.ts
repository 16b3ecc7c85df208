/** Messages of reports from data that wants to be something else, and from more of it than fits. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {HostReport} from '../../src/domain/host-report.ts';
import {changesBetween} from '../../src/domain/report-changes.ts';
import {type Schedule, scheduleId, type Why} from '../../src/domain/schedule.ts';
import type {FinishedReport, ShownSchedule} from '../../src/engine/report-ports.ts';
import {fleetTable} from '../../src/report/fleet-report.ts';
import {addedMessage, reportMessage, reportReplies, schedulesMessage} from '../../src/slack/blocks/report-message.ts';
import {aDiagnosis, aProcess, aSnapshot, billed} from '../doubles/build.ts';
import {codeLinesIn, expectSafe, expectTwin, hostile} from './blocks-hostile-text.ts';

const AT = 1_700_000_000_000;

/** A report with this text wherever a host or a person could have put some. */
function poisoned(text: string, count: number): FinishedReport {
  const host = hostName(text);
  const pinned = {host, bootId: text, pid: 7, startTicks: '1', title: text};
  const seen = (nth: number, pid: number): HostReport => ({
    state: 'seen',
    host: hostName(`${text}${nth}`),
    takenAtMs: AT,
    bootId: text,
    gpus: [{uuid: text, index: null, state: 'dirty', usedMiB: 99_999, unexplainedMiB: 99_999}],
    holders: [{pid, startTicks: text, title: text, finding: 'inheritor', chargedMiB: 1, gpus: [null, 0, 1]}],
  });
  const now: readonly HostReport[] = [
    ...Array.from({length: count}, (_, nth) => seen(nth, 7)),
    {state: 'gone', host},
    {
      state: 'failed',
      host: hostName(`${text}f`),
      failure: {reason: 'host-unreachable', host, address: text, detail: text},
    },
  ];
  const before = now.map((one, nth) => (one.state === 'seen' ? seen(nth, 8) : one));
  const why: Why = {kind: 'exited', pinned, how: 'replaced'};
  const report = {
    scheduleId: scheduleId('s00000'),
    dueAtMs: AT,
    phase: 'looked',
    begunAtMs: AT,
    late: true,
    missed: 9_999,
    why,
    seen: now,
  } as const;
  return {
    schedule: scheduleOf(text),
    report,
    diagnoses: new Map([
      [
        now[0]?.host ?? host,
        aDiagnosis(aSnapshot([billed(aProcess({pid: 7, words: [text], comm: text}), {0: 9})], {used: [99]})),
      ],
    ]),
    beforeMs: AT,
    changes: changesBetween(before, now, 0),
    skippedMs: Array.from({length: 12}, (_, nth) => AT + nth),
    nextMs: AT,
    message: null,
  };
}

function scheduleOf(text: string): Schedule {
  return {
    id: scheduleId('s00000'),
    when: {kind: 'cron', pattern: text},
    zone: text,
    hosts: [{kind: 'glob', pattern: text}, ...Array.from({length: 300}, () => ({kind: 'group', name: text}) as const)],
    channel: null,
    quiet: true,
    by: `os:${text}`,
    createdAtMs: AT,
  };
}

function shownOf(text: string): ShownSchedule {
  const {report} = poisoned(text, 1);
  return {schedule: scheduleOf(text), nextMs: AT, watch: null, message: null, nextTimes: [AT, AT, AT], last: report};
}

describe('whatever hosts and people write', () => {
  it('stays text in every message of a report, and fits', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(1, 40), (text, count) => {
        const finished = poisoned(text, count);
        expectSafe(reportMessage(finished, '/gpu', null));
        for (const reply of reportReplies(finished, '/gpu', true)) expectSafe(reply);
        expectSafe(addedMessage(shownOf(text), '/gpu', 'the channel', null));
        expectSafe(
          schedulesMessage(
            Array.from({length: 30}, () => shownOf(text)),
            '/gpu',
          ),
        );
      }),
      {numRuns: 25},
    );
  });

  it('keeps the table within a phone’s 42 columns', () => {
    for (const text of ['gpu-07', 'a-very-long-host-name.rack-17.example', '\u202e`<!here>`'])
      for (const line of [
        ...fleetTable(poisoned(text, 40).report.seen, 30),
        ...codeLinesIn(reportMessage(poisoned(text, 3), '/gpu', null)),
      ])
        expect([...line].length).toBeLessThanOrEqual(42);
  });
});

describe('what is left out', () => {
  it('is counted: hosts beyond the table, changes beyond the list, dirty hosts beyond the details', () => {
    const finished = poisoned('gpu-', 100);
    for (const message of [reportMessage(finished, '/gpu', null), ...reportReplies(finished, '/gpu', true)])
      expectTwin(message);
    const root = reportMessage(finished, '/gpu', null).text;
    const [, more, dirty, used] = /… (\d+) more · (\d+) dirty, 2 not seen · ([\d,]+)/.exec(root) ?? [];
    expect(root.match(/ · dirty · 99,999 · /g)).toHaveLength(102 - Number(more));
    expect(Number(more)).toBe(Number(dirty) + 2);
    expect(Number(used?.replaceAll(',', ''))).toBe(Number(dirty) * 99_999);
    expect(root).toMatch(/… 193 more changes/);
    const [first] = reportReplies(finished, '/gpu', true);
    expect(first?.text).toMatch(/99 more dirty: `\/gpu diagnose HOST`/);
  });
});
