/** Who owns a process, nearest first, and how it is ended the right way. */
import {describe, expect, it} from 'vitest';
import {processTable} from '../../src/domain/lineage.ts';
import {digestText} from '../../src/domain/make-plan.ts';
import {askable, keepsWhole, type Owner, type OwnerFacts, withFacts} from '../../src/domain/owner.ts';
import {ownersOf} from '../../src/domain/owners-of.ts';
import {ownerFactsIn, ownersToAsk, withOwnerFacts} from '../../src/domain/plan-owners.ts';
import type {ProcessFacts} from '../../src/domain/snapshot.ts';
import {
  aDiagnosis,
  aPlan,
  aProcess,
  aProgram,
  aSnapshot,
  aTarget,
  billed,
  holderOf,
  keptOf,
  planFor,
  targetPids,
} from '../doubles/build.ts';

const ID = '0123456789abcdef'.repeat(4);
const INNER = 'fedcba9876543210'.repeat(4);
const SHORT = ID.slice(0, 12);
const POD = '0f2c1d5e-1111-2222-3333-444455556666';
const PYTHON = '/usr/bin/python3';

const owners = (process: ProcessFacts, ...others: readonly ProcessFacts[]): readonly Owner[] =>
  ownersOf(process, processTable(aSnapshot([process, ...others])));
const inGroup = (...cgroups: readonly string[]): readonly Owner[] => owners(aProcess({pid: 500, cgroups}));
const brief = (all: readonly Owner[]): readonly string[] =>
  all.map(({kind, name, stopCommand, restarts}) => `${kind} ${name} | ${stopCommand ?? '-'} | ${restarts}`);

describe('by its cgroup, a process belongs to', () => {
  it.each<[string, readonly string[]]>([
    [`/system.slice/docker-${ID}.scope`, [`docker ${SHORT} | docker stop ${SHORT} | unknown`]],
    [`/docker/${ID}/system.slice/inner.service`, [`docker ${SHORT} | docker stop ${SHORT} | unknown`]],
    [`/machine.slice/libpod-${ID}.scope/container`, [`podman ${SHORT} | podman stop ${SHORT} | unknown`]],
    [`/moby/${ID}`, [`containerd ${SHORT} | ctr task kill ${SHORT} | unknown`]],
    [
      `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${POD.replaceAll('-', '_')}.slice/cri-containerd-${ID}.scope`,
      [`kubernetes ${SHORT} | crictl stop ${SHORT} | unknown`, `kubernetes-pod ${POD} | - | unknown`],
    ],
    [
      `/kubepods/besteffort/pod${POD}/${ID}`,
      [`kubernetes ${SHORT} | crictl stop ${SHORT} | unknown`, `kubernetes-pod ${POD} | - | unknown`],
    ],
    [
      '/slurm/uid_1500/job_7/step_0/task_3',
      ['slurm-step 7.0 | scancel 7.0 | unknown', 'slurm-job 7 | scancel 7 | unknown'],
    ],
    ['/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0', ['slurm-job 7 | scancel 7 | unknown']],
    ['/system.slice/n1_slurmstepd.scope/job_7/step_extern', ['slurm-job 7 | scancel 7 | unknown']],
    ['/system.slice/ollama.service', ['unit ollama.service | systemctl stop ollama.service | unknown']],
    ['/system.slice/run-r1.scope', ['unit run-r1.scope | systemctl stop run-r1.scope | no']],
    [
      '/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service',
      ['user-unit vllm.service | systemctl --user stop vllm.service | unknown'],
    ],
    ['/user.slice/user-1000.slice/session-3.scope', []],
    ['/user.slice/user-1000.slice/user@1000.service/init.scope', []],
    ['/system.slice/sshd.service', []],
    ['/system.slice/slurmd.service', []],
    ['/', []],
  ])('%s', (path, expected) => {
    expect(brief(inGroup(path))).toEqual(expected);
  });

  it('the inner container first, which no tool of this host knows, then the outer one', () => {
    expect(brief(inGroup(`/docker/${ID}/docker/${INNER}`))).toEqual([
      `docker ${INNER.slice(0, 12)} | - | unknown`,
      `docker ${SHORT} | docker stop ${SHORT} | unknown`,
    ]);
  });

  it('each owner once, over all hierarchies of cgroup v1', () => {
    expect(brief(inGroup(`/docker/${ID}`, '/system.slice/agent.service', `/docker/${ID}`))).toEqual([
      `docker ${SHORT} | docker stop ${SHORT} | unknown`,
      'unit agent.service | systemctl stop agent.service | unknown',
    ]);
  });

  it('and says whose folders they are, since a user may make one of any name below their own manager', () => {
    const [own] = inGroup(`/user.slice/user-1001.slice/user@1001.service/user.slice/docker-${ID}.scope`);
    expect(own).toMatchObject({kind: 'docker', uid: 1001, id: ID, by: 'cgroup'});
    expect(inGroup(`/system.slice/docker-${ID}.scope`)[0]?.uid).toBeNull();
  });
});

describe('by its parents, a process belongs to', () => {
  const raylet = aProgram('/opt/ray/raylet', {
    pid: 400,
    words: ['/opt/ray/raylet', '--sock=/tmp/ray/session_2026-12/s'],
  });
  const torchrun = (...options: readonly string[]) =>
    aProcess({pid: 400, words: [PYTHON, '/opt/bin/torchrun', ...options, 'train.py']});
  const jupyter = aProcess({pid: 400, comm: 'jupyter-lab', words: [PYTHON, '/opt/bin/jupyter-lab']});
  const kernel = aProcess({
    pid: 500,
    ppid: 400,
    words: [PYTHON, '-m', 'ipykernel_launcher', '-f', '/run/kernel-ab-12.json'],
  });
  const worker = aProcess({pid: 500, ppid: 400});

  it.each<[string, ProcessFacts, readonly ProcessFacts[], readonly string[]]>([
    ['Ray', worker, [raylet], ['ray session_2026-12 | ray stop | unknown']],
    ['torchrun, which starts nothing again unless told so', worker, [torchrun()], ['torchrun 400 | - | no']],
    ['torchrun that was told so', worker, [torchrun('--max-restarts=3')], ['torchrun 400 | - | yes']],
    ['torchrun that was told so, spelled apart', worker, [torchrun('--max_restarts', '2')], ['torchrun 400 | - | yes']],
    ['torchrun that was told never', worker, [torchrun('--max-restarts', '0')], ['torchrun 400 | - | no']],
    [
      'supervisord',
      worker,
      [aProcess({pid: 400, words: [PYTHON, '/usr/bin/supervisord', '-n']})],
      ['supervisord 400 | - | unknown'],
    ],
    ['tmux', worker, [aProgram('/usr/bin/tmux', {pid: 400, comm: 'tmux: server'})], ['tmux 400 | - | no']],
    ['screen', worker, [aProgram('/usr/bin/screen', {pid: 400})], ['screen 400 | - | no']],
    [
      'a Slurm step whose plugin makes no cgroups',
      worker,
      [aProgram('/usr/sbin/slurmstepd', {pid: 400, words: ['slurmstepd: [7.0]']})],
      ['slurm-step 7.0 | scancel 7.0 | unknown', 'slurm-job 7 | scancel 7 | unknown'],
    ],
    [
      'a batch script of Slurm',
      worker,
      [aProgram('/usr/sbin/slurmstepd', {pid: 400, words: ['slurmstepd: [7.batch]']})],
      ['slurm-job 7 | scancel 7 | unknown'],
    ],
    [
      'the MPS control that starts MPS servers',
      worker,
      [aProgram('/usr/bin/nvidia-cuda-mps-control', {pid: 400})],
      ['mps 400 | echo quit | nvidia-cuda-mps-control | yes'],
    ],
    ['a kernel that Jupyter would start again', kernel, [jupyter], ['jupyter ab-12 | - | yes']],
    [
      'a kernel of an editor',
      kernel,
      [aProcess({pid: 400, words: ['/opt/code/node']})],
      ['jupyter ab-12 | - | unknown'],
    ],
    ['a kernel whose server is gone', {...kernel, ppid: 1}, [], ['jupyter ab-12 | - | no']],
    ['the kernel above a loader', aProcess({pid: 600, ppid: 500}), [kernel, jupyter], ['jupyter ab-12 | - | yes']],
    ['Ray, by its own title only', aProcess({pid: 500, words: ['ray::IDLE']}), [], ['ray 500 | ray stop | unknown']],
    [
      'Ray once, if its raylet is there',
      aProcess({pid: 500, ppid: 400, words: ['ray::IDLE']}),
      [raylet],
      ['ray session_2026-12 | ray stop | unknown'],
    ],
    ['nobody, under a login shell', aProcess({pid: 500}), [], []],
    ['nobody, where only the name is one', worker, [aProcess({pid: 400, comm: 'raylet'})], []],
  ])('%s', (_, process, others, expected) => {
    expect(brief(owners(process, ...others))).toEqual(expected);
  });

  it('those inside its container before the container, those outside it after', () => {
    const group = [`/docker/${ID}`];
    const tmux = aProgram('/usr/bin/tmux', {pid: 300, comm: 'tmux: server'});
    const agent = {...torchrun(), ppid: 300, cgroups: group};
    expect(owners({...worker, cgroups: group}, agent, tmux).map((one) => one.kind)).toEqual([
      'torchrun',
      'docker',
      'tmux',
    ]);
    expect(owners({...worker, cgroups: group}, {...agent, cgroups: ['/']}, tmux).map((one) => one.kind)).toEqual([
      'docker',
      'torchrun',
      'tmux',
    ]);
  });

  it("never to a parent's unit that it has left", () => {
    const parent = aProcess({pid: 400, cgroups: ['/system.slice/agent.service']});
    expect(owners({...worker, cgroups: ['/system.slice/run-r1.scope']}, parent).map((one) => one.name)).toEqual([
      'run-r1.scope',
    ]);
  });

  it("MPS, by the control's own list of clients: it is let go of without its neighbours", () => {
    const process = aProcess({pid: 500});
    const mps = {controlPid: 70, servers: [{pid: 71, clients: [499, 500]}]};
    const [client] = ownersOf(process, processTable(aSnapshot([process])), mps);
    expect(client).toMatchObject({
      kind: 'mps',
      by: 'mps',
      stopCommand: 'echo terminate_client 71 500 | nvidia-cuda-mps-control',
    });
    expect(
      ownersOf(process, processTable(aSnapshot([process])), {...mps, servers: [{pid: 71, clients: [499]}]}),
    ).toEqual([]);
  });
});

describe('what an owner means for the plan', () => {
  const jupyter = aProcess({pid: 400, comm: 'jupyter-lab', words: [PYTHON, '/opt/bin/jupyter-lab']});
  const kernel = aProcess({
    pid: 500,
    ppid: 400,
    words: [PYTHON, '-m', 'ipykernel_launcher', '-f', '/run/kernel-ab.json'],
  });
  const look = aSnapshot([jupyter, billed(kernel, {0: 8_525})], {used: [8_534], literals: ['ipykernel']});

  it('a kernel that is asked for by name is contained: chosen by hand, never ticked', () => {
    expect(holderOf(aDiagnosis(look), 500).findings).toContain('contained');
    const plan = planFor(look, {match: 'ipykernel'});
    expect(targetPids(plan)).toEqual([]);
    expect(keptOf(plan, 500)).toMatchObject({
      why: 'contained',
      choosable: true,
      owners: [{kind: 'jupyter', name: 'ab'}],
    });
    expect(targetPids(planFor(look, {pids: [500]}))).toEqual([500]);
  });

  it('an agent that is part of the workload, or a terminal, contains nobody', () => {
    const agent = aProcess({pid: 400, words: [PYTHON, '-m', 'torch.distributed.run', 'vllm_train.py']});
    const plan = planFor(aSnapshot([agent, billed(aProcess({pid: 500, ppid: 400}), {0: 4_614})], {used: [4_623]}), {
      match: 'vllm',
    });
    expect(targetPids(plan)).toEqual([400, 500]);
    expect(plan.targets[1]?.owners.map((one) => one.kind)).toEqual(['torchrun']);
    const kinds = ['ray', 'torchrun', 'supervisord', 'tmux', 'screen'] as const;
    const [any] = inGroup('/system.slice/a.service');
    expect(any !== undefined && kinds.some((kind) => keepsWhole({...any, kind}))).toBe(false);
  });
});

describe('who is asked about', () => {
  const one = (...cgroups: readonly string[]) => askable(inGroup(...cgroups)).map(({kind, id, uid}) => [kind, id, uid]);

  it('units, containers and jobs that a tool of this host knows, each once', () => {
    expect(one('/system.slice/a.service', '/system.slice/a.service')).toEqual([['unit', 'a.service', null]]);
    expect(one(`/system.slice/docker-${ID}.scope`)).toEqual([['docker', ID, null]]);
    expect(one('/slurm/uid_1500/job_7/step_0')).toEqual([['slurm-job', '7', null]]);
    expect(one('/user.slice/user-1000.slice/user@1000.service/app.slice/b.service')).toEqual([
      ['user-unit', 'b.service', 1000],
    ]);
  });

  it('none inside another container, none of a runtime of a user, and none that no tool is asked about', () => {
    expect(one(`/docker/${ID}/docker/${INNER}`)).toEqual([['docker', ID, null]]);
    expect(one(`/user.slice/user-1001.slice/user@1001.service/user.slice/libpod-${ID}.scope`)).toEqual([]);
    expect(one(`/kubepods/besteffort/pod${POD}/${ID}`, `/moby/${ID}`)).toEqual([]);
  });

  it('for a plan: targets and those who may be chosen, not the locked; what was said stays for the next version', () => {
    const owners = inGroup('/system.slice/a.service');
    const kept = (pid: number, choosable: boolean, name: string) => ({
      ...aTarget({pid}),
      pid,
      why: 'contained' as const,
      choosable,
      owners: inGroup(`/system.slice/${name}.service`),
    });
    const plan = aPlan({targets: [aTarget({pid: 500, owners})], kept: [kept(600, true, 'b'), kept(700, false, 'c')]});
    expect(ownersToAsk(plan).map((asked) => asked.id)).toEqual(['a.service', 'b.service']);
    const facts = {
      kind: 'unit',
      id: 'b.service',
      title: null,
      state: 'active',
      restarts: 'yes',
      setting: null,
      run: 'r',
      restartCount: 1,
    } as const;
    const known = withOwnerFacts(plan, [facts]);
    expect(known.kept[0]?.owners[0]).toMatchObject({restarts: 'yes', facts: {run: 'r'}});
    expect(known.targets).toEqual(plan.targets);
    expect(ownerFactsIn(known)).toEqual([facts]);
    expect(digestText(known)).toBe(digestText(plan));
  });
});

describe('what its tool says of an owner', () => {
  const facts: OwnerFacts = {
    kind: 'unit',
    id: 'ollama.service',
    title: null,
    state: 'active',
    restarts: 'yes',
    setting: 'Restart=always',
    run: 'abc',
    restartCount: 3,
  };
  const unit = inGroup('/system.slice/ollama.service');

  it('is kept with it, and settles what only its settings could tell', () => {
    expect(withFacts(unit, [facts])[0]).toMatchObject({
      restarts: 'yes',
      facts: {run: 'abc', setting: 'Restart=always'},
    });
  });

  it('leaves it as it was where nothing is said, or of another one', () => {
    expect(withFacts(unit, [])).toEqual(unit);
    expect(
      withFacts(unit, [
        {...facts, id: 'other.service'},
        {...facts, kind: 'docker'},
      ]),
    ).toEqual(unit);
    const scope = inGroup('/system.slice/run-r1.scope');
    expect(withFacts(scope, [{...facts, id: 'run-r1.scope', restarts: 'unknown'}])[0]?.restarts).toBe('no');
  });
});
