/** Which owner may be stopped as the first rung, told without a doubt: off by default, and refused rather than guessed. */
import {containersIn, slurmIn, unitIn} from './cgroup.ts';
import {keepsWhole, type Owner} from './owner.ts';
import type {Policy, ProtectedEntry} from './policy.ts';
import {listsUnit} from './protected.ts';
import type {ProcessFacts} from './snapshot.ts';

/** Never a user's own unit, a pod, MPS, a notebook or supervisord: how those are stopped is a person's to type. */
export type StopKind = 'unit' | 'docker' | 'podman' | 'slurm-job';

/** One owner that could be stopped, as its own tool and the kernel name it. */
export interface StoppableOwner {
  readonly kind: StopKind;
  /** For its tool: the unit, all 64 digits of a container, the job. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** This very run of it: InvocationID, start of the container or job. */
  readonly run: string;
  /** The folder of its processes, below the mount point of each hierarchy (cgroups(7)). */
  readonly folder: string;
}

/** An owner that the policy lets be stopped, as a rung of the ladder. */
export interface Stop extends StoppableOwner {
  /** Every process that ends with it. All are targets. */
  readonly pids: readonly number[];
  /** Its tool kills what has not ended in time: no part of a go that ends at SIGTERM. */
  readonly endsInKill: boolean;
  /** How long it is waited for; then the ladder goes on. */
  readonly timeoutMs: number;
}

/** Why an owner that the policy names is not stopped. */
export type NoStopWhy =
  /** It keeps other people's processes, or the policy protects it. */
  | 'protected-owner'
  /** Its folder stands where anybody could have made one of that name, or its tool says another. */
  | 'unproven'
  /** Its tool said nothing of it, or what stands in its folder could not be read. */
  | 'unread'
  /** Started anew between two looks, or its processes changed. */
  | 'changed'
  /** Other units would be stopped with it. */
  | 'dependents'
  /** It says itself that nobody may stop it by hand. */
  | 'refuses'
  /** The Slurm job runs on other nodes, too. */
  | 'many-nodes'
  /** Our own session stands in it. */
  | 'own-session'
  | 'too-many'
  /** These speak of one process, by PID. */
  | 'protected'
  | 'monitor'
  | 'no-identity'
  | 'kept'
  | 'unticked';

export interface NoStop {
  readonly kind: StopKind;
  readonly name: string;
  readonly why: NoStopWhy;
  readonly pid: number | null;
}

const POLICY_KEY = {unit: 'unit', docker: 'docker', podman: 'podman', 'slurm-job': 'slurm'} as const;
const SHAPE: Readonly<Record<StopKind, RegExp>> = {
  // Services only: a scope is somebody's session, or has no manager that would start it again.
  unit: /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]*\.service$/,
  docker: /^[0-9a-f]{64}$/,
  podman: /^[0-9a-f]{64}$/,
  'slurm-job': /^[1-9]\d{0,9}$/,
};
/** Digits, or a time as its tool writes it; podman's has blanks. */
export const RUN_SHAPE = /^[A-Za-z0-9][A-Za-z0-9:._+= -]{0,99}$/;
const SLICES = /^(\/(?!user[.-])[A-Za-z0-9:_.\\-]+\.slice)+$/;
/** Folders at the root of a hierarchy that only the runtimes' own daemons make. */
const RUNTIME_FOLDER = /^\/(docker|libpod_parent)$/;
const SLURM_FOLDER =
  /^(\/system\.slice\/([A-Za-z0-9_-]+_)?slurmstepd\.scope|\/slurm(_[A-Za-z0-9_-]+)?)(\/uid_\d+)?\/job_\d+$/;

/** The owner of this process that may be stopped, or why not; null where there is none that the policy names. */
export function stoppable(
  owners: readonly Owner[],
  process: ProcessFacts,
  policy: Policy,
): StoppableOwner | NoStop | null {
  // A job's steps end with it. Whoever is nearer than what is stopped may bring work back by itself.
  const owner = owners.find((one) => keepsWhole(one) && one.kind !== 'slurm-step');
  if (owner === undefined || !isStopKind(owner.kind) || !policy.stopOwner[POLICY_KEY[owner.kind]]) return null;
  const {kind, id, name} = owner;
  const refuse = (why: NoStopWhy): NoStop => ({kind, name, why, pid: null});
  if (owner.by !== 'cgroup' || owner.uid !== null || owner.stopCommand === null || !SHAPE[kind].test(id))
    return refuse('unproven');
  const folder = process.cgroups.flatMap((path) => folderIn(path, kind, id) ?? [])[0];
  if (folder === undefined) return refuse('unproven');
  if (isProtectedOwner(folder, policy.protectedList)) return refuse('protected-owner');
  const run = owner.facts?.run ?? null;
  if (run === null || !RUN_SHAPE.test(run)) return refuse('unread');
  return {kind, id, name, run, folder};
}

export function isNoStop(one: StoppableOwner | NoStop): one is NoStop {
  return 'why' in one;
}

function isStopKind(kind: Owner['kind']): kind is StopKind {
  return Object.hasOwn(POLICY_KEY, kind);
}

/**
 * The folder that names this owner, where everything above it is made by root: a service, a container and a user's
 * manager may make folders of any name below themselves (cgroups(7), delegation), another owner's among them.
 */
function folderIn(path: string, kind: StopKind, id: string): string | null {
  switch (kind) {
    case 'unit': {
      const found = unitIn(path);
      return found !== null && found.unit === id && SLICES.test(above(found.path)) ? found.path : null;
    }
    case 'docker':
    case 'podman': {
      const found = containersIn(path).find((one) => one.kind === kind && one.id === id);
      if (found === undefined) return null;
      return SLICES.test(above(found.path)) || RUNTIME_FOLDER.test(above(found.path)) ? found.path : null;
    }
    case 'slurm-job': {
      const found = slurmIn(path);
      return found !== null && found.job === id && SLURM_FOLDER.test(found.path) ? found.path : null;
    }
  }
}

function above(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function isProtectedOwner(folder: string, list: readonly ProtectedEntry[]): boolean {
  return folder.split('/').some((name) => listsUnit(name, list));
}
