/** Who is never signalled, whatever was typed. Told by what the kernel and root say of a process, never by its name. */
import type {ProtectedEntry} from './policy.ts';
import type {Executable, ProcessFacts} from './snapshot.ts';

const ROOT = [0];
const STANDARD_FOLDERS = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin', '/usr/local/sbin'];

/** PID 1 and 2, and whatever carries PF_KTHREAD: protected with any list, an empty one included. */
export const INIT: ProtectedEntry = {name: 'init', executables: [], uids: null, units: []};
export const KERNEL_THREAD: ProtectedEntry = {name: 'kernel thread', executables: [], uids: null, units: []};

const GROUP_OR_OTHER_WRITE = 0o022;
/** Folders at the root of a hierarchy, or below such, that only root makes: cgroupfs layouts of Docker, Podman, CRI. */
const ROOT_MADE = /^(docker|libpod_parent|kubepods|besteffort|burstable|guaranteed|pod[0-9a-f-]{36})$/;

/**
 * What is never signalled, as shipped. Paths are those of the usual packages on Debian, Ubuntu, RHEL, Fedora, SUSE, Arch
 * and of common cluster images (Bright, ParallelCluster, k3s); the policy file adds others.
 *
 * Two rules keep this list honest. Uids are open (null) only where the real daemon runs under other uids *and* holds GPU
 * files: else anybody could start such a program under their own uid, preload their work into it and be untouchable. And
 * units are listed only where nothing but the daemon lives in them: a login without pam_systemd stays in ssh.service, a
 * job without a cgroup plugin in slurmd.service, so those units protect nobody.
 */
export const BUILT_IN_PROTECTED: readonly ProtectedEntry[] = [
  {
    // May run as its own user (--user), so any uid.
    name: 'NVIDIA persistence daemon',
    executables: installed('nvidia-persistenced'),
    uids: null,
    units: ['nvidia-persistenced.service'],
  },
  {
    name: 'DCGM',
    // The host engine and the exporter may run under an account of their own.
    executables: [
      ...installed('nv-hostengine', 'dcgm-exporter'),
      '/usr/libexec/datacenter-gpu-manager-4/nv-hostengine',
    ],
    uids: null,
    units: ['nvidia-dcgm.service', 'dcgm.service', 'nv-hostengine.service', 'dcgm-exporter.service'],
  },
  {
    name: 'NVIDIA fabric manager',
    executables: [...installed('nv-fabricmanager', 'nvlsm'), '/opt/nvidia/nvlsm/sbin/nvlsm'],
    uids: ROOT,
    units: ['nvidia-fabricmanager.service'],
  },
  {
    name: 'NVIDIA IMEX',
    executables: installed('nvidia-imex'),
    uids: ROOT,
    units: ['nvidia-imex.service'],
  },
  {
    // The server runs under its client's uid and the control daemon under whoever started it; ending either ends every client.
    name: 'CUDA MPS',
    executables: installed('nvidia-cuda-mps-control', 'nvidia-cuda-mps-server'),
    uids: null,
    units: ['nvidia-mps.service', 'nvidia-cuda-mps.service', 'nvidia-cuda-mps-control.service'],
  },
  {
    name: 'NVIDIA system daemon',
    executables: installed('nvidia-powerd', 'nvidia-gridd', 'nvidia-vgpud', 'nvidia-vgpu-mgr', 'nvidia-topologyd'),
    uids: ROOT,
    units: ['nvidia-powerd.service', 'nvidia-gridd.service', 'nvidia-vgpud.service', 'nvidia-vgpu-mgr.service'],
  },
  {
    // A desktop's server runs as the person at the screen (rootless Xorg, Wayland compositors).
    name: 'display server',
    executables: [
      ...installed(
        'Xorg',
        'Xwayland',
        'X',
        'Xephyr',
        'gnome-shell',
        'mutter',
        'kwin_x11',
        'kwin_wayland',
        'plasmashell',
      ),
      ...installed('sway', 'weston', 'cinnamon', 'Hyprland', 'wayfire', 'labwc', 'gamescope', 'xfwm4', 'marco'),
      '/usr/lib/xorg/Xorg',
      '/usr/libexec/Xorg',
      '/usr/lib/Xorg',
      '/usr/lib/Xorg.wrap',
      '/usr/lib/xorg/Xorg.wrap',
      '/usr/libexec/Xorg.wrap',
    ],
    uids: null,
    units: [],
  },
  {
    name: 'display manager',
    executables: [
      ...installed('gdm', 'gdm3', 'lightdm', 'sddm', 'xdm', 'lxdm', 'greetd'),
      ...inFolders(['/usr/libexec', '/usr/lib/gdm', '/usr/lib/gdm3'], ['gdm-*']),
    ],
    uids: ROOT,
    units: ['gdm.service', 'gdm3.service', 'lightdm.service', 'sddm.service', 'xdm.service', 'lxdm.service'],
  },
  {
    name: 'ssh server',
    executables: [
      ...installed('sshd', 'dropbear'),
      ...inFolders(['/usr/lib/openssh', '/usr/libexec/openssh', '/usr/lib/ssh', '/usr/libexec'], ['sshd-*']),
    ],
    uids: ROOT,
    units: [],
  },
  {
    name: 'system manager',
    executables: [
      ...installed('init', 'systemd', 'openrc-init', 'runit', 'runit-init', 'dbus-daemon', 'dbus-broker'),
      ...inFolders(['/usr/lib/systemd', '/lib/systemd'], ['systemd', 'systemd-*']),
    ],
    uids: ROOT,
    units: [
      'systemd-journald.service',
      'systemd-udevd.service',
      'systemd-logind.service',
      'dbus.service',
      'dbus-broker.service',
    ],
  },
  {
    name: 'container daemon',
    executables: [
      ...installed('dockerd', 'docker-proxy', 'containerd', 'containerd-shim*', 'crio', 'conmon', 'conmonrs', 'podman'),
      ...installed('runc', 'crun', 'lxc-monitord', 'lxd', 'incusd', 'nvidia-container-*', 'nvidia-ctk'),
      ...inFolders(['/usr/libexec', '/usr/libexec/crio', '/usr/lib/crio', '/usr/libexec/podman'], ['conmon', 'crio']),
      ...inFolders(['/opt/containerd/bin', '/opt/bin'], ['containerd', 'containerd-shim*', 'dockerd']),
      ...inFolders(
        [
          '/var/lib/rancher/k3s/data/*/bin',
          '/var/lib/rancher/rke2/data/*/bin',
          '/var/lib/k0s/bin',
          '/snap/docker/*/bin',
        ],
        ['containerd', 'containerd-shim*', 'dockerd'],
      ),
    ],
    uids: ROOT,
    units: [],
  },
  {
    name: 'job daemon',
    executables: [
      ...installed('slurmd', 'slurmstepd', 'kubelet', 'k3s', 'rke2', 'k0s', 'nomad', 'condor_master', 'condor_startd'),
      ...installed('condor_starter', 'pbs_mom'),
      ...inFolders(
        ['/opt/slurm/sbin', '/cm/shared/apps/slurm/*/sbin', '/cm/local/apps/slurm/*/sbin'],
        ['slurmd', 'slurmstepd'],
      ),
      ...inFolders(['/opt/pbs/sbin', '/var/lib/rancher/rke2/data/*/bin', '/var/lib/k0s/bin'], ['pbs_mom', 'kubelet']),
    ],
    uids: ROOT,
    units: [],
  },
];

/** What is protected under any policy, and what a policy adds: no list can leave the core out. */
export function withCore(list: readonly ProtectedEntry[]): readonly ProtectedEntry[] {
  const given = new Set(list);
  return [...BUILT_IN_PROTECTED.filter((entry) => !given.has(entry)), ...list];
}

/**
 * The entry of `list`, or of the core, that protects `process`; null if none does.
 *
 * By executable: the file that runs (proc_pid_exe(5)), in the mount namespace of the host's own services, owned by root
 * and writable by nobody else, under a listed uid. Where either namespace could not be read, it counts as the host's: in
 * doubt nothing is signalled. By cgroup: a listed unit or container that stands where only root can put it.
 */
export function protectedBy(
  process: ProcessFacts,
  hostMountNamespace: string | null,
  list: readonly ProtectedEntry[],
): ProtectedEntry | null {
  if (process.kernelThread) return KERNEL_THREAD;
  if (process.pid === 1) return INIT;
  const whole = withCore(list);
  return (
    whole.find((entry) => runsListedFile(process, hostMountNamespace, entry)) ??
    whole.find((entry) => process.cgroups.some((path) => isInUnit(path, entry.units))) ??
    null
  );
}

/** True if a folder of this name is a unit or container that `list`, or the core, protects. */
export function listsUnit(name: string, list: readonly ProtectedEntry[]): boolean {
  return withCore(list).some((entry) => entry.units.some((unit) => fits(name, unit)));
}

/** True if the file that runs is one that the entry lists and root alone can change, whoever runs it and wherever. */
export function runsProgramOf(process: ProcessFacts, entry: ProtectedEntry): boolean {
  const {executable} = process;
  return (
    executable !== null &&
    isRootsAlone(executable) &&
    entry.executables.some((pattern) => fits(executable.path, pattern))
  );
}

function runsListedFile(process: ProcessFacts, hostMountNamespace: string | null, entry: ProtectedEntry): boolean {
  const {uid} = process;
  if (isKnownToDiffer(process.mountNamespace, hostMountNamespace)) return false;
  if (entry.uids !== null && (uid === null || !entry.uids.includes(uid))) return false;
  return runsProgramOf(process, entry);
}

function isRootsAlone(executable: Executable): boolean {
  return executable.ownerUid === 0 && (executable.mode & GROUP_OR_OTHER_WRITE) === 0;
}

function isKnownToDiffer(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

/**
 * True if one folder of this cgroup path is a listed unit and everything above it is a slice outside user.slice or a
 * runtime's own folder. A user's manager, a login session and a container may all make folders of any name below
 * themselves (cgroups(7), delegation), so what stands below a service, a scope or a container proves nothing.
 */
function isInUnit(path: string, units: readonly string[]): boolean {
  const folders = path.split('/').filter((folder) => folder !== '');
  if (folders[0] === 'user.slice') return false;
  for (const folder of folders) {
    if (units.some((unit) => fits(folder, unit))) return true;
    if (!folder.endsWith('.slice') && !ROOT_MADE.test(folder)) return false;
  }
  return false;
}

/** Component by component: equal, or, where the pattern's component ends in `*`, starting with what stands before it. */
function fits(text: string, pattern: string): boolean {
  const [given, wanted] = [text.split('/'), pattern.split('/')];
  return (
    given.length === wanted.length &&
    wanted.every((part, at) => (part.endsWith('*') ? given[at]?.startsWith(part.slice(0, -1)) : given[at] === part))
  );
}

function installed(...names: readonly string[]): readonly string[] {
  return inFolders(STANDARD_FOLDERS, names);
}

function inFolders(folders: readonly string[], names: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => names.map((name) => `${folder}/${name}`));
}
