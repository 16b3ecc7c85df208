/** Who owns a process, nearest first: from its cgroup, its line of parents and their words. What their tools know is asked apart. */
import {containersIn, podIn, slurmIn, stopContainer, stopUnit, unitIn} from './cgroup.ts';
import type {MpsState} from './deep.ts';
import {ancestors, type ProcessTable, programName} from './lineage.ts';
import type {Owner} from './owner.ts';
import {callOf, frameworkOf} from './roles.ts';
import type {ProcessFacts} from './snapshot.ts';

/** An owner that a cgroup names, and the folder that does. */
interface GroupOwner {
  readonly owner: Owner;
  readonly path: string;
}

/**
 * Parents that stand in the same container, unit or step are nearer than it; those beyond are farther. A cgroup of a
 * parent alone owns nobody: who left it does not end with it. `mps`: from a deeper look, else null.
 */
export function ownersOf(process: ProcessFacts, table: ProcessTable, mps: MpsState | null = null): readonly Owner[] {
  const line = [process, ...ancestors(process.pid, table)];
  const owners: Owner[] = [...clientOf(process.pid, mps)];
  let groups = groupOwners(process.cgroups);
  for (const [at, one] of line.entries()) {
    const left = groups.filter(({path}) => !one.cgroups.some((theirs) => isWithin(theirs, path)));
    owners.push(...left.map(({owner}) => owner));
    groups = groups.filter((group) => !left.includes(group));
    owners.push(...(at === 0 ? ownItself(one, line) : asParent(one, line.slice(at + 1))));
  }
  owners.push(...groups.map(({owner}) => owner));
  return owners.filter((owner, at) => owners.findIndex((one) => isSameOwner(one, owner)) === at);
}

/** Innermost first, over all hierarchies: with cgroup v1 only some of them know the container. */
function groupOwners(cgroups: readonly string[]): readonly GroupOwner[] {
  const found = cgroups.flatMap((path) => [
    ...containerOwners(path),
    ...podOwner(path),
    ...slurmOwners(path),
    ...unitOwner(path),
  ]);
  return found.toSorted((a, b) => b.path.length - a.path.length);
}

function containerOwners(path: string): readonly GroupOwner[] {
  const all = containersIn(path);
  return all.map((one, at) => ({
    path: one.path,
    owner: {
      ...fromGroup(one.path, one.kind, one.id.slice(0, 12), one.id),
      // Of those inside another container the host's own tool knows nothing.
      stopCommand: at === all.length - 1 ? stopContainer(one) : null,
    },
  }));
}

function podOwner(path: string): readonly GroupOwner[] {
  const pod = podIn(path);
  // kubectl asks by name, which no cgroup tells; and a sandbox that is stopped on the node is made anew.
  return pod === null ? [] : [{path: pod.path, owner: fromGroup(pod.path, 'kubernetes-pod', pod.uid, pod.uid)}];
}

function slurmOwners(path: string): readonly GroupOwner[] {
  const found = slurmIn(path);
  if (found === null) return [];
  return [
    // scancel knows numbered steps by themselves; batch, extern and interactive end with their job.
    ...(found.step !== null && /^\d+$/.test(found.step)
      ? [{path: found.stepPath, owner: slurmOwner(found.stepPath, 'slurm-step', `${found.job}.${found.step}`)}]
      : []),
    {path: found.path, owner: slurmOwner(found.path, 'slurm-job', found.job)},
  ];
}

function slurmOwner(path: string, kind: 'slurm-job' | 'slurm-step', id: string): Owner {
  return {...fromGroup(path, kind, id, id), stopCommand: `scancel ${id}`};
}

function unitOwner(path: string): readonly GroupOwner[] {
  const found = unitIn(path);
  // A unit inside a container is its own systemd's, and no other manager's.
  if (found === null || containersIn(path).some((one) => found.path.startsWith(`${one.path}/`))) return [];
  // The scope that carries a container is no owner beside it.
  if (containersIn(path).some((one) => one.path === found.path)) return [];
  const owner = fromGroup(found.path, found.uid === null ? 'unit' : 'user-unit', found.unit, found.unit);
  return [
    {
      path: found.path,
      owner: {
        ...owner,
        stopCommand: stopUnit(found.unit, found.uid !== null),
        // systemd.scope(5): a scope is made of running processes, its manager could not start them.
        restarts: found.unit.endsWith('.scope') ? 'no' : 'unknown',
      },
    },
  ];
}

function fromGroup(path: string, kind: Owner['kind'], name: string, id: string): Owner {
  const uid = /\/user@(\d+)\.service\//.exec(path)?.[1];
  return {
    kind,
    name,
    id,
    pid: null,
    uid: uid === undefined ? null : Number(uid),
    stopCommand: null,
    restarts: 'unknown',
    by: 'cgroup',
    facts: null,
  };
}

/** MPS clients share their server's context: control's own command lets go of one without harming the others. */
function clientOf(pid: number, mps: MpsState | null): readonly Owner[] {
  const server = mps?.servers.find((one) => one.clients.includes(pid));
  if (server === undefined) return [];
  const stopCommand = `echo terminate_client ${server.pid} ${pid} | nvidia-cuda-mps-control`;
  return [{...fromProcess('mps', server.pid), by: 'mps', stopCommand, restarts: 'no'}];
}

/** What a process says of itself: a kernel, and a Ray worker whose raylet is not in sight. */
function ownItself(process: ProcessFacts, line: readonly ProcessFacts[]): readonly Owner[] {
  const kernel = kernelOf(process, line.slice(1));
  if (kernel !== null) return [kernel];
  const isRay = [process.comm, process.words[0] ?? ''].some((name) => name.startsWith('ray::'));
  if (!isRay || line.some((one) => programName(one) === 'raylet')) return [];
  return [{...fromProcess('ray', process.pid), by: 'words', stopCommand: 'ray stop'}];
}

/** What `parent` is to those below it. By its program file where it has one; by what it runs where that is a script. */
function asParent(parent: ProcessFacts, above: readonly ProcessFacts[]): readonly Owner[] {
  const program = programName(parent);
  const {pid} = parent;
  if (program === 'raylet') {
    const session = parent.words
      .map((word) => /\/(session_[\w-]+)\//.exec(word)?.[1])
      .find((name) => name !== undefined);
    return [{...fromProcess('ray', pid, session), stopCommand: 'ray stop'}];
  }
  if (program === 'slurmstepd') return stepBy(parent);
  if (program === 'nvidia-cuda-mps-control')
    // It starts a server again as soon as a client connects.
    return [{...fromProcess('mps', pid), stopCommand: 'echo quit | nvidia-cuda-mps-control', restarts: 'yes'}];
  if (/^tmux(:|$)/.test(program)) return [{...fromProcess('tmux', pid), restarts: 'no'}];
  if (/^screen$/i.test(program)) return [{...fromProcess('screen', pid), restarts: 'no'}];
  if (program === 'supervisord' || callOf(parent)[0] === 'supervisord') return [fromProcess('supervisord', pid)];
  if (frameworkOf(parent) === 'torchrun') return [{...fromProcess('torchrun', pid), restarts: elastic(parent)}];
  const kernel = kernelOf(parent, above);
  return kernel === null ? [] : [kernel];
}

/** The title of slurmstepd tells the job where no cgroup does (proctrack/linuxproc). */
function stepBy(parent: ProcessFacts): readonly Owner[] {
  const [, job, step = ''] = /^slurmstepd: \[(\d+)(?:\.(\w+))?\]/.exec(parent.words[0] ?? '') ?? [];
  if (job === undefined) return [];
  const owner = (kind: 'slurm-step' | 'slurm-job', id: string): Owner => ({
    ...fromProcess(kind, parent.pid, id),
    id,
    stopCommand: `scancel ${id}`,
  });
  return [...(/^\d+$/.test(step) ? [owner('slurm-step', `${job}.${step}`)] : []), owner('slurm-job', job)];
}

/** torchrun starts a failed group again only if it was told how often (`--max-restarts`, 0 unless given). */
function elastic(agent: ProcessFacts): Owner['restarts'] {
  const {words} = agent;
  const at = words.findIndex((word) => /^--max[-_]restarts(=|$)/.test(word));
  if (at === -1) return agent.wordsCut || words.length === 0 ? 'unknown' : 'no';
  const given = words[at]?.split('=')[1] ?? words[at + 1] ?? '';
  return /^\d+$/.test(given) ? (Number(given) > 0 ? 'yes' : 'no') : 'unknown';
}

/** A Jupyter kernel below its server, which starts it again by itself (KernelRestarter); an editor's may or may not. */
function kernelOf(process: ProcessFacts, above: readonly ProcessFacts[]): Owner | null {
  if (callOf(process)[0] !== 'ipykernel_launcher' && callOf(process)[0] !== 'ipykernel') return null;
  const id = process.words.map((word) => /kernel-([\w-]+)\.json$/.exec(word)?.[1]).find((name) => name !== undefined);
  const parent = above[0];
  const server = above.some((one) => /^jupyter/.test(callOf(one)[0] ?? '') || /^jupyter/.test(one.comm));
  return {
    ...fromProcess('jupyter', process.pid, id),
    by: 'words',
    restarts: server ? 'yes' : parent === undefined || parent.pid === 1 ? 'no' : 'unknown',
  };
}

function fromProcess(kind: Owner['kind'], pid: number, name = String(pid)): Owner {
  return {
    kind,
    name,
    id: String(pid),
    pid,
    uid: null,
    stopCommand: null,
    restarts: 'unknown',
    by: 'parents',
    facts: null,
  };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function isSameOwner(a: Owner, b: Owner): boolean {
  return a.kind === b.kind && a.id === b.id;
}
