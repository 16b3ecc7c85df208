/** The thread: one message for each new fact, and silence for the rest. */
import {describe, expect, it} from 'vitest';
import type {OutcomeWord} from '../../src/domain/outcome.ts';
import type {Run, RunEvent} from '../../src/domain/run.ts';
import {broadcasts, threadReplies} from '../../src/slack/blocks/thread.ts';
import {aSnapshot, aTarget, MACHINE} from '../doubles/build.ts';
import {codeLinesIn, expectSafe} from './blocks-hostile-text.ts';
import {
  AT,
  anOutcome,
  approved,
  CARD,
  closedAs,
  type EventOf,
  GOER,
  ghostPlan,
  gpuChanges,
  killed,
  laterNote,
  planned,
  reclaimedRun,
  requested,
  runOf,
  surveyed,
  UNIT_IS_BACK,
} from './blocks-runs.ts';

const waitingRun = runOf('awaiting-go', requested, surveyed, planned(ghostPlan()));

/** The only reply to this event, which is the run's last unless it stands in it. */
function replyTo(run: Run, event: RunEvent): string {
  const whole = run.events.includes(event) ? run : {...run, events: [...run.events, event]};
  const replies = threadReplies(whole, event, CARD);
  for (const reply of replies) expectSafe(reply);
  expect(replies.length).toBeLessThanOrEqual(1);
  return replies[0]?.text ?? '';
}

it('a kill -9 that waits for a file is told, with when it is sent all the same', () => {
  const file = {pid: 4012, writerPid: 4012, path: '/d/<!channel>.json.gz', what: 'trace', MiBPerSecond: 38} as const;
  expect(
    replyTo(waitingRun, {kind: 'still-writing', atMs: AT, files: [file], unread: [], untilMs: AT + 60_000}),
  ).toMatch(
    /^\*kill -9 is due\*\nkill -9 waits: PID 4012 writing .+\.json\.gz, \+38 MiB\/s; until <!date\^[^>]+> at most$/,
  );
});

describe('the first plan', () => {
  const text = replyTo(waitingRun, planned(ghostPlan()));

  it('comes with the figures of each GPU and the evidence of each process', () => {
    expect(text).toMatchInlineSnapshot(`
      "*What was found on gpu-07*, <!date^1700000002^{time_secs}|2023-11-14 22:13:22 UTC>
      GPU      used /    total     after
       0     96,844 /  143,771         4
       1     96,844 /  143,771         4
       2     96,844 /  143,771         4
       3     96,844 /  143,771         4
       4          4 /  143,771         4
       5          4 /  143,771         4
       6     21,630 /  143,771    21,630
       7          4 /  143,771         4
      ☑ PID 244199 python3
        ghost: child of a dead process, ignores
          SIGTERM · uid 0 · up 3 h 12 m · GPU
          0-3, 387,376 MiB
        · billed to dead PID 244180, 244181
        · billed to dead PID 244180 on GPU 0-3
          [charges]
        · 83 device files open [open-files]
        · no wait for SIGTERM
        Its parent is dead, but it was forked
          with the device files open: the driver
          still bills the dead PID, and the
          memory ends only with this one.
        May be done: SIGTERM, then kill -9 of
          this one; the dead PID cannot be
          signalled.
      ☐ PID 250331 train.py
        in use, kept · bo · up 3 d · GPU 6,
          21,630 MiB
        Next: ask its owner.
      🔒 PID 1200 nvidia-persistenced
        protected · bo · up 60 s
      A go is needed: <!subteam^S0ONCALL>, <@U0BOB>"
    `);
  });

  it('names the approvers, once in the whole thread', () => {
    const all = [...waitingRun.events, approved, ...killed(), ...reclaimedRun().events.slice(-1)]
      .map((event) => replyTo(reclaimedRun(), event))
      .join('\n');
    expect(text.match(/S0ONCALL/g)).toHaveLength(1);
    expect(all).not.toContain('S0ONCALL');
  });

  it('fits a phone', () => {
    const lines = threadReplies(waitingRun, planned(ghostPlan())).flatMap(codeLinesIn);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => [...line].length > 42)).toEqual([]);
  });
});

describe('a decision', () => {
  it.each<readonly [string, RunEvent, string]>([
    [
      'a go',
      approved,
      'Go by <@U0BOB> at <!date^1700000070^{time_secs}|2023-11-14 22:14:30 UTC>: SIGTERM, then kill -9',
    ],
    [
      'break-glass',
      {...approved, breakGlass: true, reason: 'prod is down'},
      'go without a second approver by <@U0BOB>',
    ],
    [
      'break-glass, to the owners',
      {...approved, breakGlass: true, reason: 'prod is down'},
      '\nIt ends what belongs to 1 process of nobody in the hosts file.',
    ],
    ['break-glass, with its reason', {...approved, breakGlass: true, reason: 'prod is down'}, ': prod is down'],
    ['"Leave it"', {kind: 'denied', atMs: AT, by: GOER, reason: 'mine'}, 'Left as it is by <@U0BOB>'],
    ['expiry, and how to go on', {kind: 'expired', atMs: AT}, '<@U0ANNA> may ask again: that makes a fresh look.'],
    ['a stop', {kind: 'cancelled', atMs: AT, by: 'os:anna', reason: null}, 'Stopped by anna (terminal)'],
    ['a choice by hand', planned({...ghostPlan(), version: 2}), 'Chosen by hand*: version 2'],
  ])('%s is said', (_what, event, line) => {
    expect(replyTo(waitingRun, event)).toContain(line);
  });
});

it('calls the owners of what a break-glass go ends, each once', () => {
  const owned = (pid: number, person: string | null) => aTarget({pid, ownership: {person, uid: 1001, by: 'uid'}});
  const plan = {...ghostPlan(), targets: [owned(1, 'U0BOB77'), owned(2, 'bo'), owned(3, 'U0BOB77'), owned(4, null)]};
  const run = runOf('executing', requested, surveyed, planned(plan), {...approved, breakGlass: true});
  const [reply] = threadReplies(run, {...approved, breakGlass: true});
  expect(reply?.text).toMatch(/\nIt ends what belongs to <@U0BOB77>, bo, 1 process of nobody in the hosts file\.$/);
});

describe('drift', () => {
  it('is said line by line, and no drift is no news', () => {
    const rechecked = (drift: Extract<RunEvent, {kind: 'rechecked'}>['drift']): RunEvent => ({
      kind: 'rechecked',
      atMs: AT,
      snapshot: aSnapshot([]),
      drift,
    });
    expect(replyTo(waitingRun, rechecked([]))).toBe('');
    expect(
      replyTo(
        waitingRun,
        rechecked([
          {pid: 7, what: 'gone', detail: ''},
          {pid: 8, what: 'replaced', detail: 'start ticks'},
        ]),
      ),
    ).toBe(
      '*Changed since the plan; what changed is not signalled*\nPID 7 ended by itself\nPID 8 is another process now (start ticks)',
    );
  });
});

describe('a rung of the ladder', () => {
  const identities = [7, 8, 9].map((pid) => aTarget({pid}).identity);
  const intended = (rung: number): RunEvent => ({
    kind: 'signal-intended',
    atMs: AT,
    rung,
    identities,
    signal: 'SIGTERM',
    machine: MACHINE,
    notAfterUptimeMs: 1,
  });
  const result = (pid: number, rung: number, what: 'sent' | 'gone' | 'not-permitted', atMs = AT): RunEvent => ({
    kind: 'signal-result',
    atMs,
    rung,
    pid,
    signal: 'SIGTERM',
    result: what,
    detail: '',
    uptimeMs: 1,
  });
  const events = [intended(1), result(7, 1, 'sent'), result(8, 1, 'not-permitted'), result(9, 1, 'sent')];
  const run = runOf('executing', ...waitingRun.events, approved, ...events);

  it('is told once, when its last answer is in, by kind of result', () => {
    expect(events.map((event) => replyTo(run, event))).toEqual([
      '',
      '',
      '',
      '*Step 1*\nSIGTERM to 2 processes: sent; PID 7, 9\nSIGTERM to 1 process: not permitted; PID 8',
    ]);
  });

  it('is told although the run is further on by then, and from the store', () => {
    const later = runOf(
      'closed',
      ...run.events,
      {kind: 'seen', atMs: AT, pid: 7, observation: 'gone', uptimeMs: 2},
      closedAs('partly'),
    );
    expect(replyTo(later, later.events.at(-3) ?? approved)).toContain('Step 1');
    expect(threadReplies(later, structuredClone(events[3] ?? approved))).toHaveLength(1);
  });

  it('of a second go is not taken for that of the first', () => {
    const again = [
      intended(1),
      result(7, 1, 'sent', AT + 9),
      result(8, 1, 'sent', AT + 9),
      result(9, 1, 'sent', AT + 9),
    ];
    const second = runOf('executing', ...run.events, approved, ...again);
    expect(again.map((event) => replyTo(second, event)).filter((text) => text !== '')).toEqual([
      '*Step 1*\nSIGTERM to 3 processes: sent; PID 7-9',
    ]);
  });
});

describe('the outcome', () => {
  const survivors = [
    {pid: 244_199, name: 'python3', observation: 'stuck', findings: [], why: 'stuck-in-kernel'},
  ] as const;
  const gpus = gpuChanges([96_844, 4, 4, 4, 4, 4, 21_630, 4]);

  it('is a table per GPU, what was sent, who is left, and what is free', () => {
    const closed = reclaimedRun().events.at(-1) ?? approved;
    expect(replyTo(reclaimedRun(), closed)).toMatchInlineSnapshot(`
      "*✅ gpu-07: reclaimed 378 GiB (387,360 MiB), 7 of 8 free*
      GPU · MiB before · after · change · now
      0 · 96,844 · 4 · -96,840 · free
      1 · 96,844 · 4 · -96,840 · free
      2 · 96,844 · 4 · -96,840 · free
      3 · 96,844 · 4 · -96,840 · free
      4 · 4 · 4 · 0 · free
      5 · 4 · 4 · 0 · free
      6 · 21,630 · 21,630 · 0 · train.py
      7 · 4 · 4 · 0 · free
      sum · 409,018 · 21,658 · -387,360
      Sent: kill -9 to 1 process (PID 244199)
      Verified free 0.4 s after the last signal
      Surviving targets: none
      Kept alive: 250331 train.py, 1200 nvidia-persiste…
      Blocks a start: PID 250331 train.py (bo) on GPU 6, 21,630 MiB
      GPUs free now: 7 of 8; 8-GPU start not possible: GPU 6 (bo)
      Run 7f3a00, 80 s in all · by hand: \`gpu-reclaim show 7f3a00\`"
    `);
  });

  it('has a table that fits a phone, also with long names', () => {
    const long = gpus.map((gpu) => ({
      ...gpu,
      heldBy: ['aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbb'].map((name) => ({pid: 1, name, chargedMiB: 9})),
    }));
    const closed = closedAs('partly', {gpus: long});
    const run = runOf('closed', ...waitingRun.events, approved, ...killed(), closed);
    expect(
      threadReplies(run, closed)
        .flatMap(codeLinesIn)
        .filter((line) => [...line].length > 42),
    ).toEqual([]);
  });

  it('names each survivor with the reason, and the next safe step', () => {
    const closed = closedAs('partly', {gpus, survivors});
    const text = replyTo(runOf('closed', ...waitingRun.events, approved, ...killed(), closed), closed);
    expect(text).toContain('• PID 244199 python3: does not end although kill -9 was sent');
    expect(text).toContain('Next: drain gpu-07 and reboot it when it is empty');
  });

  it.each<readonly [string, readonly RunEvent[]]>([
    ['left', [{kind: 'denied', atMs: AT, by: GOER, reason: null}, closedAs('denied')]],
    ['expired', [{kind: 'expired', atMs: AT}, closedAs('expired')]],
    ['cancelled while it waited', [{kind: 'cancelled', atMs: AT, by: 'os:anna', reason: null}, closedAs('cancelled')]],
    ['a dry run', [closedAs('dry-run', {gpus})]],
    ['nothing to do', [closedAs('nothing-to-do', {gpus})]],
  ])('of a run that was %s is not said twice', (_what, events) => {
    const run = runOf('closed', ...waitingRun.events, ...events);
    expect(replyTo(run, events.at(-1) ?? approved)).toBe('');
  });

  it('of a failed look says why, with people as mentions', () => {
    const closed = closedAs('failed', {because: {reason: 'paused', by: 'slack:U0BOB', atMs: AT}});
    expect(replyTo(runOf('closed', requested, closed), closed)).toMatch(/Paused by <@U0BOB> .* "\/gpu resume"/);
  });

  it('tells what came back, by whom and how that is stopped', () => {
    const text = replyTo(reclaimedRun(), laterNote({returns: [UNIT_IS_BACK]}));
    expect(text).toContain('Came back on gpu-07');
    expect(text).toContain('<@U0ANNA> asked for it');
    expect(text).toContain(
      'returned at +10 m: unit vllm@2.service started vllm.entrypoints again, PID 812-813, 193,688 MiB on GPU 0-1; it stops with: systemctl stop vllm@2.service',
    );
  });

  it('says nothing of a later look that found no return, none that is new, or nothing at all', () => {
    const start = {pid: 9, startTicks: '1', name: 'train.py', ownership: BO_OWNS, gpus: [0], MiB: 4_000};
    const failure = {reason: 'paused', by: 'slack:U0BOB', atMs: AT} as const;
    const quiet: readonly EventOf<'noted'>[] = [
      laterNote(),
      laterNote({starts: [start]}),
      laterNote({unseenGpus: [3]}),
      laterNote({returns: [{...UNIT_IS_BACK, known: true}]}),
      {...laterNote(), note: {what: 'stopped', by: 'slack:U0BOB'}},
      {...laterNote(), note: {what: 'other-machine', afterMs: 1, last: true, late: false}},
      {...laterNote(), note: {what: 'no-look', failure, afterMs: 1, last: true, late: false}},
    ];
    for (const event of quiet) {
      expect(replyTo(reclaimedRun(), event)).toBe('');
      expect(broadcasts(reclaimedRun(), event)).toBe(false);
    }
    expect(broadcasts(reclaimedRun(), laterNote({returns: [UNIT_IS_BACK]}))).toBe(true);
  });
});

const BO_OWNS = {person: 'bo', uid: 1001, by: 'uid'} as const;

describe('the channel', () => {
  const told = (word: OutcomeWord, tookMs: number, went = true): boolean => {
    const closed = {kind: 'closed', atMs: approved.atMs + tookMs, outcome: anOutcome(word)} as const;
    return broadcasts(runOf('closed', ...waitingRun.events, ...(went ? [approved] : []), closed), closed);
  };

  it.each<readonly [string, boolean, boolean]>([
    ['a quick success', told('reclaimed', 30_000), false],
    ['a success after six minutes', told('reclaimed', 360_000), true],
    ['a partial outcome', told('partly', 1), true],
    ['a failure after a go', told('failed', 1), true],
    ['a failed look before any go', told('failed', 1, false), false],
    ['a denial', told('denied', 1, false), false],
    ['a dry run', told('dry-run', 1, false), false],
  ])('hears of %s: %s', (_what, heard, expected) => {
    expect(heard).toBe(expected);
  });

  it('hears of a go without a second approver', () => {
    expect(broadcasts(waitingRun, {...approved, breakGlass: true, reason: 'prod is down'})).toBe(true);
  });

  it('hears of no other event', () => {
    expect(
      reclaimedRun()
        .events.slice(0, -1)
        .filter((event) => broadcasts(reclaimedRun(), event)),
    ).toEqual([]);
  });
});

it('says nothing of samples, sightings and intents', () => {
  const quiet: readonly RunEvent[] = [
    requested,
    surveyed,
    {kind: 'memory', atMs: AT, uptimeMs: 1, usedMiB: {}},
    {kind: 'seen', atMs: AT, pid: 7, observation: 'gone', uptimeMs: 1},
    {kind: 'settled', atMs: AT, how: 'expected', uptimeMs: 1},
    {kind: 'looked-again', atMs: AT, snapshot: null, failure: null},
  ];
  expect(quiet.map((event) => replyTo(waitingRun, event)).filter((text) => text !== '')).toEqual([]);
});
