import {describe, expect, test} from 'vitest';
import type {ProtectedEntry} from '../../src/domain/policy.ts';
import {BUILT_IN_PROTECTED, protectedBy} from '../../src/domain/protected.ts';
import type {Executable, ProcessFacts} from '../../src/domain/snapshot.ts';

const HOST_NAMESPACE = '4026531841';

describe('the built-in list protects', () => {
  test.each<[string, string, number, string]>([
    ['the persistence daemon of root', '/usr/bin/nvidia-persistenced', 0, 'NVIDIA persistence daemon'],
    ['the persistence daemon under its own user', '/usr/bin/nvidia-persistenced', 116, 'NVIDIA persistence daemon'],
    ['the DCGM host engine', '/usr/bin/nv-hostengine', 0, 'DCGM'],
    ['the DCGM exporter', '/usr/bin/dcgm-exporter', 0, 'DCGM'],
    ['the fabric manager', '/usr/bin/nv-fabricmanager', 0, 'NVIDIA fabric manager'],
    ['imex', '/usr/bin/nvidia-imex', 0, 'NVIDIA IMEX'],
    ['the MPS control daemon', '/usr/bin/nvidia-cuda-mps-control', 0, 'CUDA MPS'],
    ['the MPS server under its client', '/usr/bin/nvidia-cuda-mps-server', 1001, 'CUDA MPS'],
    ['Xorg of a desktop user', '/usr/lib/xorg/Xorg', 1000, 'display server'],
    ['Xwayland', '/usr/bin/Xwayland', 1000, 'display server'],
    ['gnome-shell of the greeter', '/usr/bin/gnome-shell', 120, 'display server'],
    ['gdm', '/usr/sbin/gdm3', 0, 'display manager'],
    ['a gdm worker', '/usr/libexec/gdm-session-worker', 0, 'display manager'],
    ['sshd', '/usr/sbin/sshd', 0, 'ssh server'],
    ['sshd of Fedora 42, where sbin is bin', '/usr/bin/sshd', 0, 'ssh server'],
    ['a split sshd', '/usr/lib/openssh/sshd-session', 0, 'ssh server'],
    ['systemd', '/usr/lib/systemd/systemd', 0, 'system manager'],
    ['journald', '/lib/systemd/systemd-journald', 0, 'system manager'],
    ['dockerd', '/usr/bin/dockerd', 0, 'container daemon'],
    ['containerd', '/usr/bin/containerd', 0, 'container daemon'],
    ['a containerd shim', '/usr/bin/containerd-shim-runc-v2', 0, 'container daemon'],
    ['a shim of k3s', '/var/lib/rancher/k3s/data/4fb1/bin/containerd-shim-runc-v2', 0, 'container daemon'],
    ['crio', '/usr/bin/crio', 0, 'container daemon'],
    ["podman's conmon", '/usr/bin/conmon', 0, 'container daemon'],
    ['slurmd', '/usr/sbin/slurmd', 0, 'job daemon'],
    ['slurmstepd of a cluster image', '/opt/slurm/sbin/slurmstepd', 0, 'job daemon'],
    ['kubelet', '/usr/local/bin/kubelet', 0, 'job daemon'],
  ])('%s', (_, path, uid, name) => {
    expect(protectedBy(facts({executable: file(path), uid}), HOST_NAMESPACE, BUILT_IN_PROTECTED)?.name).toBe(name);
  });

  test.each([
    ['/system.slice/nvidia-persistenced.service', 'NVIDIA persistence daemon'],
    ['/system.slice/nvidia-dcgm.service', 'DCGM'],
    ['/system.slice/nvidia-fabricmanager.service', 'NVIDIA fabric manager'],
    ['/system.slice/system-gpu.slice/nvidia-imex.service', 'NVIDIA IMEX'],
    ['/system.slice/nvidia-mps.service/worker', 'CUDA MPS'],
    ['/system.slice/gdm.service', 'display manager'],
  ])('whatever runs in %s, also from a mount namespace of its own', (path, name) => {
    const inside = facts({executable: file('/opt/anything'), mountNamespace: '4026532999', cgroups: ['/', path]});
    expect(protectedBy(inside, HOST_NAMESPACE, BUILT_IN_PROTECTED)?.name).toBe(name);
  });

  test('a daemon whose file was replaced by an update and so reads as deleted', () => {
    const old = facts({executable: {...file('/usr/bin/nv-hostengine'), deleted: true}});
    expect(protectedBy(old, HOST_NAMESPACE, BUILT_IN_PROTECTED)?.name).toBe('DCGM');
  });

  test.each<[string, string | null, string | null]>([
    ["the host's own", HOST_NAMESPACE, null],
    ["the process's", null, HOST_NAMESPACE],
  ])('a listed daemon when %s mount namespace could not be read: in doubt nothing is signalled', (_, own, host) => {
    const daemon = facts({executable: file('/usr/sbin/sshd'), mountNamespace: own});
    expect(protectedBy(daemon, host, BUILT_IN_PROTECTED)?.name).toBe('ssh server');
  });
});

describe('with any list, an empty one included, there is no signal for', () => {
  test.each<[string, Partial<ProcessFacts>, string]>([
    ['PID 1', {pid: 1, executable: file('/opt/tini')}, 'init'],
    ['kthreadd, which is PID 2 outside of namespaces', {pid: 2, kernelThread: true, executable: null}, 'kernel thread'],
    ['a kernel thread', {pid: 412, kernelThread: true, executable: null}, 'kernel thread'],
  ])('%s', (_, given, name) => {
    expect(protectedBy(facts(given), HOST_NAMESPACE, [])?.name).toBe(name);
  });
});

describe('no list can leave out the core', () => {
  const entry: ProtectedEntry = {name: 'DCGM', executables: ['/opt/none'], uids: [12345], units: []};
  test.each<[string, readonly ProtectedEntry[]]>([
    ['an empty one', []],
    ['one that has another entry of the same name', [entry]],
    ['one that was written to cover less', BUILT_IN_PROTECTED.map((one) => ({...one, executables: [], units: []}))],
  ])('%s', (_, list) => {
    for (const built of BUILT_IN_PROTECTED) {
      for (const path of built.executables.filter((one) => !one.includes('*')))
        expect(protectedBy(facts({executable: file(path)}), HOST_NAMESPACE, list)?.name).toBe(built.name);
      for (const unit of built.units)
        expect(protectedBy(facts({cgroups: [`/system.slice/${unit}`]}), HOST_NAMESPACE, list)?.name).toBe(built.name);
    }
  });
});

describe('no protection is had by', () => {
  test.each<[string, Partial<ProcessFacts>]>([
    ['a comm of "sshd"', {comm: 'sshd', words: ['/usr/sbin/sshd', '-D'], executable: file('/usr/bin/python3.12')}],
    ['a comm of "nvidia-persiste"', {comm: 'nvidia-persiste', executable: file('/usr/bin/python3.12')}],
    ['a title in brackets like a kernel thread', {comm: 'kworker/0:1', words: ['[kworker/0:1]'], executable: null}],
    ['a program file called sshd in /tmp', {executable: file('/tmp/sshd')}],
    ['the listed path below another folder', {executable: file('/tmp/usr/sbin/sshd')}],
    ['the listed path with text behind it', {executable: file('/usr/sbin/sshd2')}],
    ['the listed path in a chroot', {executable: file('/srv/jail/usr/sbin/sshd')}],
    ['a folder where the list has one file', {executable: file('/usr/bin/containerd-shim/x')}],
    ['the listed path in another mount namespace', {mountNamespace: '4026532801'}],
    ["a file of the user's own at the listed path", {executable: {...file('/usr/sbin/sshd'), ownerUid: 1000}}],
    ['a file that the group may write', {executable: {...file('/usr/sbin/sshd'), mode: 0o775}}],
    ['a file that anybody may write', {executable: {...file('/usr/sbin/sshd'), mode: 0o757}}],
    ["sshd under a user's uid, which may have been preloaded with anything", {uid: 1000}],
    ['sshd under a uid that could not be read', {uid: null}],
    ['an executable that could not be read', {executable: null, comm: 'sshd', unreadable: ['exe']}],
  ])('%s', (_, given) => {
    const impostor = facts({executable: file('/usr/sbin/sshd'), ...given});
    expect(protectedBy(impostor, HOST_NAMESPACE, BUILT_IN_PROTECTED)).toBeNull();
  });

  test.each([
    ["a unit of that name in a user's own manager", '/user.slice/user-1000.slice/user@1000.service/app.slice/U'],
    ['a folder of that name in a login session', '/user.slice/user-1000.slice/session-3.scope/U'],
    ['a folder of that name right below user.slice', '/user.slice/U'],
    ['systemd inside a Docker container', `/system.slice/docker-${'a'.repeat(64)}.scope/system.slice/U`],
    ['the same with cgroupfs', `/docker/${'a'.repeat(64)}/system.slice/U`],
    ['systemd inside a system container', '/lxc.payload.box/system.slice/U'],
    ['systemd inside a pod', '/kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope/system.slice/U'],
    ['a folder in a service that delegates', '/system.slice/jupyterhub.service/U'],
    ['text that only contains the name', '/system.slice/not-nvidia-persistenced.service'],
    ['text that only starts with the name', '/system.slice/nvidia-persistenced.service.d'],
    ['a unit with the name as an instance', '/system.slice/job@nvidia-persistenced.service'],
    ['a name with a slash escaped', '/system.slice/a\\x2fnvidia-persistenced.service'],
    ['a cgroup seen from below its root', '/../../system.slice/U'],
    ['the ssh unit, where logins may stay without pam_systemd', '/system.slice/ssh.service'],
    ['the unit of slurmd, where jobs may stay', '/system.slice/slurmd.service'],
    ['the unit of Docker', '/system.slice/docker.service'],
    ['the root cgroup', '/'],
  ])('the cgroup of %s', (_, path) => {
    const impostor = facts({
      executable: file('/home/mallory/python'),
      uid: 1000,
      cgroups: [path.replace(/U$/, 'nvidia-persistenced.service')],
    });
    expect(protectedBy(impostor, HOST_NAMESPACE, BUILT_IN_PROTECTED)).toBeNull();
  });
});

describe('an entry of the policy file', () => {
  const id = 'c'.repeat(64);
  const entry: ProtectedEntry = {
    name: 'site monitor',
    executables: ['/opt/monitor/*/agent*'],
    uids: [995],
    units: [id, 'docker-0123*', 'site-monitor@*'],
  };

  test.each<[boolean, string, Partial<ProcessFacts>]>([
    [true, 'covers every version by *', {executable: file('/opt/monitor/1.2/agent-gpu'), uid: 995}],
    [false, "doesn't reach across a slash by *", {executable: file('/opt/monitor/1/2/agent'), uid: 995}],
    [false, 'covers only its uids', {executable: file('/opt/monitor/1.2/agent'), uid: 0}],
    [true, 'covers a container by its id with cgroupfs', {cgroups: [`/docker/${id}`]}],
    [true, 'covers a container of a pod', {cgroups: [`/kubepods/burstable/pod${'1'.repeat(36)}/${id}`]}],
    [true, 'covers a container scope by the start of its id', {cgroups: ['/system.slice/docker-012345.scope']}],
    [true, 'covers instances of a unit', {cgroups: ['/system.slice/site-monitor@3.service']}],
    [false, 'says nothing of a container inside another', {cgroups: [`/docker/${'d'.repeat(64)}/docker/${id}`]}],
  ])('(%s) %s', (covered, _, given) => {
    const process = facts({executable: file('/usr/bin/python3.12'), ...given});
    expect(protectedBy(process, HOST_NAMESPACE, [entry])).toBe(covered ? entry : null);
  });
});

test('every built-in entry names absolute paths and no interpreter, which would cover every job', () => {
  const paths = BUILT_IN_PROTECTED.flatMap((entry) => entry.executables);
  expect(paths.filter((path) => !/^(\/[A-Za-z0-9._-]+\*?|\/\*)+$/.test(path))).toEqual([]);
  expect(paths.filter((path) => /\/(python|perl|ruby|node|java|bash|sh|env)[0-9.]*\*?$/.test(path))).toEqual([]);
});

function file(path: string): Executable {
  return {path, deleted: false, id: '2049:1337', ownerUid: 0, mode: 0o755};
}

function facts(given: Partial<ProcessFacts>): ProcessFacts {
  return {
    pid: 4711,
    ppid: 1,
    processGroup: 4711,
    session: 4711,
    state: 'S',
    startTicks: '12345',
    kernelThread: false,
    comm: 'python3',
    threads: 1,
    cpuTicks: '9',
    uid: 0,
    userName: null,
    loginUid: null,
    executable: null,
    words: [],
    wordsCut: false,
    cgroups: ['/system.slice/other.service'],
    pidNamespace: '4026531836',
    mountNamespace: HOST_NAMESPACE,
    signalBlocked: '0',
    signalIgnored: '0',
    signalCaught: '0',
    signalPending: '0',
    unreadable: [],
    ...given,
  };
}
