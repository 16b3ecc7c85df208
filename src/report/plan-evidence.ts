/** Why the plan is as it is: figures per GPU, then each process with what was read of it and where. For a narrow screen. */
import type {Kept, Plan, Target} from '../domain/plan.ts';
import {span, thousands} from './amounts.ts';
import {FINDING_NEXT, keptNext} from './finding-next.ts';
import {column, safeLine} from './safe-text.ts';
import {ownerLines} from './stop-words.ts';
import {belongingWords, FINDING_MEANING, FINDING_WORD, KEPT_WORD} from './wording.ts';
import {gpuWords, whose, workloadLine, workloadsOf} from './workload-words.ts';
import {type Entry, wrapped} from './wrapped.ts';

/** "GPU      used /    total  after", MiB; `after` is what likely stays in use once the targets have ended. */
export function planGpuLines(plan: Plan): readonly string[] {
  if (plan.gpus.length === 0) return ['No GPU was seen.'];
  const row = (gpu: string, used: string, total: string, then: string): string =>
    `${column(gpu, 4)}${column(used, 9, 'right')} /${column(total, 9, 'right')}${column(then, 10, 'right')}`;
  return [
    row('GPU', 'used', 'total', 'after'),
    ...plan.gpus.map((gpu) =>
      row(
        `${gpu.requested ? ' ' : '-'}${gpu.index ?? '?'}`,
        figure(gpu.beforeMiB),
        figure(gpu.totalMiB),
        figure(gpu.likelyAfterMiB),
      ),
    ),
    ...(plan.gpus.some((gpu) => !gpu.requested) ? ['- not asked for'] : []),
  ];
}

/** Targets first, workload by workload and in each in the order in which they would be signalled, then who stays. */
export function planEvidence(plan: Plan): readonly Entry[] {
  return [
    ...workloadsOf(plan.targets).flatMap((workload) =>
      workload.targets.map((target, at) => {
        const member = targetEntry(target, plan);
        if (workload.as !== 'family' || at > 0) return member;
        return {...member, lines: () => [...wrapped(workloadLine(workload, plan)), ...member.lines()]};
      }),
    ),
    ...plan.kept.map((kept) => keptEntry(kept, plan)),
  ];
}

/** One process of the plan, whichever way it goes. */
export function evidenceEntry(one: Target | Kept, plan: Plan): Entry {
  return 'role' in one ? targetEntry(one, plan) : keptEntry(one, plan);
}

function targetEntry(target: Target, plan: Plan): Entry {
  const [lead] = target.findings;
  return entry(target.chargedMiB, () => [
    `☑ PID ${target.identity.pid} ${safeLine(target.name, 60)}`,
    facts(target, plan, target.findings.map((kind) => FINDING_WORD[kind]).join(', ')),
    `· ${belongingWords(target.belonging)}`,
    ...target.evidence.map((one) => `· ${safeLine(one.fact, 100)} [${one.source}]`),
    ...(target.takesTerm ? [] : ['· no wait for SIGTERM']),
    ...ownerLines(target),
    ...(lead === undefined ? [] : [FINDING_MEANING[lead]]),
    ...(lead === undefined ? [] : [`May be done: ${FINDING_NEXT[lead].may}.`]),
  ]);
}

function keptEntry(kept: Kept, plan: Plan): Entry {
  const next = keptNext(kept);
  return entry(kept.chargedMiB, () => [
    `${kept.choosable ? '☐' : '🔒'} PID ${kept.pid} ${safeLine(kept.name, 60)}`,
    facts(kept, plan, KEPT_WORD[kept.why]),
    ...kept.evidence.map((one) => `· ${safeLine(one.fact, 100)} [${one.source}]`),
    ...ownerLines(kept),
    ...(next === '' ? [] : [`Next: ${next}.`]),
  ]);
}

function facts(one: Target | Kept, plan: Plan, what: string): string {
  const gpus = gpuWords(one.gpuUuids, plan);
  const memory = one.chargedMiB === null ? '' : `${gpus === '' ? '' : ', '}${thousands(one.chargedMiB)} MiB`;
  return [what, whose(one.ownership), `up ${span(one.ageMs)}`, `${gpus}${memory}`]
    .filter((part) => part !== '')
    .join(' · ');
}

function entry(MiB: number | null, all: () => readonly string[]): Entry {
  return {
    lines: () => {
      const [head = '', ...details] = all();
      return [...wrapped(head), ...details.flatMap((line) => wrapped(`  ${line}`))];
    },
    MiB,
  };
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
