/** A host's GPUs for a narrow screen: figures on one line, the holders under it. */
import type {Diagnosis, GpuAccount, HolderDiagnosis} from '../domain/diagnosis.ts';
import {titleOf} from '../domain/roles.ts';
import {span, thousands} from './amounts.ts';
import {holderNextLine, unreadLine} from './finding-next.ts';
import {column, safeLine} from './safe-text.ts';
import {ownerLines} from './stop-words.ts';
import {FINDING_MEANING, FINDING_WORD, STATE_WORD} from './wording.ts';
import {whose} from './workload-words.ts';
import {type Entry, wrapped} from './wrapped.ts';

/** One entry per GPU: "  0  96,844/143,771  97% occupied", then who holds it. "?" where a figure is missing. */
export function narrowGpus(diagnosis: Diagnosis): readonly Entry[] {
  const names = new Map(diagnosis.holders.map((holder) => [holder.process.pid, safeLine(titleOf(holder.process), 24)]));
  const busy = new Map(diagnosis.snapshot.gpus.map((gpu) => [gpu.uuid, gpu.utilizationPercent]));
  return diagnosis.gpus.map((gpu) => {
    const percent = busy.get(gpu.gpuUuid);
    const use = percent?.known === true ? `${Math.round(percent.value)}%` : '?';
    const figures = `${column(thousandsOr(gpu.usedMiB), 8, 'right')}/${column(thousandsOr(gpu.totalMiB), 8)}`;
    return {
      lines: () => [
        `${column(indexOf(gpu), 3)}${figures}${column(use, 5, 'right')} ${STATE_WORD[gpu.state]}`,
        ...holdersOn(gpu, names),
      ],
      MiB: gpu.usedMiB,
    };
  });
}

export const NARROW_GPU_HEAD = 'GPU   used/total MiB   use state';

/** Each holder, then who only matches or is dead, as one entry of lines. */
export function narrowHolders(diagnosis: Diagnosis): readonly Entry[] {
  return [...diagnosis.holders, ...diagnosis.others].map((holder) => holderEntry(holder, diagnosis));
}

function holdersOn(gpu: GpuAccount, names: ReadonlyMap<number, string>): readonly string[] {
  const shown = gpu.holderPids.slice(0, 2).map((pid) => `     ${pid} ${names.get(pid) ?? ''}`.trimEnd());
  const more = gpu.holderPids.length - shown.length;
  return more > 0 ? [...shown, `     … ${more} more`] : shown;
}

function holderEntry(holder: HolderDiagnosis, diagnosis: Diagnosis): Entry {
  const {process, findings} = holder;
  const {uptimeMs, clockTicksPerSecond} = diagnosis.snapshot;
  const ageMs = Math.max(0, uptimeMs - (Number(process.startTicks) / clockTicksPerSecond) * 1000);
  const gpus = diagnosis.gpus
    .filter((gpu) => holder.gpus.some((use) => use.gpuUuid === gpu.gpuUuid && use.how !== 'opened'))
    .map((gpu) => gpu.index ?? '?');
  const memory = holder.chargedMiB === null ? '' : `, ${thousands(holder.chargedMiB)} MiB`;
  const [lead] = findings;
  const next = holderNextLine(holder, diagnosis.snapshot);
  const details = (): readonly string[] => [
    findings.map((kind) => FINDING_WORD[kind]).join(', '),
    `${whose(holder.ownership)} · up ${span(ageMs)}${gpus.length === 0 ? '' : ` · GPU ${gpus.join(', ')}${memory}`}`,
    ...holder.evidence.map((one) => `· ${safeLine(one.fact, 100)} [${one.source}]`),
    ...ownerLines(holder),
    ...unreadLine(process),
    ...(lead === undefined ? [] : [FINDING_MEANING[lead]]),
    ...(next === null ? [] : [next]),
  ];
  return {
    lines: () => [
      ...wrapped(`PID ${process.pid} ${safeLine(titleOf(process), 60)}`),
      ...details().flatMap((line) => wrapped(`  ${line}`)),
    ],
    MiB: holder.chargedMiB,
  };
}

function indexOf(gpu: GpuAccount): string {
  return gpu.index === null ? ' ?' : ` ${gpu.index}`;
}

function thousandsOr(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
