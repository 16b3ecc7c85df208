/** The smaller thoughts: cgroup paths, ownership, lines of parents, and signals that were lost on their way. */
import {describe, expect, it} from 'vitest';
import {containerOf, kinshipCgroups, slurmUid} from '../../src/domain/cgroup.ts';
import {lateArrival} from '../../src/domain/late-arrival.ts';
import {ancestors, isEnvironment, processTable} from '../../src/domain/lineage.ts';
import type {OrderResult} from '../../src/domain/order.ts';
import {isOwnedBy, ownershipOf} from '../../src/domain/ownership.ts';
import {isSamePerson, personId} from '../../src/domain/person.ts';
import {roleOf, titleOf} from '../../src/domain/roles.ts';
import type {RunEvent} from '../../src/domain/run.ts';
import {
  ANNA,
  aHost,
  anExecutable,
  aProcess,
  aProgram,
  aRun,
  aSnapshot,
  aTarget,
  BO,
  BO_UID,
  MACHINE,
} from '../doubles/build.ts';

const ID = '0123456789abcdef'.repeat(4);
const SHORT = '0123456789ab';

describe('a cgroup path names', () => {
  it.each<[string, string | null, string, string | null]>([
    [`/system.slice/docker-${ID}.scope`, 'docker', `docker stop ${SHORT}`, `/system.slice/docker-${ID}.scope`],
    [`/docker/${ID}/inner`, 'docker', `docker stop ${SHORT}`, `/docker/${ID}`],
    [
      `/machine.slice/libpod-${ID}.scope/container`,
      'podman',
      `podman stop ${SHORT}`,
      `/machine.slice/libpod-${ID}.scope`,
    ],
    [
      `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${ID}.scope`,
      'kubernetes',
      `crictl stop ${SHORT}`,
      `/kubepods.slice/kubepods-pod1.slice/cri-containerd-${ID}.scope`,
    ],
    [`/kubepods/besteffort/pod12/${ID}`, 'kubernetes', `crictl stop ${SHORT}`, `/kubepods/besteffort/pod12/${ID}`],
    [`/k8s.io/${ID}`, 'containerd', `ctr task kill ${SHORT}`, `/k8s.io/${ID}`],
    ['/slurm/uid_1500/job_7/step_0/task_3', 'slurm', 'scancel 7', '/slurm/uid_1500/job_7/step_0'],
    [
      '/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0',
      'slurm',
      'scancel 7',
      '/system.slice/slurmstepd.scope/job_7/step_batch',
    ],
    ['/system.slice/ollama.service', 'unit', 'systemctl stop ollama.service', '/system.slice/ollama.service'],
    ['/system.slice/vllm@2.service/worker', 'unit', 'systemctl stop vllm@2.service', '/system.slice/vllm@2.service'],
    [
      '/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service',
      'unit',
      'systemctl --user stop vllm.service',
      '/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service',
    ],
    ['/system.slice/a\\x2db.service', 'unit', "systemctl stop 'a\\x2db.service'", '/system.slice/a\\x2db.service'],
    ['/system.slice/run-r1.scope', 'unit', 'systemctl stop run-r1.scope', '/system.slice/run-r1.scope'],
    ['/system.slice/x;reboot.service', null, '', null],
    ['/', null, '', null],
    ['/user.slice', null, '', null],
    ['/user.slice/user-1000.slice/session-3.scope', null, '', null],
    ['/user.slice/user-1000.slice/user@1000.service/init.scope', null, '', null],
    ['/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1b2c.scope', null, '', null],
    ['/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1b2c.scope', null, '', null],
    ['/init.scope', null, '', null],
    ['/system.slice/sshd.service', null, '', null],
    ['/system.slice/sshd@3-10.0.0.1:22-10.0.0.2:999.service', null, '', null],
    ['/system.slice/docker.service', null, '', null],
    ['/system.slice/containerd.service', null, '', null],
    ['/system.slice/slurmd.service', null, '', null],
    ['/system.slice/kubelet.service', null, '', null],
    ['/system.slice/cron.service', null, '', null],
  ])('%s', (path, kind, stopCommand, key) => {
    const container = containerOf([path]);
    expect([container?.kind ?? null, container?.stopCommand ?? '']).toEqual([kind, stopCommand]);
    expect(kinshipCgroups([path])).toEqual(key === null ? [] : [key]);
  });

  it('its container also where only one of several hierarchies knows it', () => {
    expect(containerOf(['/system.slice/node-agent.service', `/docker/${ID}`])).toMatchObject({kind: 'docker'});
    expect(containerOf([])).toBeNull();
  });

  it('the Slurm user, if the path has one', () => {
    expect([
      slurmUid(['/', '/slurm/uid_1500/job_7/step_0']),
      slurmUid(['/system.slice/slurmstepd.scope/job_7']),
    ]).toEqual([1500, null]);
  });
});

describe('whose work it is', () => {
  const owner = (change: Parameters<typeof aProcess>[0]) => {
    const process = aProcess(change);
    return ownershipOf(process, containerOf(process.cgroups), aHost());
  };
  it.each([
    [
      'the container before all, and unknown there',
      {pid: 5, cgroups: [`/docker/${ID}`]},
      {by: 'container', person: null},
    ],
    [
      'the user of the Slurm job',
      {pid: 5, uid: 0, cgroups: [`/slurm/uid_${BO_UID}/job_7/step_0`]},
      {by: 'container', person: 'bo'},
    ],
    [
      'the user whose own systemd keeps the unit',
      {pid: 5, uid: 0, cgroups: [`/user.slice/user-${BO_UID}.slice/user@${BO_UID}.service/app.slice/vllm.service`]},
      {by: 'container', person: 'bo'},
    ],
    [
      'nobody, for a folder that only looks like it',
      {
        pid: 5,
        uid: 0,
        cgroups: [`/system.slice/x.service/user.slice/user-${BO_UID}.slice/user@${BO_UID}.service/a.service`],
      },
      {by: 'container', person: null},
    ],
    [
      'who logged in, before the uid that it runs under',
      {pid: 5, uid: 0, loginUid: BO_UID},
      {by: 'login-uid', person: 'bo'},
    ],
    ['the uid, where nobody logged in', {pid: 5, uid: BO_UID}, {by: 'uid', person: 'bo'}],
    ['the uid, where root logged in', {pid: 5, uid: BO_UID, loginUid: 0}, {by: 'uid', person: 'bo'}],
    ['nobody known, for a uid without a person', {pid: 5, uid: 4_242}, {by: 'uid', person: null, uid: 4_242}],
    ['nobody known, without a uid', {pid: 5, uid: null}, {by: 'unknown', person: null, uid: null}],
  ])('%s', (_, change, expected) => {
    expect(owner(change)).toMatchObject(expected);
  });

  it('is mine only if the hosts file says exactly me', () => {
    const bos = owner({pid: 5, uid: BO_UID});
    const slack = {kind: 'slack-user', id: 'bo', team: 'T1', groups: []} as const;
    expect([
      isOwnedBy(bos, BO),
      isOwnedBy(bos, ANNA),
      isOwnedBy(bos, slack),
      isOwnedBy(owner({pid: 5, uid: 4_242}), BO),
    ]).toEqual([true, false, true, false]);
    expect([isSamePerson(BO, slack, []), personId(slack)]).toEqual([false, 'slack:bo']);
    expect(isSamePerson(BO, slack, [['os:bo', 'slack:bo']])).toBe(true);
    expect(isSamePerson(ANNA, slack, [['os:bo', 'slack:bo']])).toBe(false);
    expect(
      isSamePerson(BO, slack, [
        ['os:bo', 'slack:U1'],
        ['os:anna', 'slack:bo'],
      ]),
    ).toBe(false);
  });
});

describe('lines of parents', () => {
  it('end at PID 1, at an unknown parent, and at a loop', () => {
    const table = processTable(
      aSnapshot([
        aProcess({pid: 500, ppid: 400}),
        aProcess({pid: 400}),
        aProcess({pid: 7, ppid: 8}),
        aProcess({pid: 8, ppid: 7}),
        aProcess({pid: 9, ppid: 4_444}),
      ]),
    );
    expect([500, 7, 9, 12_345].map((pid) => ancestors(pid, table).map((one) => one.pid))).toEqual([
      [400, 100, 90, 1],
      [8],
      [],
      [],
    ]);
  });

  it('an environment is told by its program file, not by what it calls itself', () => {
    expect(isEnvironment(aProcess({pid: 5, comm: 'bash'}))).toBe(false);
    expect(isEnvironment(aProcess({pid: 5, comm: 'python3', executable: anExecutable('/usr/bin/dash')}))).toBe(true);
    expect(isEnvironment(aProcess({pid: 5, comm: 'tmux: server', executable: null}))).toBe(true);
    expect(isEnvironment(aProcess({pid: 5, kernelThread: true}))).toBe(true);
    expect(isEnvironment(aProcess({pid: 5, comm: 'jupyter-lab'}))).toBe(true);
    expect(isEnvironment(aProgram('/opt/bin/jupyter-lab-helper', {pid: 5}))).toBe(false);
  });

  it.each([
    [['VLLM::Worker_TP0'], 'python3', 'VLLM::Worker_TP0', 'vLLM'],
    [['python3', '-m', 'vllm.entrypoints'], 'python3', 'vllm.entrypoints', undefined],
    [['/usr/bin/python3', '-u', '/srv/train.py', '--key', 's3cr3t'], 'python3', 'train.py', undefined],
    [['python3', '-c', 'import secrets'], 'python3', 'python3', undefined],
    [[], 'sglang::schedul', 'sglang::schedul', 'SGLang'],
    [['VLLM::APIServer_0'], 'VLLM::APIServer', 'VLLM::APIServer_0', undefined],
  ])('the title of %j', (words, comm, title, framework) => {
    const process = aProcess({pid: 5, words, comm});
    expect([titleOf(process), roleOf(process)?.framework]).toEqual([title, framework]);
  });
});

describe('a signal that was lost on its way', () => {
  const identities = [aTarget({pid: 500}).identity, aTarget({pid: 501}).identity];
  const intended = (change: Partial<Extract<RunEvent, {kind: 'signal-intended'}>> = {}): RunEvent => ({
    kind: 'signal-intended',
    atMs: 1,
    rung: 1,
    identities,
    signal: 'SIGTERM',
    machine: MACHINE,
    notAfterUptimeMs: 60_000,
    ...change,
  });
  const answered = (pid: number, result: OrderResult = 'sent'): RunEvent => ({
    kind: 'signal-result',
    atMs: 2,
    rung: 1,
    pid,
    signal: 'SIGTERM',
    result,
    detail: '',
    uptimeMs: 1,
  });
  const at = (uptimeMs: number) => aSnapshot([], {uptimeMs});

  it('may still arrive until the uptime that it carries has passed', () => {
    expect(lateArrival([aRun(intended())], at(59_000))).toEqual({
      reason: 'signal-may-still-arrive',
      host: 'gpu-07',
      runId: aRun().id,
      waitMs: 1_000,
    });
    expect(lateArrival([aRun(intended())], at(60_000))).toBeNull();
  });

  it.each<[string, readonly RunEvent[], boolean]>([
    ['none was sent', [], false],
    ['each was answered', [intended(), answered(500), answered(501, 'gone')], false],
    ['one was not', [intended(), answered(500)], true],
    ['another signal was answered', [intended({signal: 'SIGKILL'}), answered(500), answered(501)], true],
    ['it was of another boot', [intended({machine: {...MACHINE, bootId: 'boot-0'}})], false],
  ])('when %s', (_, events, waits) => {
    expect(lateArrival([aRun(), aRun(...events)], at(59_000)) !== null).toBe(waits);
  });
});
