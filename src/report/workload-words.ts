/** Workloads as people name them: which targets stand together, and what to call them in a line. */
import type {Ownership} from '../domain/diagnosis.ts';
import type {Plan, Target} from '../domain/plan.ts';
import {plural, ranges, thousands} from './amounts.ts';
import {safeLine} from './safe-text.ts';

/** Targets that are shown as one. */
export interface Workload {
  /** `one` process · a `family`: a server with its workers, or what is left of one · `alike`: strangers but for a number in their names. */
  readonly as: 'one' | 'family' | 'alike';
  /** At least one, in the order in which they would be signalled. */
  readonly targets: readonly [Target, ...Target[]];
}

/** Every target once, by family; those without one that differ only by a number at their end stand together as well. */
export function workloadsOf(targets: readonly Target[]): readonly Workload[] {
  const families = new Map<number, Target[]>();
  for (const target of targets) {
    const {rootPid} = target.family;
    const family = families.get(rootPid);
    if (family === undefined) families.set(rootPid, [target]);
    else family.push(target);
  }
  const workloads = new Map<string, {as: Workload['as']; targets: [Target, ...Target[]]}>();
  for (const [rootPid, [first, ...more]] of families) {
    if (first === undefined) continue;
    const alike = more.length === 0 ? alikeKey(first) : null;
    const found = alike === null ? undefined : workloads.get(alike);
    if (found !== undefined) {
      found.as = 'alike';
      found.targets.push(first);
    } else {
      workloads.set(alike ?? `family ${rootPid}`, {
        as: more.length === 0 ? 'one' : 'family',
        targets: [first, ...more],
      });
    }
  }
  return [...workloads.values()];
}

/** As much of a target as names it: somebody who stays has as much. */
export type Named = Pick<Target, 'identity' | 'name' | 'role' | 'family'>;

/** "vLLM, 1 server + 8 workers" · "8× VLLM::Worker_TP0-7" · "244199 python3" */
export function workloadName({
  as,
  targets,
}: {
  readonly as: Workload['as'];
  readonly targets: readonly [Named, ...Named[]];
}): string {
  const [first] = targets;
  switch (as) {
    case 'one':
      return `${first.identity.pid} ${safeLine(first.name, 40)}`;
    case 'alike':
      return `${targets.length}× ${safeLine(`${stemOf(first.name) ?? ''}${ranges(targets.map((target) => numberOf(target.name)))}`, 40)}`;
    case 'family':
      return `${first.family.framework ?? commonName(targets)}, ${counts(targets)}`;
  }
}

/** "774,752 MiB on GPU 0-7"; what nobody is billed for is said so. */
export function workloadMemory(
  targets: readonly Pick<Target, 'chargedMiB' | 'gpuUuids'>[],
  plan: Pick<Plan, 'gpus'>,
): string {
  const billed = targets.flatMap((target) => target.chargedMiB ?? []).reduce((sum, MiB) => sum + MiB, 0);
  const gpus = gpuWords(
    targets.flatMap((target) => target.gpuUuids),
    plan,
  );
  return `${billed === 0 ? 'no bill of its own' : `${thousands(billed)} MiB`}${gpus === '' ? '' : ` on ${gpus}`}`;
}

/** "vLLM, 1 server + 8 workers, 774,752 MiB on GPU 0-7" */
export function workloadLine(workload: Workload, plan: Pick<Plan, 'gpus'>): string {
  return `${workloadName(workload)}, ${workloadMemory(workload.targets, plan)}`;
}

/** Indexes of the GPUs with these UUIDs, as "GPU 0-3"; empty if it uses none. */
export function gpuWords(uuids: readonly string[], plan: Pick<Plan, 'gpus'>): string {
  const indexes = plan.gpus
    .filter((gpu) => uuids.includes(gpu.gpuUuid))
    .flatMap((gpu) => (gpu.index === null ? [] : [gpu.index]));
  return indexes.length === 0 ? '' : `GPU ${ranges(indexes)}`;
}

export function whose(ownership: Ownership): string {
  if (ownership.person !== null) return safeLine(ownership.person, 20);
  return ownership.uid === null ? 'owner unknown' : `uid ${ownership.uid}`;
}

/** "1 server + 8 workers"; where no server is left, "8 workers" of a framework and "8 processes" of anything else. */
function counts(targets: readonly Named[]): string {
  const servers = targets.filter((target) => target.role === 'server').length;
  const rest = targets.length - servers;
  const workers = plural(rest, 'worker', 'workers');
  if (servers > 0) return `${plural(servers, 'server', 'servers')}${rest === 0 ? '' : ` + ${workers}`}`;
  return targets[0]?.family.framework === null ? plural(rest, 'process', 'processes') : workers;
}

/** The name of its root, or what the names of all begin with. */
function commonName(targets: readonly [Named, ...Named[]]): string {
  const [first] = targets;
  const root = targets.find((target) => target.identity.pid === first.family.rootPid) ?? first;
  return safeLine(stemOf(root.name) ?? root.name, 18);
}

function alikeKey(target: Target): string | null {
  const stem = stemOf(target.name);
  if (stem === null || target.role === 'server') return null;
  return `alike ${stem} ${target.findings.join()} ${target.takesTerm} ${target.belonging.by}`;
}

/** What stands before the digits at the end; null without any. By hand: a pattern would try a title of 4 KB from each place. */
function stemOf(name: string): string | null {
  const end = digitsFrom(name);
  return end === name.length ? null : name.slice(0, end);
}

function numberOf(name: string): number {
  return Number(name.slice(digitsFrom(name)));
}

function digitsFrom(name: string): number {
  let at = name.length;
  while (at > 0 && /[0-9]/.test(name[at - 1] ?? '')) at -= 1;
  return at;
}
