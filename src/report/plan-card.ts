/** A plan as the lines of a card: who would be signalled, why, what that frees, who stays. At most 42 columns, for a phone. */
import type {Ownership} from '../domain/diagnosis.ts';
import type {Kept, Plan, Target} from '../domain/plan.ts';
import {plural, ranges, roughMemory, span, thousands} from './amounts.ts';
import {column, safeLine} from './safe-text.ts';
import {belongingWords, FINDING_WORD, KEPT_WORD} from './wording.ts';

export interface Line {
  /** `head` of an entry, `detail` under it, or plain `text`. */
  readonly as: 'head' | 'detail' | 'text';
  readonly text: string;
}

const WIDTH = 42;

/** "gpu-07: kill -9 1 process? ~378 GiB"; for an empty plan, that nobody matches. */
export function planTitle(plan: Plan): string {
  if (plan.targets.length === 0) return `${plan.host}: nothing to signal`;
  return `${plan.host}: kill -9 ${plural(plan.targets.length, 'process', 'processes')}? ~${roughMemory(freesMiB(plan))}`;
}

export function planLines(plan: Plan): readonly Line[] {
  const lines: Line[] = [];
  for (const group of grouped(plan.targets)) lines.push(...targetLines(group, plan));
  for (const one of plan.kept.filter((kept) => kept.choosable)) lines.push(...keptLines(one, plan));
  // Who only has the name is no part of the decision; "diagnose" lists them.
  const locked = plan.kept.filter((kept) => !kept.choosable && kept.why !== 'monitor' && kept.why !== 'name-only');
  if (locked.length > 0) lines.push(...lockedLines(locked));
  lines.push({as: 'text', text: afterLine(plan)});
  return lines;
}

/** MiB that would come free on the requested GPUs, as far as the bills tell. */
export function freesMiB(plan: Plan): number {
  return plan.gpus.reduce((sum, gpu) => {
    if (!gpu.requested || gpu.beforeMiB === null || gpu.likelyAfterMiB === null) return sum;
    return sum + Math.max(0, gpu.beforeMiB - gpu.likelyAfterMiB);
  }, 0);
}

export function whose(ownership: Ownership): string {
  if (ownership.person !== null) return safeLine(ownership.person, 20);
  return ownership.uid === null ? 'owner unknown' : `uid ${ownership.uid}`;
}

/** Indexes of the GPUs with these UUIDs, as "GPU 0-3"; empty if it uses none. */
export function gpuWords(uuids: readonly string[], plan: Pick<Plan, 'gpus'>): string {
  const indexes = plan.gpus
    .filter((gpu) => uuids.includes(gpu.gpuUuid))
    .flatMap((gpu) => (gpu.index === null ? [] : [gpu.index]));
  return indexes.length === 0 ? '' : `GPU ${ranges(indexes)}`;
}

/** Members of one workload that differ by a number at their end stand as one: "VLLM::Worker_TP0-7". */
function grouped(targets: readonly Target[]): readonly (readonly Target[])[] {
  const groups = new Map<string, Target[]>();
  for (const target of targets) {
    const stem = /^(.*?)\d+$/.exec(target.name)?.[1];
    const key =
      stem === undefined || target.role === 'server'
        ? `one ${target.identity.pid}`
        : `${stem} ${target.findings.join()} ${target.takesTerm} ${target.belonging.by}`;
    groups.set(key, [...(groups.get(key) ?? []), target]);
  }
  return [...groups.values()];
}

function targetLines(group: readonly Target[], plan: Plan): readonly Line[] {
  const [first] = group;
  if (first === undefined) return [];
  const many = group.length > 1;
  const name = safeLine(
    many
      ? `${first.name.replace(/\d+$/, '')}${ranges(group.map((target) => Number(/(\d+)$/.exec(target.name)?.[1])))}`
      : first.name,
    40,
  );
  const memory = group.reduce((sum, target) => sum + (target.chargedMiB ?? 0), 0);
  const gpus = gpuWords(
    group.flatMap((target) => target.gpuUuids),
    plan,
  );
  const lead = first.findings[0];
  return [
    head(`☑ PID ${many ? `${group.length}×` : first.identity.pid} ${name}`),
    ...(first.heldBy !== 'nothing'
      ? [
          detail(
            `${memory === 0 ? 'no bill of its own' : `${thousands(memory)} MiB`}${gpus === '' ? '' : ` on ${gpus}`}`,
          ),
        ]
      : []),
    ...(many ? [detail(`PID ${ranges(group.map((target) => target.identity.pid))}`)] : []),
    detail(`${whose(first.ownership)} · up ${span(first.ageMs)}`),
    ...(lead === undefined ? [] : [detail(`· ${first.findings.map((kind) => FINDING_WORD[kind]).join(', ')}`)]),
    detail(`· ${belongingWords(first.belonging)}`),
    ...(first.takesTerm ? [] : [detail('· no wait for SIGTERM')]),
  ];
}

function keptLines(kept: Kept, plan: Plan): readonly Line[] {
  const gpus = gpuWords(kept.gpuUuids, plan);
  return [
    head(`☐ PID ${kept.pid} ${safeLine(kept.name, 40)}`),
    detail(`· ${keptWords(kept)}`),
    detail(
      `${whose(kept.ownership)} · up ${span(kept.ageMs)}${gpus === '' ? '' : ` · ${gpus}`}${kept.chargedMiB === null ? '' : `, ${thousands(kept.chargedMiB)} MiB`}`,
    ),
    ...(kept.container === null ? [] : [detail(`· stop: ${safeLine(kept.container.stopCommand, 60)}`)]),
  ];
}

function lockedLines(locked: readonly Kept[]): readonly Line[] {
  return locked.flatMap((one) => [head(`🔒 PID ${one.pid} ${safeLine(one.name, 40)}`), detail(`· ${keptWords(one)}`)]);
}

/** Why it stays; a lock says apart whether it uses other GPUs as well, or only those. */
export function keptWords(kept: Kept): string {
  return kept.why === 'outside-gpus' && !kept.choosable ? 'on other GPUs' : KEPT_WORD[kept.why];
}

/** "After: 7 of 8 free. GPU 6 busy (bo)" */
function afterLine(plan: Plan): string {
  const asked = plan.gpus.filter((gpu) => gpu.requested);
  const busy = asked.filter((gpu) =>
    plan.kept.some((kept) => kept.gpuUuids.includes(gpu.gpuUuid) && kept.chargedMiB !== null && kept.chargedMiB > 0),
  );
  const unknown = asked.filter((gpu) => gpu.afterAtMostMiB === null);
  const free = asked.length - busy.length - unknown.filter((gpu) => !busy.includes(gpu)).length;
  const names = [
    ...new Set(
      plan.kept
        .filter((kept) => busy.some((gpu) => kept.gpuUuids.includes(gpu.gpuUuid)) && kept.chargedMiB !== null)
        .map((kept) => whose(kept.ownership)),
    ),
  ];
  return `After: ${free} of ${asked.length} free.${busy.length === 0 ? '' : ` GPU ${ranges(busy.flatMap((gpu) => (gpu.index === null ? [] : [gpu.index])))} busy (${names.join(', ')})`}${unknown.length === 0 ? '' : ` ${unknown.length} unknown`}`;
}

function head(text: string): Line {
  return {as: 'head', text: cut(text, WIDTH)};
}

function detail(text: string): Line {
  return {as: 'detail', text: cut(text, WIDTH - 2)};
}

function cut(text: string, width: number): string {
  return [...text].length <= width ? text : column(text, width).trimEnd();
}
