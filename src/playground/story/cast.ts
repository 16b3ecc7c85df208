/** Who plays in the story: roles, sizes and places drawn from a seed; the same seed, the same story. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import {bystander, detachedTrainer, inheritor, persistenceDaemon, server, worker} from '../lab/species.ts';

export interface Cast {
  /** To be signalled: the server, its workers and the ghost. */
  readonly guilty: readonly LabProcess[];
  /** Never to be signalled. */
  readonly innocent: readonly LabProcess[];
  readonly ghost: LabProcess;
  readonly server: LabProcess;
  readonly deafWorker: LabProcess;
  readonly trainer: LabProcess;
  readonly otherJob: LabProcess;
}

/** A small seeded generator (mulberry32): good enough to deal roles, and the same everywhere. */
export function dealer(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * GPU 0-3 of a profiling run's ghost: a child of dead workers. GPU 4 and 5 (or so) of a vLLM-like server with workers,
 * one of them deaf. A detached trainer, another user's job, and the persistence daemon, none of them anybody's to end.
 */
export async function castFor(lab: Lab, seed: number): Promise<Cast> {
  const deal = dealer(seed);
  const size = sizes(deal);
  const serving = [4, 5, 6, 7].toSorted(() => deal(3) - 1);
  const [first = 4, second = 5, third = 6, fourth = 7] = serving;
  const deafRank = deal(2);

  const daemon = await lab.spawn(persistenceDaemon(lab.gpus.length));
  const trainer = await lab.spawn(detachedTrainer([{gpu: third, MiB: size()}]));
  const otherJob = await lab.spawn(bystander([{gpu: fourth, MiB: size()}]));
  return {
    ...(await guiltyFor(lab, deal, {serving: [first, second], deafRank})),
    innocent: [daemon, trainer, otherJob],
    trainer,
    otherJob,
  };
}

function sizes(deal: (below: number) => number): () => number {
  return () => 8_192 + deal(64) * 1_024 + deal(1_024);
}

/** Those who are to go: a ghost on GPU 0-3, and a server with two workers, one of them deaf. */
export async function guiltyFor(
  lab: Lab,
  deal: (below: number) => number,
  where: {readonly serving: readonly [number, number]; readonly deafRank: number},
): Promise<Pick<Cast, 'guilty' | 'ghost' | 'server' | 'deafWorker'>> {
  const size = sizes(deal);
  const {deafRank} = where;
  const ghost = await lab.spawn(
    inheritor(
      [0, 1, 2, 3].map((gpu) => [{gpu, MiB: 88_000 + deal(8_844)}]),
      {deaf: deal(2) === 0 ? 'blocks' : 'ignores'},
    ),
  );
  const workers = where.serving.map((gpu, rank) =>
    worker(rank, [{gpu, MiB: size()}], rank === deafRank ? {deaf: 'blocks'} : {termDelayMs: 100 + deal(400)}),
  );
  const serving_ = await lab.spawn(server(workers, deal(2) === 0 ? {onTerm: 'close-workers'} : {}));
  const deafWorker = serving_.workers[deafRank];
  if (deafWorker === undefined) throw new Error('Internal error: the server came without its workers');
  return {
    guilty: [serving_, ...serving_.workers, ghost],
    ghost,
    server: serving_,
    deafWorker,
  };
}
