/** Which owners a plan stops first, and all that keeps it from doing so. */
import {describe, expect, it} from 'vitest';
import {judge} from '../../src/domain/judge.ts';
import {lateArrival} from '../../src/domain/late-arrival.ts';
import {hasSignalled} from '../../src/domain/later-look.ts';
import {digestText} from '../../src/domain/make-plan.ts';
import {type StopResult, wasCalled} from '../../src/domain/order.ts';
import type {OwnedBy, OwnedLook} from '../../src/domain/owned.ts';
import type {Owner, OwnerFacts, OwnerKind} from '../../src/domain/owner.ts';
import {ownersOf} from '../../src/domain/owners-of.ts';
import type {Plan} from '../../src/domain/plan.ts';
import {withOwnerFacts} from '../../src/domain/plan-owners.ts';
import type {Policy} from '../../src/domain/policy.ts';
import {recheck} from '../../src/domain/recheck.ts';
import type {RunEvent} from '../../src/domain/run.ts';
import {stopsOf} from '../../src/domain/run-state.ts';
import type {ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {isNoStop, stoppable} from '../../src/domain/stop-owner.ts';
import {ownersToStop, standingStops, withStops} from '../../src/domain/stop-plan.ts';
import {
  ANNA_UID,
  aContext,
  aDiagnosis,
  aPlan,
  aPolicy,
  aProcess,
  aProgram,
  aRequest,
  aRun,
  aSnapshot,
  billed,
  keptOf,
  MACHINE,
  planFor,
  SYSTEMD,
  targetOf,
  targetPids,
} from '../doubles/build.ts';

const UNIT = 'vllm@2.service';
const FOLDER = `/system.slice/system-vllm.slice/${UNIT}`;
const RUN = '0123456789abcdef0123456789abcdef';
const ID = '12ab'.repeat(16);
const ALL = aPolicy({stopOwner: {unit: true, docker: true, podman: true, slurm: true}});

function factsOf(kind: OwnerKind, id: string, run: string | null = RUN): OwnerFacts {
  return {kind, id, title: null, state: null, restarts: 'yes', setting: null, run, restartCount: null};
}
/** The owners of a process alone in these control groups, each known to its tool. */
function owned(
  cgroups: readonly string[],
  run: string | null = RUN,
): {owners: readonly Owner[]; process: ProcessFacts} {
  const process = aProcess({pid: 500, ppid: 1, cgroups});
  const owners = ownersOf(process, new Map([[500, process]]));
  return {process, owners: owners.map((owner) => ({...owner, facts: factsOf(owner.kind, owner.id, run)}))};
}
function said(cgroups: readonly string[], policy: Policy = ALL, run: string | null = RUN): string {
  const {owners, process} = owned(cgroups, run);
  const found = stoppable(owners, process, policy);
  if (found === null) return 'no matter';
  return isNoStop(found) ? found.why : `${found.kind} ${found.id} in ${found.folder}`;
}

describe('an owner that may be stopped', () => {
  it.each<[string, string]>([
    [FOLDER, `unit ${UNIT} in ${FOLDER}`],
    [`${FOLDER}/inner`, `unit ${UNIT} in ${FOLDER}`],
    [
      '/system.slice/system-a\\x2db.slice/a-b@1.service',
      'unit a-b@1.service in /system.slice/system-a\\x2db.slice/a-b@1.service',
    ],
    [`/system.slice/docker-${ID}.scope`, `docker ${ID} in /system.slice/docker-${ID}.scope`],
    [`/docker/${ID}`, `docker ${ID} in /docker/${ID}`],
    [`/machine.slice/libpod-${ID}.scope/container`, `podman ${ID} in /machine.slice/libpod-${ID}.scope`],
    ['/system.slice/slurmstepd.scope/job_7/step_0/user/task_0', 'slurm-job 7 in /system.slice/slurmstepd.scope/job_7'],
    [
      '/system.slice/n1_slurmstepd.scope/job_7/step_batch/user',
      'slurm-job 7 in /system.slice/n1_slurmstepd.scope/job_7',
    ],
    ['/slurm/uid_1000/job_7/step_0', 'slurm-job 7 in /slurm/uid_1000/job_7'],
  ])('is told by %s', (path, found) => {
    expect(said([path])).toBe(found);
  });

  it('is whatever hierarchy names it', () => {
    expect(said(['/', FOLDER])).toContain(UNIT);
  });

  it.each([
    ['/user.slice/user-1000.slice/session-3.scope', 'no matter'],
    ['/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service', 'no matter'],
    ['/user.slice/user-1000.slice/user@1000.service/init.scope', 'no matter'],
    ['/init.scope', 'no matter'],
    ['/system.slice', 'no matter'],
    ['/', 'no matter'],
    ['/system.slice/ssh.service', 'no matter'],
    ['/system.slice/docker.service', 'no matter'],
    ['/system.slice/slurmd.service', 'no matter'],
    ['/system.slice/containerd.service', 'no matter'],
    ['/system.slice/run-r1.scope', 'unproven'],
    ['/system.slice/nvidia-dcgm.service', 'protected-owner'],
    [`/kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef/${ID}`, 'no matter'],
    [`/default/${ID}`, 'no matter'],
    // Folders that anybody may have made below what was given to them.
    [`/system.slice/theirs.service/${UNIT}`, 'unproven'],
    [`/system.slice/theirs.service/inner.slice/${UNIT}`, 'unproven'],
    [`/user.slice/user-1000.slice/session-3.scope/${UNIT}`, 'unproven'],
    [`/user.slice/${UNIT}`, 'unproven'],
    [`/system.slice/theirs.service/docker-${ID}.scope`, 'unproven'],
    [`/user.slice/user-1000.slice/user@1000.service/docker-${ID}.scope`, 'unproven'],
    [`/system.slice/docker-${'0'.repeat(64)}.scope/docker/${ID}`, 'unproven'],
    [`/system.slice/docker-${ID}.scope/slurm/uid_1000/job_7/step_0`, 'unproven'],
    ['/system.slice/theirs.service/slurm/uid_1000/job_7', 'unproven'],
    ['/system.slice/x-slurm.service/job_7', 'unproven'],
  ])('is not told by %s: %s', (path, why) => {
    expect(said([path])).toBe(why);
  });

  it('is nobody where the policy does not name its kind', () => {
    const off = {unit: false, docker: false, podman: false, slurm: false};
    for (const path of [FOLDER, `/docker/${ID}`, `/machine.slice/libpod-${ID}.scope`, '/slurm/uid_1/job_7'])
      expect(said([path], aPolicy({stopOwner: off}))).toBe('no matter');
    expect(said([FOLDER], aPolicy({stopOwner: {...off, docker: true}}))).toBe('no matter');
    expect(said(['/slurm/uid_1/job_7'], aPolicy({stopOwner: {...off, slurm: true}}))).toContain('job 7');
  });

  it('is protected by name where the policy adds it', () => {
    const entry = {name: 'site', executables: [], uids: null, units: ['vllm@*']};
    expect(said([FOLDER], aPolicy({...ALL, protectedList: [entry]}))).toBe('protected-owner');
  });

  it.each([null, '', 'a;b', '-x', "a'b", 'x'.repeat(200)])('is not stopped as the run %j', (run) => {
    expect(said([FOLDER], ALL, run)).toBe('unread');
  });

  it('is not the one beyond a notebook or an MPS server, which keep work themselves', () => {
    const {owners, process} = owned([FOLDER]);
    const [unit] = owners;
    if (unit === undefined) throw new Error('no owner');
    for (const kind of ['jupyter', 'mps', 'kubernetes-pod'] as const)
      expect(stoppable([{...unit, kind, by: 'parents'}, ...owners], process, ALL)).toBeNull();
    for (const kind of ['torchrun', 'tmux', 'supervisord', 'ray'] as const)
      expect(stoppable([{...unit, kind, by: 'parents'}, ...owners], process, ALL)).toMatchObject({kind: 'unit'});
  });

  it.each<[string, Partial<Owner>]>([
    ['told by a parent', {by: 'parents'}],
    ["in a user's folder", {uid: 1000}],
    ['that the tools of this host do not know', {stopCommand: null}],
    ['with another shape of name', {id: 'a b.service'}],
  ])('is none %s', (_, change) => {
    const {owners, process} = owned([FOLDER]);
    expect(
      stoppable(
        owners.map((one) => ({...one, ...change})),
        process,
        ALL,
      ),
    ).toMatchObject({why: 'unproven'});
  });
});

/** systemd's unit: a shell, a server without GPU, two workers with one, a child of one without. */
const inUnit = (pid: number, ppid: number, change: Partial<ProcessFacts> = {}): ProcessFacts =>
  aProcess({pid, ppid, cgroups: [FOLDER], uid: ANNA_UID, words: ['python3', 'serve.py'], ...change});
const MAIN = aProgram('/usr/bin/bash', {pid: 400, ppid: 1, cgroups: [FOLDER], words: ['bash', 'run.sh']});
const SERVER = inUnit(410, 400, {words: ['python3', '-m', 'vllm.entrypoints.openai.api_server']});
const FIRST = inUnit(500, 410, {comm: 'VLLM::Worker_TP'});
const SECOND = inUnit(501, 410, {comm: 'VLLM::Worker_TP'});
const LOADER = inUnit(510, 500);
const MEMBERS = [MAIN, SERVER, FIRST, SECOND, LOADER];
const look = aSnapshot([MAIN, SERVER, billed(FIRST, {0: 700}), billed(SECOND, {1: 700})], {used: [709, 709]});

function ownedLook(change: Partial<OwnedBy> = {}, more: Partial<OwnedLook> = {}): OwnedLook {
  const pids = MEMBERS.map((one) => one.pid);
  return {
    owners: [{kind: 'unit', id: UNIT, run: RUN, against: null, endsInKill: true, pids, ...change}],
    processes: [SYSTEMD, ...MEMBERS],
    ownPids: [9000],
    ...more,
  };
}
interface Asked {
  readonly owned?: OwnedLook | null;
  readonly snapshot?: Snapshot;
  readonly pids?: readonly number[];
  readonly unticked?: readonly number[];
  readonly policy?: Policy;
  readonly run?: string | null;
}
function planOf({owned: found = ownedLook(), snapshot = look, pids = [500, 501], ...asked}: Asked = {}): Plan {
  const context = aContext({policy: asked.policy ?? ALL});
  const request = {pids};
  const plan = withOwnerFacts(planFor(snapshot, request, context), [factsOf('unit', UNIT, asked.run ?? RUN)]);
  return withStops(plan, found, {
    diagnosis: aDiagnosis(snapshot, context),
    request: aRequest(request),
    context,
    earlier: [],
    nowMs: snapshot.takenAtMs,
    unticked: new Set(asked.unticked ?? []),
  });
}
const whyNot = (plan: Plan): readonly (string | number | null)[] => {
  expect(plan.stops).toEqual([]);
  expect(plan.noStops).toHaveLength(1);
  return [plan.noStops[0]?.why ?? null, plan.noStops[0]?.pid ?? null];
};

describe('a plan', () => {
  it('stops the owner whose every process is a target, and makes targets of those without a GPU', () => {
    const plan = planOf();
    expect(plan.stops).toEqual([
      {
        kind: 'unit',
        id: UNIT,
        name: UNIT,
        run: RUN,
        folder: FOLDER,
        pids: [400, 410, 500, 501, 510],
        endsInKill: true,
        timeoutMs: plan.graceMs + 10_000,
      },
    ]);
    expect(plan.noStops).toEqual([]);
    // Ancestors before descendants, as the ladder needs them should the stop come to nothing.
    expect(targetPids(plan)).toEqual([400, 410, 500, 501, 510]);
    expect(plan.targets.map(({role, heldBy}) => [role, heldBy])).toEqual([
      ['server', 'nothing'],
      ['server', 'nothing'],
      ['member', 'paths'],
      ['member', 'paths'],
      ['member', 'nothing'],
    ]);
    expect(targetOf(plan, 510)).toMatchObject({
      belonging: {by: 'cgroup', path: FOLDER, sharedWithPid: 500},
      identity: {pid: 510, startTicks: '5100', uid: ANNA_UID},
      chargedMiB: null,
      gpuUuids: [],
    });
    expect(targetOf(plan, 510).findings).toContain('contained');
    // The server was kept before, for its name only.
    expect(plan.kept.some((kept) => kept.pid === 410)).toBe(false);
  });

  it('asks about that owner, whether its processes are ticked or may be chosen, and about none without the policy', () => {
    const input = (policy: Policy) => {
      const context = aContext({policy});
      const made = {diagnosis: aDiagnosis(look, context), request: aRequest(), context, earlier: [], nowMs: 0};
      const plan = withOwnerFacts(planFor(look, {match: 'vllm'}, context), [factsOf('unit', UNIT)]);
      expect(targetPids(plan)).toEqual([]);
      return ownersToStop(plan, made);
    };
    expect(input(ALL)).toEqual([{kind: 'unit', id: UNIT, name: UNIT, run: RUN, folder: FOLDER}]);
    expect(input(aPolicy())).toEqual([]);
  });

  it('is what it was without the policy', () => {
    const off = aContext();
    const today = withOwnerFacts(planFor(look, {pids: [500, 501]}, off), [factsOf('unit', UNIT)]);
    expect(planOf({policy: aPolicy(), owned: null})).toEqual(today);
    expect(today).toMatchObject({stops: [], noStops: [], owned: null});
  });

  it('lets a go alone only for what is all their own', () => {
    expect(planOf().targets.every((target) => !target.selfGo)).toBe(true);
  });

  it.each<[string, Asked, string, number | null]>([
    ['nobody could ask', {owned: null}, 'unread', null],
    ['its tool said nothing', {owned: ownedLook({run: null})}, 'unread', null],
    ['not all in it could be read', {owned: ownedLook({pids: null})}, 'unread', null],
    ['the look is about another', {owned: ownedLook({id: 'other.service'})}, 'unread', null],
    ['it was started anew between two looks', {owned: ownedLook({run: 'f'.repeat(32)})}, 'changed', null],
    ['a target does not stand in it', {owned: ownedLook({pids: [400, 410, 500, 510]})}, 'changed', null],
    ['nobody stands in it', {owned: ownedLook({pids: []})}, 'changed', null],
    ['its tool has something against it', {owned: ownedLook({against: 'dependents'})}, 'dependents', null],
    ['our own shell stands in it', {owned: ownedLook({}, {ownPids: [510]})}, 'own-session', null],
    [
      'a process outside of our namespace stands in it',
      {owned: ownedLook({pids: [0, 400, 410, 500, 501]})},
      'no-identity',
      0,
    ],
    [
      'nothing is known of one of its processes',
      {owned: ownedLook({}, {processes: [MAIN, SERVER, FIRST, SECOND]})},
      'no-identity',
      510,
    ],
    [
      'one of its processes has an executable that could not be read',
      {owned: ownedLook({}, {processes: [MAIN, SERVER, FIRST, SECOND, {...LOADER, executable: null}]})},
      'no-identity',
      510,
    ],
    [
      'a PID in it is another process by now',
      {owned: ownedLook({}, {processes: [MAIN, SERVER, FIRST, {...SECOND, startTicks: '1'}, LOADER]})},
      'changed',
      501,
    ],
    [
      'a daemon stands in it',
      {
        owned: ownedLook(
          {},
          {
            processes: [MAIN, SERVER, FIRST, SECOND, aProgram('/usr/bin/dockerd', {pid: 510, ppid: 1, uid: 0})],
          },
        ),
      },
      'protected',
      510,
    ],
    [
      'a monitor stands in it',
      {owned: ownedLook({}, {processes: [MAIN, SERVER, FIRST, SECOND, aProgram('/usr/bin/nvidia-smi', {pid: 510})]})},
      'monitor',
      510,
    ],
    ['one of its holders is not ticked', {pids: [500]}, 'kept', 501],
    ['one that it would end is unticked', {unticked: [510]}, 'unticked', 510],
    ['it owns more than one run may end', {policy: {...ALL, limits: {...ALL.limits, targets: 4}}}, 'too-many', null],
  ])('stops nobody where %s', (_, asked, why, pid) => {
    const plan = planOf(asked);
    expect(whyNot(plan)).toEqual([why, pid]);
    // Then nobody is a target because of it.
    expect(targetPids(plan)).toEqual((asked.pids ?? [500, 501]).toSorted());
  });

  it('offers again who was unticked', () => {
    expect(keptOf(planOf({unticked: [510]}), 510)).toMatchObject({why: 'unticked', choosable: true});
  });

  it('does not mind the dead in it', () => {
    const dead = inUnit(510, 500, {state: 'Z', threads: 1, executable: null});
    const plan = planOf({owned: ownedLook({}, {processes: [MAIN, SERVER, FIRST, SECOND, dead]})});
    expect(plan.stops[0]?.pids).toEqual([400, 410, 500, 501]);
  });

  it('is bound by its digest to all that a stop is', () => {
    const plan = planOf();
    const [stop] = plan.stops;
    if (stop === undefined) throw new Error('no stop');
    const texts = [
      plan,
      {...plan, stops: []},
      ...[
        {kind: 'docker' as const},
        {id: 'x.service'},
        {run: 'x'},
        {folder: '/x'},
        {pids: [500]},
        {endsInKill: false},
        {timeoutMs: 1},
      ].map((change) => ({...plan, stops: [{...stop, ...change}]})),
    ].map(digestText);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('a stop that was approved', () => {
  const plan = planOf();
  const now = (processes: readonly ProcessFacts[]) => {
    const gpus = [billed(FIRST, {0: 700}), billed(SECOND, {1: 700})];
    const alive = gpus.filter(({process}) => processes.includes(process));
    const fresh = aSnapshot([...alive, ...processes.filter((one) => one !== FIRST && one !== SECOND)], {
      used: [709, 709],
    });
    const checked = recheck(plan, aDiagnosis(fresh, {policy: ALL}));
    return checked.go ? standingStops(plan, checked).map((stop) => stop.id) : null;
  };

  it.each<[string, readonly ProcessFacts[], readonly string[]]>([
    ['stands while its processes do', MEMBERS, [UNIT]],
    ['stands where one has ended', [MAIN, SERVER, FIRST, SECOND], [UNIT]],
    ['falls where a PID is another process', [MAIN, SERVER, FIRST, SECOND, {...LOADER, startTicks: '1'}], []],
    [
      'falls where one runs another program',
      [MAIN, SERVER, FIRST, SECOND, {...LOADER, executable: MAIN.executable}],
      [],
    ],
    ['falls where one can be read no more', [MAIN, SERVER, FIRST, SECOND, {...LOADER, executable: null}], []],
  ])('%s', (_, processes, standing) => {
    expect(now(processes)).toEqual(standing);
  });
});

describe('a run whose only act was a stop', () => {
  it.each<[boolean, string]>([
    [true, 'nothing-freed'],
    [false, 'stood-down'],
  ])('in vain (the owner was called: %s) ends as %s', (ownerCalled, word) => {
    const plan = planOf();
    const diagnosis = aDiagnosis(look);
    const none = {results: new Map(), observations: new Map(), freedAfterMs: null, because: null, stopped: false};
    expect(judge({plan, before: diagnosis, after: diagnosis, ...none, ownerCalled, toleranceMiB: 64}).word).toBe(word);
  });
});

describe('the record of a stop', () => {
  const owner = {kind: 'unit', id: UNIT, name: UNIT, run: RUN} as const;
  const intended: RunEvent = {
    kind: 'stop-intended',
    atMs: 5,
    rung: 1,
    owner,
    identities: aPlan().targets.map((target) => target.identity),
    machine: MACHINE,
    notAfterUptimeMs: 510_000,
    timeoutMs: 40_000,
  };
  const answered = (result: StopResult, change: Partial<Extract<RunEvent, {kind: 'stop-result'}>> = {}): RunEvent => ({
    ...{kind: 'stop-result', atMs: 6, rung: 1, owner, result, detail: '', uptimeMs: 501_000},
    ...change,
  });

  it('is an intent, and the answer to it', () => {
    expect(stopsOf(aRun(intended))).toMatchObject([{owner, result: null, overAtUptimeMs: 550_000}]);
    expect(stopsOf(aRun(intended, answered('stopped')))).toMatchObject([{result: 'stopped', uptimeMs: 501_000}]);
    expect(stopsOf(aRun(intended, answered('stopped', {rung: 2})))).toMatchObject([{result: null}]);
  });

  it.each([
    [500_000, 50_000],
    [549_999, 1],
    [550_000, null],
  ])('keeps the host from a new plan while its owner may still act: at %i', (uptimeMs, waitMs) => {
    const failure = lateArrival([aRun(intended)], aSnapshot([], {uptimeMs}));
    expect(failure === null ? null : failure).toEqual(
      waitMs === null ? null : expect.objectContaining({reason: 'signal-may-still-arrive', waitMs}),
    );
    expect(lateArrival([aRun(intended, answered('changed'))], aSnapshot([], {uptimeMs}))).toBeNull();
    const other = aSnapshot([], {uptimeMs, machine: {...MACHINE, bootId: 'boot-2'}});
    expect(lateArrival([aRun(intended)], other)).toBeNull();
  });

  it.each<[StopResult | null, boolean]>([
    [null, true],
    ['stopped', true],
    ['timed-out', true],
    ['changed', false],
    ['late', false],
    ['other-machine', false],
    ['denied-by-host', false],
    ['refused-by-owner', false],
    ['not-permitted', false],
    ['failed', false],
  ])('%s: its processes may have been signalled: %s', (result, called) => {
    expect(wasCalled(result)).toBe(called);
    expect(hasSignalled(aRun(intended, ...(result === null ? [] : [answered(result)])))).toBe(called);
  });
});
