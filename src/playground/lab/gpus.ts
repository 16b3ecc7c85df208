/** The GPUs that a lab host claims to have. Their names say that no such card exists. */
import {createHash} from 'node:crypto';
import {STAND_IN_GPU} from '../../domain/practice.ts';

export interface LabGpu {
  readonly index: number;
  /** `GPU-…`: drawn from the lab's name, so that one name always gives the same GPUs. */
  readonly uuid: string;
  /** As nvidia-smi prints it: domain of 8 digits. */
  readonly busId: string;
  readonly name: string;
  readonly totalMiB: number;
}

/** `count` GPUs, minor N = index N. */
export function labGpus(labName: string, count: number, totalMiB: number): readonly LabGpu[] {
  return Array.from({length: count}, (_, index) => ({
    index,
    uuid: `GPU-${hexGroups(createHash('sha256').update(`${labName}/${index}`).digest('hex'))}`,
    busId: `00000000:${(index * 0x10 + 9).toString(16).padStart(2, '0').toUpperCase()}:00.0`,
    name: STAND_IN_GPU,
    totalMiB,
  }));
}

function hexGroups(hex: string): string {
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, group) => hex.slice(ends[group - 1] ?? 0, end)).join('-');
}
