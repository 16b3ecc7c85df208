/** Private answers: one message each, in Slack's words. */
import {describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {failureMessage, sentence} from '../../src/slack/blocks/answers.ts';
import {type HelpContext, helpMessage} from '../../src/slack/blocks/help.ts';
import {diagnosisMessage, hostsMessage, statusMessage} from '../../src/slack/blocks/host-answers.ts';
import {runMessage, runsMessage} from '../../src/slack/blocks/run-answers.ts';
import {buttonValue, proposeValue, readButtonValue, readProposeValue} from '../../src/slack/ids.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aHost,
  aPolicy,
  aProcess,
  aSnapshot,
  billed,
  HOST,
  holds,
  RUN,
} from '../doubles/build.ts';
import {codeLinesIn, expectSafe, expectTwin} from './blocks-hostile-text.ts';
import {CARD, ghostPlan, planned, reclaimedRun, requested, runOf} from './blocks-runs.ts';

const diagnosis = aDiagnosis(
  aSnapshot([billed(aProcess({pid: 500}), {1: 20_000}), holds(aProcess({pid: 700, ppid: 1}), [0])], {
    used: [4_614, 20_010],
    charges: [aDeadCharge(699, 0, 4_600)],
  }),
);
const look = {ok: true, value: {snapshot: diagnosis.snapshot, diagnosis}} as const;
const clean = aDiagnosis(aSnapshot([], {used: [4, 4]}));
const lost = {
  ok: false,
  failure: {reason: 'host-unreachable', host: HOST, address: '10.0.0.7', detail: 'no route'},
} as const;

describe('status', () => {
  it('of one host shows each GPU with figures, use, state and who holds it', () => {
    const message = statusMessage([{name: HOST, look}]);
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toMatchInlineSnapshot(`
      "*gpu-07: 2 GPUs, 1 occupied, 1 dirty*
      GPU   used/total MiB   use state
       0    4,614/143,771    0% dirty
           700 train.py
       1   20,010/143,771    0% occupied
           500 train.py
      Looked <!date^1700000000^{time_secs}|2023-11-14 22:13:20 UTC>; nothing was signalled. \`/gpu diagnose gpu-07\` says what each holder is."
    `);
    expect(codeLinesIn(message).filter((line) => [...line].length > 42)).toEqual([]);
  });

  it('of several has the worst first, and counts those that could not be looked at', () => {
    const message = statusMessage([
      {name: hostName('gpu-01'), look: {ok: true, value: {snapshot: clean.snapshot, diagnosis: clean}}},
      {name: hostName('gpu-02'), look},
      {name: hostName('gpu-03'), look: lost},
    ]);
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toMatchInlineSnapshot(`
      "*Looked at 2 of 3 hosts*, worst first; nothing was signalled
      Host · State · Used, MiB · Holders · GPUs
      gpu-03 · not seen · unknown · unknown · unknown
      gpu-02 · dirty · 24,624 · 2 · 1 dirty, 1 occupied
      gpu-01 · clean · 8 · 0 · 2 clean
      gpu-03: unknown: gpu-07 (10.0.0.7) cannot be reached: no route."
    `);
  });

  it('of a host that cannot be reached is unknown, and says why', () => {
    expect(statusMessage([{name: HOST, look: lost}]).text).toBe(
      'gpu-07: unknown: gpu-07 (10.0.0.7) cannot be reached: no route.',
    );
  });

  it('of no host says where the names are', () => {
    expectSafe(statusMessage([]));
  });
});

describe('diagnose', () => {
  const message = diagnosisMessage(diagnosis);

  it('shows every holder with its evidence', () => {
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toMatchInlineSnapshot(`
      "*gpu-07: 2 GPUs, 1 occupied, 1 dirty*
      GPU   used/total MiB   use state
       0    4,614/143,771    0% dirty
           700 train.py
       1   20,010/143,771    0% occupied
           500 train.py
      PID 500 train.py
        in use
        anna · up 7 m · GPU 1, 20,000 MiB
        · matches no workload pattern [process]
        · billed 20000 MiB by the driver
          [charges]
        · 23 device files open [open-files]
        · 2 device files mapped [mappings]
        Somebody's live work. Kept unless it is
          chosen by hand.
        May be done: only by explicit choice,
          with another approver's go. Next: ask
          its owner.
      PID 700 train.py
        ghost: child of a dead process
        anna · up 7 m · GPU 0, 4,600 MiB
        · keeps the device files of dead PID
          699, still billed 4600 MiB [charges]
        · 23 device files open [open-files]
        · 2 device files mapped [mappings]
        Its parent is dead, but it was forked
          with the device files open: the driver
          still bills the dead PID, and the
          memory ends only with this one.
        May be done: SIGTERM, then kill -9 of
          this one; the dead PID cannot be
          signalled. Next: reclaim it.
      [Propose reclaim]
      Looked <!date^1700000000^{time_secs}|2023-11-14 22:13:20 UTC>; nothing was signalled. Propose reclaim opens a card that asks for a go."
    `);
  });

  it('ends with a button that carries the host and nothing else', () => {
    const buttons = message.blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
    expect(buttons).toMatchObject([{action_id: 'propose', value: 'host:gpu-07', text: {text: 'Propose reclaim'}}]);
  });

  it('says that nobody holds a GPU', () => {
    expect(diagnosisMessage(clean).text).toContain('No process holds a GPU.');
  });
});

describe('help', () => {
  const help = {
    command: '/gpu',
    hosts: [aHost(), aHost({name: hostName('gpu-08'), mode: 'observe'})],
    policy: aPolicy(),
    approvers: CARD.approvers,
    isApprover: false,
    place: 'here',
    channels: ['C0GPU'],
  } as const;

  it('says what you may run here, with examples to copy, and the policy in force', () => {
    const message = helpMessage(help, null);
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toMatchInlineSnapshot(`
      "*gpu-reclaim* looks first, shows a plan, asks a human, signals only what was approved, and proves the result.
      /gpu help [VERB]
         what you may run here; the policy
      /gpu status [HOST…|GROUP]
         per GPU: MiB, state, who holds it
      /gpu diagnose HOST
         every holder, what it is, and why
      /gpu reclaim HOST […]
         a plan that asks for a go
      /gpu report [HOST…] [WHEN] […]
         one table, the worst host first; with a
         time the bot tells it by itself
      /gpu schedules [HOST…]
         the reports that are to come
      /gpu schedules remove ID
         ends one
      /gpu profile list
         who holds what
      /gpu profile start HOST… [LABEL] […]
         holds GPUs for a campaign
      /gpu profile stop ID|HOST
         ends it: what is left, what differs (by
         its holder, or an approver)
      /gpu profile report ID|HOST
         looks again at an ended one
      /gpu keep HOST… until=18:00 "why" […]
         the same hold without the looks
      /gpu runs
         what was done
      /gpu show RUN
         one run, step by step
      /gpu cancel RUN [WHY] […]
         stops it before its next signal
      /gpu pause
         stops every signal on every host
      /gpu resume
         lets signals go on after a pause (for
         approvers)
      /gpu hosts
         the names you may use
      Here: 2 hosts, 1 of them may be signalled after a go. You may look, ask for a reclaim, pause and stop; the go is for approvers.
      Try: \`/gpu diagnose gpu-07\`, \`/gpu reclaim gpu-07 match=vllm\`, \`/gpu reclaim gpu-07 gpus=0-3 dry-run\`
      One verb with all its arguments: \`/gpu help reclaim\`
      Go by: <!subteam^S0ONCALL>, <@U0BOB>; an approver alone with a typed reason (break-glass), announced to all.
      Requesters who are approvers go alone for ghosts and their own processes.
      SIGTERM, then kill -9 after 30 s (5 m with a profiler); a plan waits 15 m for its go.
      Never signalled: NVIDIA persistence daemon, DCGM, NVIDIA fabric manager, NVIDIA IMEX, CUDA MPS, NVIDIA system daemon, display server, display manager, ssh server, system manager, container daemon, job daemon."
    `);
    expect(codeLinesIn(message).filter((line) => [...line].length > 42)).toEqual([]);
  });

  it.each<[string, Partial<HelpContext>, string]>([
    ['an approver', {isApprover: true}, 'and give the go'],
    ['another channel', {place: 'elsewhere'}, 'In this channel only help answers. Everything else is for <#C0GPU>.'],
    ['one alone with the bot', {place: 'alone'}, 'With me alone you may look and read.'],
    ['a fleet in observe mode', {hosts: [aHost({mode: 'observe'})]}, 'reclaim gpu-07 match=vllm dry-run'],
    ['an empty fleet', {hosts: []}, 'Here: 0 hosts, 0 of them may be signalled'],
    ['no approver', {approvers: []}, 'Go by: nobody is listed'],
  ])('for %s is another', (_what, change, line) => {
    const message = helpMessage({...help, ...change}, null);
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toContain(line);
  });
});

describe('hosts and runs', () => {
  it('list what there is, or say that there is none', () => {
    expect(hostsMessage([aHost({groups: ['prod'], labels: {rack: 'b4'}})]).text).toContain(
      'gpu-07: may be signalled after a go · prod\n  · rack=b4',
    );
    expect(hostsMessage([]).text).toContain('No host is in the hosts file');
    expect(runsMessage([]).text).toBe('No run yet.');
    const text = runsMessage([runOf('awaiting-go', requested, planned(ghostPlan())), reclaimedRun()]).text;
    expect(text).toContain('⏳ waits for a go · <@U0ANNA>');
    expect(text).toContain('✅ reclaimed · <@U0ANNA>');
  });

  it('count the runs that are not shown', () => {
    const message = runsMessage(Array.from({length: 33}, () => reclaimedRun()));
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toContain('… 13 older runs');
  });

  it('tell one run whole', () => {
    const message = runMessage(reclaimedRun());
    expectSafe(message);
    expectTwin(message);
    expect(message.text).toContain('sum · 409,018 · 21,658 · -387,360');
    expect(message.text).toContain('22:14:30 UTC> go by <@U0BOB>: SIGTERM, then kill -9');
    expect(message.text).toContain('22:14:32 UTC> kill -9 to 1 process: sent; PID 244199');
  });
});

describe('one sentence', () => {
  it('takes nothing in it for markup', () => {
    expect(sentence('<!channel> `x`').text).toBe('&lt;!channel&gt; ˋxˋ');
    expectSafe(sentence(''));
  });

  it.each([
    [
      'names people by mention and commands as they are typed here',
      {reason: 'host-busy', host: HOST, runId: RUN, by: 'slack:U0BOB'} as const,
      'gpu-07 is busy with run 7f3a00 by <@U0BOB>; "/gpu show 7f3a00" tells more, "/gpu cancel 7f3a00" stops it.',
    ],
    [
      'names approvers and their groups',
      {reason: 'not-an-approver', person: 'slack:U0ANNA', approvers: ['@U0BOB', '@S0ONCALL']} as const,
      '<@U0ANNA> is no approver; ask <@U0BOB>, <!subteam^S0ONCALL>.',
    ],
    [
      'names those first who can be asked here',
      {reason: 'not-an-approver', person: 'slack:U0ANNA', approvers: ['root', '@U0BOB']} as const,
      '<@U0ANNA> is no approver; ask <@U0BOB>, root (terminal).',
    ],
    [
      'takes no id for the start of another',
      {reason: 'not-an-approver', person: 'slack:U0BO', approvers: ['@U0BOB']} as const,
      '<@U0BO> is no approver; ask <@U0BOB>.',
    ],
    [
      'takes no id for the start of another, the other way round',
      {reason: 'not-an-approver', person: 'slack:U0BOB', approvers: ['@U0', '@U0B']} as const,
      '<@U0BOB> is no approver; ask <@U0>, <@U0B>.',
    ],
    [
      'makes no mention of text that others wrote',
      {reason: 'verb-unknown', verb: 'slack:U0EVIL @U0EVIL', nearest: []} as const,
      '"slack:U0EVIL @U0EVIL" is no command; "/gpu help" lists them.',
    ],
  ])('%s', (_what, failure, text) => {
    expect(failureMessage(failure).text).toBe(text);
  });
});

describe('what a button carries', () => {
  it('comes back as it went', () => {
    expect(readButtonValue(buttonValue({runId: RUN, digest: 'ab12'}))).toEqual({runId: RUN, digest: 'ab12'});
    expect(readButtonValue(buttonValue({runId: RUN, digest: null}))).toEqual({runId: RUN, digest: null});
    expect(readProposeValue(proposeValue('gpu-07'))).toEqual({host: 'gpu-07', pid: null});
    expect(readProposeValue(proposeValue('gpu-07', 4711))).toEqual({host: 'gpu-07', pid: 4711});
    expect(readProposeValue('host:gpu-07 pid:x')).toBeNull();
  });

  it.each([undefined, '', 'x', '7f3a00112233', '7f3a:9f', `${RUN}:<x>`, `${RUN}:a:b`, '{"runId":"x"}'])(
    'is nobody’s if it reads %j',
    (value) => {
      expect(readButtonValue(value)).toBeNull();
      expect(readProposeValue(value)).toBeNull();
    },
  );
});
