/** The whole zoo at once on one host with 8 GPUs, for a person to look at and to reclaim: `/gpu reclaim lab-zoo match=vllm`. */
import {randomUUID} from 'node:crypto';
import {type Lab, startLab} from './lab/lab.ts';
import type {LabProcess} from './lab/process-tree.ts';
import {type LabSpec, server} from './lab/species.ts';
import type {LabKind} from './lab/start.ts';
import {spawnInnocents} from './zoo-round.ts';
import {ZOO} from './zoo-table.ts';

export const ZOO_HOST = 'lab-zoo';
const GPUS = 8;

/** Resolves when each species that this lab can have is what it claims: one server has most, the others stand beside it. */
export async function raiseZoo(
  kind: LabKind | undefined,
): Promise<{readonly lab: Lab; readonly processes: readonly LabProcess[]}> {
  const lab = await startLab({name: ZOO_HOST, gpus: GPUS, ...(kind === undefined ? {} : {kind})});
  try {
    const innocents = await spawnInnocents(lab);
    const rows = ZOO.filter((row) => row.needs.every((feature) => lab.features.has(feature)));
    const workers: LabSpec[] = [];
    const others: LabSpec[] = [];
    for (const [nth, row] of rows.entries()) {
      const share = randomUUID();
      const placed = (specs: readonly LabSpec[]) => specs.map((spec) => onGpu(spec, nth % GPUS, share));
      const own = placed(row.workers);
      // What stays keeps the server above it alive, so it has one of its own.
      if (row.parent === undefined && row.must.what === 'free') workers.push(...own);
      else others.push((row.parent ?? server)(own));
      others.push(...placed(row.beside ?? []));
    }
    const species = await Promise.all([server(workers), ...others].map((spec) => lab.spawn(spec)));
    return {lab, processes: [...innocents.map(({process}) => process), ...species.flatMap(withWorkers)]};
  } catch (error) {
    await lab.stop();
    throw error;
  }
}

function withWorkers(process: LabProcess): readonly LabProcess[] {
  return [process, ...process.workers.flatMap(withWorkers)];
}

function onGpu(spec: LabSpec, gpu: number, share: string): LabSpec {
  const there = (holds: LabSpec['holds']) => holds.map((one) => ({...one, gpu}));
  return {
    ...spec,
    holds: there(spec.holds),
    ...(spec.share === undefined ? {} : {share}),
    ...(spec.gives === undefined ? {} : {gives: {...spec.gives, holds: there(spec.gives.holds)}}),
    ...(spec.parents === undefined ? {} : {parents: spec.parents.map((one) => ({...one, holds: there(one.holds)}))}),
    ...(spec.workers === undefined ? {} : {workers: spec.workers.map((one) => onGpu(one, gpu, share))}),
  };
}
