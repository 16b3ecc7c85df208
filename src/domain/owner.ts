/** Who keeps a process going and can end it the right way: container, unit, job, kernel, agent, terminal. Types, and what follows from them. */

/** `unit`: of the system's systemd · `user-unit`: of one user's · `kubernetes`: a container of a pod. */
export type OwnerKind =
  | 'unit'
  | 'user-unit'
  | 'docker'
  | 'containerd'
  | 'podman'
  | 'kubernetes'
  | 'kubernetes-pod'
  | 'slurm-step'
  | 'slurm-job'
  | 'ray'
  | 'jupyter'
  | 'torchrun'
  | 'supervisord'
  | 'tmux'
  | 'screen'
  | 'mps';

/** Whether it starts again what was killed. `unknown` where only its settings could tell. */
export type Restarts = 'yes' | 'no' | 'unknown';

export interface Owner {
  readonly kind: OwnerKind;
  /** Short, for people: unit, 12 digits of a container, pod uid, job, kernel id, PID. Hostile: folders and words are chosen by users. */
  readonly name: string;
  /** What its own tool is asked with: all 64 digits of a container, the unit, `7` or `7.0`, else the PID. */
  readonly id: string;
  /** Of a process that is the owner, or that stands for it; null where a cgroup says it. */
  readonly pid: number | null;
  /** Whose own manager or folder it stands in (`user@UID.service`): anybody may make folders of any name there. null: root's. */
  readonly uid: number | null;
  /** For a person's hands on that host; null where no command alone ends it. */
  readonly stopCommand: string | null;
  readonly restarts: Restarts;
  /** cgroup path · parents · its own words · the MPS control's list of clients. */
  readonly by: 'cgroup' | 'parents' | 'words' | 'mps';
  /** What its own tool said; null where it was not asked or did not answer. */
  readonly facts: OwnerFacts | null;
}

/** One owner as systemctl, docker, podman or scontrol knows it. Every text is hostile. */
export interface OwnerFacts {
  readonly kind: OwnerKind;
  readonly id: string;
  /** `inf-server`, the name of a container or job; null where it has none. */
  readonly title: string | null;
  /** As its tool says it: `active`, `running`, `RUNNING`. */
  readonly state: string | null;
  readonly restarts: Restarts;
  /** The setting that `restarts` follows from: `Restart=on-failure`. */
  readonly setting: string | null;
  /** Tells this very run of it from a later one under the same name: InvocationID, start of the container or job. */
  readonly run: string | null;
  /** How often it was started again so far; a young process with a high count is a crash loop. */
  readonly restartCount: number | null;
}

/** An owner by the name that its own tool is asked with. */
export interface OwnerName {
  readonly kind: OwnerKind;
  readonly id: string;
  /** Whose systemd knows a `user-unit`; null for all others. */
  readonly uid: number | null;
}

/** An owner whose processes are never ticked without being chosen: it may bring them back, or work of others hangs on it. */
export function keepsWhole(owner: Owner): boolean {
  switch (owner.kind) {
    case 'unit':
    case 'user-unit':
    case 'docker':
    case 'containerd':
    case 'podman':
    case 'kubernetes':
    case 'kubernetes-pod':
    case 'slurm-step':
    case 'slurm-job':
    case 'jupyter':
    case 'mps':
      return true;
    case 'ray':
    case 'torchrun':
    case 'supervisord':
    case 'tmux':
    case 'screen':
      return false;
  }
}

/** The same owners, those with what their tools said of them. An answer about another one is nobody's. */
export function withFacts(owners: readonly Owner[], facts: readonly OwnerFacts[]): readonly Owner[] {
  return owners.map((owner) => {
    const said = facts.find((one) => one.kind === owner.kind && one.id === owner.id);
    return said === undefined
      ? owner
      : {...owner, facts: said, restarts: said.restarts === 'unknown' ? owner.restarts : said.restarts};
  });
}

/** One look asks about no more owners: each is named on a card, and a card has no room for more. */
const MOST_ASKED = 16;
/** Sixty-four digits, as in a cgroup path: a shorter id may be another container's too. */
const CONTAINER_ID = /^[0-9a-f]{64}$/;

/**
 * The owners that a tool on the host can be asked about, each once, in the order given. Not those in a container, of
 * which the host's tools know nothing, and no container of a user's own runtime, which only that user's knows.
 */
export function askable(owners: readonly Owner[]): readonly OwnerName[] {
  const names = new Map<string, OwnerName>();
  for (const {kind, id, uid, stopCommand} of owners) {
    const isAsked =
      kind === 'unit' || kind === 'slurm-job'
        ? true
        : kind === 'user-unit'
          ? uid !== null
          : (kind === 'docker' || kind === 'podman') && CONTAINER_ID.test(id) && uid === null && stopCommand !== null;
    if (isAsked) names.set(`${kind} ${uid ?? ''} ${id}`, {kind, id, uid: kind === 'user-unit' ? uid : null});
  }
  return [...names.values()].slice(0, MOST_ASKED);
}
