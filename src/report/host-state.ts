/** A diagnosis as words: per GPU state and figures, then every holder with its evidence. */
import type {Diagnosis, GpuReason, HolderDiagnosis} from '../domain/diagnosis.ts';
import {titleOf} from '../domain/roles.ts';
import {plural, ranges, span, thousands} from './amounts.ts';
import {holderNextLine, unreadLine} from './finding-next.ts';
import {column, safeLine} from './safe-text.ts';
import {ownerLines} from './stop-words.ts';
import {FINDING_MEANING, FINDING_WORD, GPU_REASON, STATE_WORD} from './wording.ts';
import {whose} from './workload-words.ts';

/** "gpu-07: 7 of 8 clean, 1 dirty" */
export function hostTitle(diagnosis: Diagnosis): string {
  const {gpus, snapshot} = diagnosis;
  if (gpus.length === 0) return `${snapshot.host}: no GPU seen (${smiWords(diagnosis)})`;
  const counts = (['clean', 'occupied', 'dirty', 'unknown'] as const).map((state) => ({
    state,
    count: gpus.filter((gpu) => gpu.state === state).length,
  }));
  const parts = counts.filter(({count}) => count > 0).map(({state, count}) => `${count} ${STATE_WORD[state]}`);
  return `${snapshot.host}: ${gpus.length} ${gpus.length === 1 ? 'GPU' : 'GPUs'}, ${parts.join(', ')}`;
}

export function gpuTable(diagnosis: Diagnosis): readonly string[] {
  const names = new Map(diagnosis.holders.map((holder) => [holder.process.pid, safeLine(titleOf(holder.process), 18)]));
  const rows = diagnosis.gpus.map((gpu) => {
    const holders = gpu.holderPids.slice(0, 2).map((pid) => `${pid} ${names.get(pid) ?? ''}`.trim());
    const more = gpu.holderPids.length > 2 ? ` +${gpu.holderPids.length - 2}` : '';
    return `${column(gpu.index === null ? ' ?' : ` ${gpu.index}`, 4)}${column(figure(gpu.usedMiB), 9, 'right')} /${column(figure(gpu.totalMiB), 9, 'right')}  ${column(STATE_WORD[gpu.state], 9)} ${holders.join(', ')}${more}`.trimEnd();
  });
  return diagnosis.gpus.length === 0
    ? []
    : [
        `${column('GPU', 4)}${column('used', 9, 'right')} /${column('total', 9, 'right')}  ${column('state', 9)} held by (MiB)`,
        ...rows,
      ];
}

/** Why GPUs are dirty or unknown, each reason once, with the GPUs it is about. */
export function gpuNotes(diagnosis: Diagnosis): readonly string[] {
  const byReason = new Map<string, number[]>();
  for (const gpu of diagnosis.gpus) {
    for (const reason of gpu.reasons) byReason.set(reason, [...(byReason.get(reason) ?? []), gpu.index ?? -1]);
  }
  const notes = [...byReason].map(
    ([reason, indexes]) => `GPU ${ranges(indexes)}: ${reasonWords(reason as GpuReason, diagnosis)}`,
  );
  const unexplained = diagnosis.gpus.filter((gpu) => (gpu.unexplainedMiB ?? 0) > gpu.baselineMiB);
  for (const gpu of unexplained)
    notes.push(
      `GPU ${gpu.index ?? '?'}: ${thousands(gpu.unexplainedMiB ?? 0)} of ${thousands(gpu.usedMiB ?? 0)} MiB are billed to no living process`,
    );
  for (const line of diagnosis.snapshot.gpuFaults) notes.push(`nvidia-smi says: ${safeLine(line)}`);
  if (diagnosis.snapshot.sight.stuckAt.length > 0)
    notes.push(
      `Reading stood still at PID ${ranges(diagnosis.snapshot.sight.stuckAt)}: that process is stuck in the kernel`,
    );
  return notes;
}

/** Root is told how many it was refused; anybody else, what would show them. */
function reasonWords(reason: GpuReason, diagnosis: Diagnosis): string {
  const {euid, unreadableFdFolders} = diagnosis.snapshot.sight;
  if (reason !== 'not-all-readable' || euid !== 0) return GPU_REASON[reason];
  return `${plural(unreadableFdFolders, 'process', 'processes')} could not be read, even by root`;
}

/** Each holder: what it is, what it holds, and where that was read. */
export function holderLines(diagnosis: Diagnosis): readonly string[] {
  const lines: string[] = [];
  for (const holder of [...diagnosis.holders, ...diagnosis.others]) lines.push(...oneHolder(holder, diagnosis));
  return lines.length === 0
    ? [
        diagnosis.snapshot.sight.full && !diagnosis.foreignPids
          ? 'No process holds a GPU.'
          : 'No holder was seen, but not everything could be read: this proves nothing.',
      ]
    : lines;
}

export function smiWords(diagnosis: Diagnosis): string {
  const {smi} = diagnosis.snapshot;
  switch (smi.state) {
    case 'answered':
      return smi.exitCode === 0
        ? 'nvidia-smi answered'
        : `nvidia-smi ended with ${smi.exitCode}: ${safeLine(smi.note)}`;
    case 'missing':
      return GPU_REASON['smi-missing'];
    case 'timed-out':
      return 'nvidia-smi did not answer in time';
    case 'still-stuck':
      return 'an earlier nvidia-smi of ours is still stuck, so none was started';
    case 'failed':
      return `nvidia-smi failed: ${safeLine(smi.note)}`;
  }
}

function oneHolder(holder: HolderDiagnosis, diagnosis: Diagnosis): readonly string[] {
  const {process, findings} = holder;
  const lead = findings[0];
  const next = holderNextLine(holder, diagnosis.snapshot);
  const indexes = diagnosis.gpus
    .filter((gpu) => holder.gpus.some((use) => use.gpuUuid === gpu.gpuUuid && use.how !== 'opened'))
    .flatMap((gpu) => (gpu.index === null ? [] : [gpu.index]));
  const age =
    diagnosis.snapshot.uptimeMs - (Number(process.startTicks) / diagnosis.snapshot.clockTicksPerSecond) * 1000;
  const memory = holder.chargedMiB === null ? '' : `, ${thousands(holder.chargedMiB)} MiB`;
  return [
    `PID ${process.pid} ${safeLine(titleOf(process), 60)} · ${findings.map((kind) => FINDING_WORD[kind]).join(', ')}`,
    `   ${whose(holder.ownership)} · up ${span(Math.max(0, age))}${indexes.length === 0 ? '' : ` · GPU ${ranges(indexes)}${memory}`}`,
    ...holder.evidence.map((one) => `   · ${safeLine(one.fact, 100)} [${one.source}]`),
    ...ownerLines(holder).map((line) => `   ${line}`),
    ...unreadLine(process).map((line) => `   ${line}`),
    ...(lead === undefined ? [] : [`   ${FINDING_MEANING[lead]}`]),
    ...(next === null ? [] : [`   ${next}`]),
  ];
}

/** "3 of 4 hosts answered" and the like are the caller's; this is one host's line in a fleet. */
export function fleetLine(diagnosis: Diagnosis): string {
  const used = diagnosis.gpus.reduce((sum, gpu) => sum + (gpu.usedMiB ?? 0), 0);
  return `${hostTitle(diagnosis)} · ${thousands(used)} MiB in use · ${plural(diagnosis.holders.length, 'holder', 'holders')}`;
}

function figure(value: number | null): string {
  return value === null ? '?' : thousands(value);
}
