/** What a cgroup path says about who keeps a process (cgroups(7), systemd.slice(5), the cgroup layouts of Docker, CRI and Slurm). */
import type {Container} from './diagnosis.ts';

/** Units that hold other people's processes: sharing one proves nothing, and stopping one is never the way. */
const INFRASTRUCTURE =
  /^(ssh|sshd|docker|containerd|crio|podman|slurmd|slurmstepd|kubelet|cron|crond|atd|dbus|getty@.*|systemd-.*)\.(service|scope|socket)$/;
const WORD = '[A-Za-z0-9][A-Za-z0-9:_.@-]*';
const CONTAINER_SCOPES: readonly {
  readonly at: RegExp;
  readonly kind: Container['kind'];
  readonly stop: (id: string) => string;
}[] = [
  {at: /(?:^|\/)docker[-/]([0-9a-f]{64})(?:\.scope)?(?:\/|$)/, kind: 'docker', stop: (id) => `docker stop ${id}`},
  {at: /(?:^|\/)libpod-([0-9a-f]{64})(?:\.scope)?(?:\/|$)/, kind: 'podman', stop: (id) => `podman stop ${id}`},
  {at: /(?:^|\/)cri-containerd-([0-9a-f]{64})\.scope(?:\/|$)/, kind: 'kubernetes', stop: (id) => `crictl stop ${id}`},
  {at: /(?:^|\/)crio-([0-9a-f]{64})\.scope(?:\/|$)/, kind: 'kubernetes', stop: (id) => `crictl stop ${id}`},
  {at: /\/kubepods[^/]*\/(?:[^/]+\/)*([0-9a-f]{64})(?:\/|$)/, kind: 'kubernetes', stop: (id) => `crictl stop ${id}`},
  {
    at: /(?:^|\/)(?:default|k8s\.io|moby)\/([0-9a-f]{64})(?:\/|$)/,
    kind: 'containerd',
    stop: (id) => `ctr task kill ${id}`,
  },
];

/** The container, job step or service that keeps a process; null for login sessions, slices and infrastructure. */
export function containerOf(cgroups: readonly string[]): Container | null {
  for (const path of cgroups) {
    for (const scope of CONTAINER_SCOPES) {
      const id = scope.at.exec(path)?.[1]?.slice(0, 12);
      if (id !== undefined) return {kind: scope.kind, name: id, stopCommand: scope.stop(id)};
    }
    const job = /\/(?:slurm|slurmstepd\.scope|system\.slice\/slurmstepd\.scope)[^ ]*\/job_(\d+)(?:\/|$)/.exec(
      path,
    )?.[1];
    if (job !== undefined) return {kind: 'slurm', name: job, stopCommand: `scancel ${job}`};
    const unit = unitOf(path);
    if (unit !== null) {
      const user = path.includes('/user@') ? '--user ' : '';
      return {kind: 'unit', name: unit, stopCommand: `systemctl ${user}stop ${unit}`};
    }
  }
  return null;
}

/**
 * The cgroup paths that name one container, service or job step, so that sharing one is kinship. Never the root, a
 * slice, a login session, a user manager, init.scope or a daemon that keeps other people's processes.
 */
export function kinshipCgroups(cgroups: readonly string[]): readonly string[] {
  return cgroups.filter((path) => {
    if (CONTAINER_SCOPES.some((scope) => scope.at.test(path))) return true;
    if (/\/job_\d+\/step_[^/]+/.test(path)) return true;
    return unitOf(path) !== null;
  });
}

/** The uid in a Slurm cgroup path (`…/uid_1500/job_7/…`), else null. */
export function slurmUid(cgroups: readonly string[]): number | null {
  for (const path of cgroups) {
    const uid = /\/uid_(\d+)\/job_\d+/.exec(path)?.[1];
    if (uid !== undefined) return Number(uid);
  }
  return null;
}

function unitOf(path: string): string | null {
  const named = path.split('/').findLast((part) => new RegExp(`^${WORD}\\.(service|scope)$`).test(part));
  if (named === undefined || /^(session-.*|init)\.scope$/.test(named) || /^user@/.test(named)) return null;
  return INFRASTRUCTURE.test(named) ? null : named;
}
