/** The approved plan against a fresh look: what was approved, or less. */
import {describe, expect, it} from 'vitest';
import {needsDeeperFor} from '../../src/domain/deepen.ts';
import {recheck} from '../../src/domain/recheck.ts';
import type {ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {
  aDeadCharge,
  aDiagnosis,
  aHolding,
  anExecutable,
  aPolicy,
  aProcess,
  aProgram,
  aSnapshot,
  BO_UID,
  billed,
  holds,
  MACHINE,
  monitorFiles,
  PLAIN_ZOMBIE,
  planFor,
} from '../doubles/build.ts';
import {cutAt, deeper, namelessContext, waitingIn} from '../doubles/deep.ts';

const SERVER = ['python3', '-m', 'vllm.entrypoints.openai.api_server'];
const server = aProcess({pid: 400, words: SERVER});
const worker = (change: Partial<ProcessFacts> = {}) =>
  billed(aProcess({pid: 500, ppid: 400, words: ['run.py'], ...change}), {0: 4_614});
const then = aSnapshot([server, worker()], {used: [4_623, 4]});
const plan = planFor(then, {match: 'vllm'});

function checked(now: Snapshot) {
  const result = recheck(plan, aDiagnosis({...now, matches: []}));
  return {
    go: result.go,
    pids: result.go ? result.targets.map((target) => target.identity.pid) : [],
    drift: result.drift.map((one) => `${one.pid} ${one.what}`),
  };
}

it('goes for all of the plan when nothing has changed, without asking again what matches', () => {
  expect(checked(then)).toEqual({go: true, pids: [400, 500], drift: []});
});

describe('leaves out, and says', () => {
  it.each<[string, Partial<ProcessFacts>, string]>([
    ['another start', {startTicks: '77'}, 'replaced'],
    ['another uid', {uid: 0}, 'replaced'],
    ['another program, as after exec', {executable: anExecutable('/usr/bin/sleep')}, 'replaced'],
    ['one whose program cannot be read any more', {executable: null}, 'unreadable'],
    ['one that is dead and waits for its parent', PLAIN_ZOMBIE, 'gone'],
  ])('%s', (_, change, what) => {
    expect(checked(aSnapshot([server, worker(change)], {used: [4_623, 4]}))).toEqual({
      go: true,
      pids: [400],
      drift: [`500 ${what}`],
    });
  });

  it('one that has ended, or that a look could not see', () => {
    expect(checked(aSnapshot([server], {used: [4, 4]}))).toEqual({go: true, pids: [400], drift: ['500 gone']});
    const half = aSnapshot([server], {
      used: [4, 4],
      sections: [{name: 'facts', exitCode: null, complete: false, note: ''}],
    });
    expect(checked(half).drift).toEqual(['500 unreadable']);
  });

  it('one that has let go of the device', () => {
    expect(
      checked(aSnapshot([server, aProcess({pid: 500, ppid: 400, words: ['run.py']})], {used: [4, 4]})).drift,
    ).toEqual(['500 not-holding']);
  });

  it('one that is billed but was seen to hold nothing', () => {
    const look = aSnapshot([server, {...worker(), holding: aHolding(500, [], {opens: [], mappings: []})}], {
      used: [4_623, 4],
    });
    expect(checked(look).drift).toEqual(['500 not-holding']);
  });

  it('and tells by what it is another', () => {
    const detail = (change: Partial<ProcessFacts>) =>
      recheck(plan, aDiagnosis(aSnapshot([server, worker(change)], {used: [4_623, 4]}))).drift[0]?.detail;
    expect(detail({startTicks: '77'})).toBe('started at tick 77, planned 5000');
    expect(detail({uid: 0})).toBe('runs as uid 0');
    expect(detail({executable: anExecutable('/usr/bin/sleep')})).toBe('runs another program');
  });

  it('one that is protected by now', () => {
    const protectedList = [{name: 'pinned', executables: ['/usr/bin/python3.12'], uids: null, units: []}];
    const result = recheck(plan, aDiagnosis(then, {policy: aPolicy({protectedList})}));
    expect(result.drift).toContainEqual({pid: 500, what: 'now-protected', detail: '/usr/bin/python3.12: pinned'});
    expect(result.go && result.targets.map((target) => target.identity.pid)).not.toContain(500);
  });

  it.each([
    ['of itself', {}],
    ['by hand', {pids: [769]}],
  ])('one that was ticked %s as a ghost and works again', (_, request) => {
    const ghost = aProcess({pid: 769, ppid: 1, session: 768, processGroup: 768});
    const look = aSnapshot([holds(ghost, [0])], {used: [4_623], charges: [aDeadCharge(768, 0, 4_614)]});
    const found = planFor(look, request);
    expect(found.targets).toMatchObject([{identity: {pid: 769}, selfGo: true}]);
    expect(recheck(found, aDiagnosis(aSnapshot([billed(ghost, {0: 4_614})], {used: [4_623]})))).toMatchObject({
      go: false,
      because: 'no-target-left',
      drift: [{pid: 769, what: 'not-holding'}],
    });
    const blind = aSnapshot([holds(ghost, [0])], {smi: {state: 'timed-out', exitCode: null, note: ''}});
    expect(recheck(found, aDiagnosis(blind))).toMatchObject({go: false, drift: [{what: 'unreadable'}]});
  });
});

describe('what only a deeper look shows', () => {
  const receiver = aProcess({pid: 1_404, ppid: 400, words: ['run.py']});
  const lost = {used: [4_623], charges: [aDeadCharge(1_403, 0, 4_614)]};
  const first = aSnapshot([server, receiver], lost);
  const queued = deeper(first, waitingIn([receiver]));
  const inFlight = planFor(queued, {match: 'vllm'});
  const again = (now: Snapshot, of = inFlight) => {
    const result = recheck(of, aDiagnosis(now));
    const target = result.go ? result.targets.find((one) => one.identity.pid === 1_404) : undefined;
    return {heldBy: target?.heldBy, drift: result.drift.filter((one) => one.pid === 1_404).map((one) => one.what)};
  };
  const numbered = (devices = namelessContext(0)) => ({numbered: [{pid: 1_404, devices}]});
  const byNumber = planFor(deeper(first, numbered()), {match: 'vllm'});

  it('is asked for again before a plan that rests on it is carried out', () => {
    expect([inFlight, byNumber, plan].map((of) => needsDeeperFor(of, aDiagnosis(first)))).toEqual([true, true, false]);
    expect(needsDeeperFor(inFlight, aDiagnosis(queued))).toBe(false);
  });

  it('still waits in its socket', () => {
    expect(again(queued)).toEqual({heldBy: 'queue', drift: []});
  });

  it('was received meanwhile: it must hold the device now', () => {
    const now = aSnapshot([server, {process: receiver, holding: aHolding(1_404, [0])}], lost);
    expect(again(now)).toEqual({heldBy: 'paths', drift: []});
  });

  it('waits no more', () => {
    expect(again(deeper(first))).toEqual({heldBy: undefined, drift: ['not-holding']});
    expect(again(aSnapshot([server, receiver], {used: [4]}))).toEqual({heldBy: undefined, drift: ['not-holding']});
  });

  it.each<[string, Snapshot]>([
    ['no deeper look came back', first],
    ['its sockets were not all read', deeper(first, {sections: cutAt('queue')})],
  ])('is not known to wait no more when %s', (_, now) => {
    expect(again(now)).toEqual({heldBy: undefined, drift: ['unreadable']});
  });

  it.each<[string, Snapshot, object]>([
    ['is held by number still', deeper(first, numbered()), {heldBy: 'numbers', drift: []}],
    ['is not held any more', deeper(first), {heldBy: undefined, drift: ['not-holding']}],
    ['was not looked for', aSnapshot([server, receiver], {used: [4]}), {heldBy: undefined, drift: ['unreadable']}],
    ['was not all read', deeper(first, {sections: cutAt('mapped')}), {heldBy: undefined, drift: ['unreadable']}],
    [
      'was not all read where it matters not',
      deeper(first, {sections: cutAt('xids')}),
      {heldBy: undefined, drift: ['not-holding']},
    ],
  ])('a device without a name %s', (_, now, expected) => {
    expect(again(now, byNumber)).toEqual(expected);
  });

  it('one that was proven to hold is not signalled for what may wait in its socket', () => {
    const holding = aSnapshot([server, {process: receiver, holding: aHolding(1_404, [0])}], lost);
    const now = deeper(first, waitingIn([receiver]));
    expect(again(now, planFor(holding, {match: 'vllm'}))).toEqual({heldBy: undefined, drift: ['not-holding']});
  });
});

describe('never adds', () => {
  it('a newcomer on these GPUs: it is said, and not signalled, whatever its name', () => {
    const late = billed(aProcess({pid: 600, uid: BO_UID, words: SERVER}), {0: 9_000});
    expect(checked(aSnapshot([server, worker(), late], {used: [13_700, 4]}))).toEqual({
      go: true,
      pids: [400, 500],
      drift: ['600 new-holder'],
    });
  });

  it('nor speaks of monitors, of those who were kept, or of other GPUs', () => {
    const look = (pid: number) => [server, worker(), billed(aProcess({pid, uid: BO_UID}), {1: 9_000})];
    const some = planFor(aSnapshot(look(600), {used: [4_623, 9_009]}), {match: 'vllm', gpus: [0]});
    const nvtop = {process: aProgram('/usr/bin/nvtop', {pid: 700}), holding: monitorFiles(700, [0, 1])};
    const now = aSnapshot([...look(600), nvtop, billed(aProcess({pid: 601}), {1: 5})], {used: [4_623, 9_009]});
    expect(recheck(some, aDiagnosis(now)).drift).toEqual([]);
  });
});

describe('stands down', () => {
  it.each([
    ['another boot', {bootId: 'boot-2'}, 'rebooted since the plan'],
    ['another PID namespace', {pidNamespace: '4026532000'}, 'another PID namespace'],
    ['another host key', {hostKey: 'SHA256:x'}, 'another host key'],
  ])('on %s', (_, change, detail) => {
    expect(recheck(plan, aDiagnosis({...then, machine: {...MACHINE, ...change}}))).toEqual({
      go: false,
      because: 'machine-changed',
      drift: [{pid: 0, what: 'machine-changed', detail}],
    });
  });

  it('when nobody of the plan is left', () => {
    const now = aSnapshot([billed(aProcess({pid: 800}), {0: 9})], {used: [13, 4]});
    expect(checked(now)).toEqual({go: false, pids: [], drift: ['400 gone', '500 gone', '800 new-holder']});
  });
});
