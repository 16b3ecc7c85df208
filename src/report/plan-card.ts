/** A plan as the lines of a card: who would be signalled, why, what that frees, who stays. At most 42 columns, for a phone. */
import type {ExpectedGpu, Kept, Plan} from '../domain/plan.ts';
import {plural, ranges, roughMemory, span, thousands} from './amounts.ts';
import {stopPlanLines} from './owner-stop-words.ts';
import {safeLine} from './safe-text.ts';
import {stopLine} from './stop-words.ts';
import {cut, detail, head, type Line, type Members, workloadLines} from './target-lines.ts';
import {KEPT_WORD} from './wording.ts';
import {gpuWords, whose, workloadsOf} from './workload-words.ts';
import {PHONE_COLUMNS, wrapped} from './wrapped.ts';
import {unreadWords} from './writing-words.ts';

/** "gpu-07: kill -9 9 processes of vLLM? ~757 GiB"; for an empty plan, that nobody matches. */
export function planTitle(plan: Plan): string {
  if (plan.targets.length === 0) return `${plan.host}: nothing to signal`;
  const frameworks = new Set(plan.targets.map((target) => target.family.framework));
  const [framework] = frameworks.size === 1 ? frameworks : [null];
  const of = framework === null || framework === undefined ? '' : ` of ${framework}`;
  return `${plan.host}: kill -9 ${plural(plan.targets.length, 'process', 'processes')}${of}? ~${roughMemory(freesMiB(plan))}`;
}

export function planLines(plan: Plan, members: Members = 'each'): readonly Line[] {
  return [
    ...workloadsOf(plan.targets).flatMap((workload) => workloadLines(workload, plan, members)),
    ...choosableOf(plan).flatMap((one) => keptLines(one, plan)),
    ...lockedOf(plan).flatMap(lockedLines),
    ...unreadLines(plan),
    ...ownerLines(plan),
    {as: 'text', text: afterLine(plan)},
  ];
}

/** What nobody could read of the files that targets write; empty where all could be read. */
export function unreadLines(plan: Plan): readonly Line[] {
  const words = unreadWords(plan);
  return words === null ? [] : wrapped(words, PHONE_COLUMNS).map((text) => ({as: 'text', text}));
}

/** Owners that are stopped first, or why not; empty unless the policy says so. */
export function ownerLines(plan: Plan): readonly Line[] {
  return stopPlanLines(plan).flatMap((words) =>
    wrapped(words, PHONE_COLUMNS).map((text) => ({as: 'text' as const, text})),
  );
}

/** Who stays and may be chosen by hand. */
export function choosableOf(plan: Plan): readonly Kept[] {
  return plan.kept.filter((kept) => kept.choosable);
}

/** Who stays and is locked. Who only has the name is no part of the decision; "diagnose" lists them. */
export function lockedOf(plan: Plan): readonly Kept[] {
  return plan.kept.filter((kept) => !kept.choosable && kept.why !== 'monitor' && kept.why !== 'name-only');
}

/** MiB that would come free on the requested GPUs, as far as the bills tell. */
export function freesMiB(plan: Plan): number {
  return plan.gpus.reduce((sum, gpu) => {
    if (!gpu.requested || gpu.beforeMiB === null || gpu.likelyAfterMiB === null) return sum;
    return sum + Math.max(0, gpu.beforeMiB - gpu.likelyAfterMiB);
  }, 0);
}

export function keptLines(kept: Kept, plan: Plan): readonly Line[] {
  const gpus = gpuWords(kept.gpuUuids, plan);
  const stop = stopLine(kept);
  return [
    head(`☐ PID ${kept.pid} ${safeLine(kept.name, 40)}`),
    short(`· ${keptWords(kept)}`),
    ...detail(
      `${whose(kept.ownership)} · up ${span(kept.ageMs)}${gpus === '' ? '' : ` · ${gpus}`}${kept.chargedMiB === null ? '' : `, ${thousands(kept.chargedMiB)} MiB`}`,
    ),
    ...(stop === null ? [] : detail(`· ${stop}`)),
  ];
}

export function lockedLines(one: Kept): readonly Line[] {
  return [head(`🔒 PID ${one.pid} ${safeLine(one.name, 40)}`), short(`· ${keptWords(one)}`)];
}

/** Why it stays; a lock says apart whether it uses other GPUs as well, or only those. */
export function keptWords(kept: Kept): string {
  return kept.why === 'outside-gpus' && !kept.choosable ? 'on other GPUs' : KEPT_WORD[kept.why];
}

/** "After: 5 of 8 free. GPU 6 busy (bo); GPU 4, 7 unknown"; each GPU is counted once, and busy is what is known of it. */
export function afterLine(plan: Plan): string {
  const asked = plan.gpus.filter((gpu) => gpu.requested);
  const busy = asked.filter((gpu) =>
    plan.kept.some((kept) => kept.gpuUuids.includes(gpu.gpuUuid) && kept.chargedMiB !== null && kept.chargedMiB > 0),
  );
  const unknown = asked.filter((gpu) => gpu.afterAtMostMiB === null && !busy.includes(gpu));
  const free = asked.length - busy.length - unknown.length;
  const names = [
    ...new Set(
      plan.kept
        .filter((kept) => busy.some((gpu) => kept.gpuUuids.includes(gpu.gpuUuid)) && kept.chargedMiB !== null)
        .map((kept) => whose(kept.ownership)),
    ),
  ];
  const gpus = (some: readonly ExpectedGpu[]): string =>
    `GPU ${ranges(some.flatMap((gpu) => (gpu.index === null ? [] : [gpu.index])))}`;
  const rest = [
    ...(busy.length === 0 ? [] : [`${gpus(busy)} busy (${names.join(', ')})`]),
    ...(unknown.length === 0
      ? []
      : [`${unknown.some((gpu) => gpu.index !== null) ? gpus(unknown) : unknown.length} unknown`]),
  ].join('; ');
  return `After: ${free} of ${asked.length} free.${rest === '' ? '' : ` ${rest}`}`;
}

function short(text: string): Line {
  return {as: 'detail', text: cut(text, PHONE_COLUMNS - 2)};
}
