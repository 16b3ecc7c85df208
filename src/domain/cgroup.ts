/** What a cgroup path says about who keeps a process (cgroups(7), systemd.slice(5), the cgroup layouts of Docker, CRI and Slurm). */
import type {Container} from './diagnosis.ts';

/**
 * Units that hold other people's processes: sharing one proves nothing, and stopping one is never the way. `sshd@…` is
 * one connection of a socket-activated sshd: a login without pam_systemd stays in it.
 */
const INFRASTRUCTURE =
  /^(sshd?(@.*)?|docker|snap\.docker\.dockerd|containerd|crio|podman|slurmd|slurmstepd|kubelet|k3s(-agent)?|rke2-(server|agent)|cron|crond|atd|dbus|getty@.*|serial-getty@.*|systemd-.*)\.(service|scope|socket)$/;
/** Somebody's login, or one pane of a terminal: a session by another name (tmux and VTE ask for a scope per pane). */
const LOGIN = /^(user@.*\.service|(session-.*|init|tmux-spawn-.*|vte-spawn-.*)\.scope)$/;
/** systemd.unit(5): the characters of a unit name; escapes (`\\x2d`) are shown as they stand. */
const UNIT = /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.(service|scope)$/;
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

/** The container, job or service that keeps a process; null for logins, slices and infrastructure. */
export function containerOf(cgroups: readonly string[]): Container | null {
  // With cgroup v1 a process stands in several hierarchies, and only some of them know its container.
  for (const path of cgroups) {
    const found = runtimeOf(path) ?? slurmOf(path);
    if (found !== null) return found;
  }
  for (const path of cgroups) {
    const unit = unitOf(path);
    if (unit === null) continue;
    const user = path.includes('/user@') ? '--user ' : '';
    return {kind: 'unit', name: unit, stopCommand: `systemctl ${user}stop ${unit.includes('\\') ? `'${unit}'` : unit}`};
  }
  return null;
}

/**
 * The part of each cgroup path that names one container, service or job step: sharing it is kinship. Never the root, a
 * slice, a login, init.scope or a daemon that keeps other people's processes.
 */
export function kinshipCgroups(cgroups: readonly string[]): readonly string[] {
  const keys = cgroups.flatMap((path) => kinshipKey(path) ?? []);
  return [...new Set(keys)];
}

/** The uid in a Slurm cgroup path (`…/uid_1500/job_7/…`), else null. */
export function slurmUid(cgroups: readonly string[]): number | null {
  for (const path of cgroups) {
    const uid = /\/uid_(\d+)\/job_\d+/.exec(path)?.[1];
    if (uid !== undefined) return Number(uid);
  }
  return null;
}

function runtimeOf(path: string): Container | null {
  for (const scope of CONTAINER_SCOPES) {
    const id = scope.at.exec(path)?.[1]?.slice(0, 12);
    if (id !== undefined) return {kind: scope.kind, name: id, stopCommand: scope.stop(id)};
  }
  return null;
}

function slurmOf(path: string): Container | null {
  const job = /\/slurm[^ ]*\/job_(\d+)(?:\/|$)/.exec(path)?.[1];
  return job === undefined ? null : {kind: 'slurm', name: job, stopCommand: `scancel ${job}`};
}

/** Up to and with the folder that gives the name: what a container or a task makes below itself tells nobody apart. */
function kinshipKey(path: string): string | null {
  for (const scope of CONTAINER_SCOPES) {
    const match = scope.at.exec(path);
    if (match !== null) return path.slice(0, match.index + match[0].length).replace(/\/$/, '');
  }
  const step = /^.*?\/job_\d+\/step_[^/]+/.exec(path)?.[0];
  if (step !== undefined) return step;
  const unit = unitOf(path);
  return unit === null ? null : path.slice(0, path.lastIndexOf(`/${unit}`) + unit.length + 1);
}

function unitOf(path: string): string | null {
  const named = path.split('/').findLast((part) => UNIT.test(part));
  return named === undefined || LOGIN.test(named) || INFRASTRUCTURE.test(named) ? null : named;
}
