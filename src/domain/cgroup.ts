/** What a cgroup path says about who keeps a process (cgroups(7), systemd.slice(5), the cgroup layouts of Docker, CRI and Slurm). */
import type {Container} from './diagnosis.ts';

/**
 * Units that hold other people's processes: sharing one proves nothing, and stopping one is never the way. `sshd@…` is
 * one connection of a socket-activated sshd: a login without pam_systemd stays in it.
 */
const INFRASTRUCTURE =
  /^(sshd?(@.*)?|docker|snap\.docker\.dockerd|containerd|crio|podman|slurmd|(.*_)?slurmstepd|kubelet|k3s(-agent)?|rke2-(server|agent)|cron|crond|atd|dbus|getty@.*|serial-getty@.*|systemd-.*)\.(service|scope|socket)$/;
/** Somebody's login, or one pane of a terminal: a session by another name (tmux and VTE ask for a scope per pane). */
const LOGIN = /^(user@.*\.service|(session-.*|init|tmux-spawn-.*|vte-spawn-.*)\.scope)$/;
/** systemd.unit(5): the characters of a unit name; escapes (`\\x2d`) are shown as they stand. */
const UNIT = /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.(service|scope)$/;
const CONTAINER_SCOPES: readonly {readonly at: RegExp; readonly kind: NamedContainer['kind']}[] = [
  {at: /(?:^|\/)docker[-/]([0-9a-f]{64})(?:\.scope)?(?=\/|$)/g, kind: 'docker'},
  {at: /(?:^|\/)libpod-([0-9a-f]{64})(?:\.scope)?(?=\/|$)/g, kind: 'podman'},
  {at: /(?:^|\/)cri-containerd-([0-9a-f]{64})\.scope(?=\/|$)/g, kind: 'kubernetes'},
  {at: /(?:^|\/)crio-([0-9a-f]{64})\.scope(?=\/|$)/g, kind: 'kubernetes'},
  // The first one: what a container runs inside itself has folders below.
  {at: /\/kubepods[^/]*\/(?:[^/]+\/)*?([0-9a-f]{64})(?=\/|$)/g, kind: 'kubernetes'},
  {at: /(?:^|\/)(?:default|k8s\.io|moby)\/([0-9a-f]{64})(?=\/|$)/g, kind: 'containerd'},
];
const STOP: Readonly<Record<NamedContainer['kind'], string>> = {
  docker: 'docker stop',
  podman: 'podman stop',
  kubernetes: 'crictl stop',
  containerd: 'ctr task kill',
};

/** The container, job or service that keeps a process; null for logins, slices and infrastructure. */
export function containerOf(cgroups: readonly string[]): Container | null {
  // With cgroup v1 a process stands in several hierarchies, and only some of them know its container.
  for (const path of cgroups) {
    const found = runtimeOf(path) ?? slurmOf(path);
    if (found !== null) return found;
  }
  for (const path of cgroups) {
    const found = unitIn(path);
    if (found !== null) return {kind: 'unit', name: found.unit, stopCommand: stopUnit(found.unit, found.uid !== null)};
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

/** Whose own systemd the process stands under (`…/user@1000.service/…`): nobody else can put it there. */
export function managerUid(cgroups: readonly string[]): number | null {
  for (const path of cgroups) {
    const uid = /^\/user\.slice\/user-(\d+)\.slice\/user@\1\.service\//.exec(path)?.[1];
    if (uid !== undefined) return Number(uid);
  }
  return null;
}

/** One container that a cgroup path names, and the path up to and with the folder that does. */
export interface NamedContainer {
  readonly kind: Exclude<Container['kind'], 'slurm' | 'unit'>;
  /** All 64 digits. */
  readonly id: string;
  readonly path: string;
}

/**
 * Every container on the way, innermost first: a runtime may run inside another one's container. Only the outermost is
 * one that this host's own tools know; and a container may make folders of any name below itself (cgroups(7), delegation).
 */
export function containersIn(path: string): readonly NamedContainer[] {
  const found = new Map<string, NamedContainer>();
  for (const {at, kind} of CONTAINER_SCOPES) {
    for (const match of path.matchAll(at)) {
      const id = match[1];
      // The table's first entry for an id is its most telling one.
      if (id !== undefined && !found.has(id))
        found.set(id, {kind, id, path: path.slice(0, match.index + match[0].length)});
    }
  }
  return [...found.values()].toSorted((a, b) => b.path.length - a.path.length);
}

/** The command of its own runtime, for the host's shell. */
export function stopContainer({kind, id}: NamedContainer): string {
  return `${STOP[kind]} ${id.slice(0, 12)}`;
}

/** The pod of a path below kubepods, as the API writes its uid; systemd's slices have `_` for `-`. */
export function podIn(path: string): {readonly uid: string; readonly path: string} | null {
  const match =
    /^.*?\/(?:kubepods[^/]*-)?pod([0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12})(?:\.slice)?(?=\/|$)/.exec(path);
  const uid = match?.[1];
  return match === null || uid === undefined || !path.includes('/kubepods')
    ? null
    : {uid: uid.replaceAll('_', '-'), path: match[0]};
}

/** The Slurm job of a path, and its step (`0`, `batch`, `extern`), as Slurm's cgroup plugins lay them out. */
export function slurmIn(
  path: string,
): {readonly job: string; readonly step: string | null; readonly path: string; readonly stepPath: string} | null {
  const match = /^(.*?\/[^/ ]*slurm[^ ]*?\/job_(\d+))(\/step_([A-Za-z0-9+]+))?(?=\/|$)/.exec(path);
  const [whole, jobPath, job, , step] = match ?? [];
  if (whole === undefined || jobPath === undefined || job === undefined) return null;
  return {job, step: step ?? null, path: jobPath, stepPath: whole};
}

/** The unit of a path that may be stopped as one's own, and whose manager knows it: uid null = the system's. */
export function unitIn(
  path: string,
): {readonly unit: string; readonly uid: number | null; readonly path: string} | null {
  const unit = unitOf(path);
  if (unit === null) return null;
  const uid = /\/user@(\d+)\.service\//.exec(path)?.[1];
  return {
    unit,
    uid: uid === undefined ? null : Number(uid),
    path: path.slice(0, path.lastIndexOf(`/${unit}`) + unit.length + 1),
  };
}

/** `systemctl stop …`, for the manager that knows the unit. */
export function stopUnit(unit: string, ofUser: boolean): string {
  return `systemctl ${ofUser ? '--user ' : ''}stop ${unit.includes('\\') ? `'${unit}'` : unit}`;
}

function runtimeOf(path: string): Container | null {
  const outer = containersIn(path).at(-1);
  return outer === undefined
    ? null
    : {kind: outer.kind, name: outer.id.slice(0, 12), stopCommand: stopContainer(outer)};
}

function slurmOf(path: string): Container | null {
  const found = slurmIn(path);
  return found === null ? null : {kind: 'slurm', name: found.job, stopCommand: `scancel ${found.job}`};
}

/** Up to and with the folder that gives the name: what a container or a task makes below itself tells nobody apart. */
function kinshipKey(path: string): string | null {
  const outer = containersIn(path).at(-1);
  if (outer !== undefined) return outer.path;
  const step = /^.*?\/job_\d+\/step_[^/]+/.exec(path)?.[0];
  return step ?? unitIn(path)?.path ?? null;
}

function unitOf(path: string): string | null {
  const named = path.split('/').findLast((part) => UNIT.test(part));
  return named === undefined || LOGIN.test(named) || INFRASTRUCTURE.test(named) ? null : named;
}
