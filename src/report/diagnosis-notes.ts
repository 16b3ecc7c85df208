/** What a diagnosis says of a host beside its holders: what else was read of its GPUs, causes that are left, what was not read. */
import type {Diagnosis, GpuReason} from '../domain/diagnosis.ts';
import type {SectionReport} from '../domain/snapshot.ts';
import {ranges} from './amounts.ts';
import {REASON_NEXT} from './finding-next.ts';
import {safeLine} from './safe-text.ts';
import {causeLines} from './unexplained.ts';

/** Memory of which no process is proven to be the holder. */
const LOOSE: readonly GpuReason[] = ['no-holder-anywhere', 'dead-charge-without-holder', 'possible-keeper'];

export function diagnosisNotes(diagnosis: Diagnosis): readonly string[] {
  return [...gpuEvidence(diagnosis), ...causes(diagnosis), ...unreadSections(diagnosis), ...nextWithGpus(diagnosis)];
}

/** "GPU 3: Xid 94, 512 s after boot: … [kernel-log]" */
function gpuEvidence(diagnosis: Diagnosis): readonly string[] {
  return diagnosis.gpus.flatMap((gpu) =>
    gpu.evidence.map((one) => `GPU ${gpu.index ?? '?'}: ${safeLine(one.fact, 160)} [${one.source}]`),
  );
}

function causes({gpus, snapshot}: Diagnosis): readonly string[] {
  const loose = gpus.some((gpu) => gpu.reasons.some((reason) => LOOSE.includes(reason)));
  return loose ? ['What may hold what nobody explains:', ...causeLines(snapshot).map((line) => `  ${line}`)] : [];
}

/** "Next, GPU 3: drain it, …", each step once. */
function nextWithGpus({gpus}: Diagnosis): readonly string[] {
  const indexes = new Map<string, number[]>();
  for (const {index, reasons} of gpus) {
    for (const step of new Set(reasons.flatMap((reason) => REASON_NEXT[reason] ?? [])))
      indexes.set(step, [...(indexes.get(step) ?? []), index ?? -1]);
  }
  return [...indexes].map(([step, of]) => `Next, GPU ${of.includes(-1) ? '?' : ranges(of)}: ${step}`);
}

/** A section that did not come whole says nothing about "nobody". */
function unreadSections({snapshot}: Diagnosis): readonly string[] {
  const words = (sections: readonly SectionReport[]) =>
    sections
      .filter((section) => !section.complete)
      .map((section) => `${section.name}${section.note === '' ? '' : ` (${safeLine(section.note, 60)})`}`);
  const first = words(snapshot.sections);
  const deeper = words(snapshot.deep?.sections ?? []);
  return [
    ...(first.length === 0 ? [] : [`Not read whole: ${first.join(', ')}`]),
    ...(deeper.length === 0 ? [] : [`Not read whole by the deeper look: ${deeper.join(', ')}`]),
  ];
}
