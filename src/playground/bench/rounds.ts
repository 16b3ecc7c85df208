/** Several commands timed against each other: in turns, so that a busy moment of the machine falls on all of them. */
import type {CommandResult, LabConnection} from '../lab/run-in-lab.ts';

export interface Contender {
  readonly name: string;
  readonly command: string;
  /** What its shell reads; made anew for each round. */
  readonly input: () => string;
  /** How many holders its answer names; null for a part that names none. */
  readonly holdersIn: ((answer: CommandResult) => number) | null;
}

export interface Timed {
  readonly name: string;
  readonly medianMs: number;
  readonly fastestMs: number;
  readonly slowestMs: number;
  /** The fewest that any round named. */
  readonly holders: number | null;
}

/** One unmeasured round for everybody, then `rounds`; the order turns by one each time, so that nobody always goes first. */
export async function takeTurns(
  connection: LabConnection,
  contenders: readonly Contender[],
  rounds: number,
): Promise<readonly Timed[]> {
  const took = new Map<string, number[]>(contenders.map(({name}) => [name, []]));
  const holders = new Map<string, number>();
  for (let round = 0; round <= rounds; round += 1) {
    for (let at = 0; at < contenders.length; at += 1) {
      const contender = contenders[(at + round) % contenders.length];
      if (contender === undefined) continue;
      const input = contender.input();
      const begunMs = performance.now();
      const answer = await connection.run(contender.command, input);
      const ms = performance.now() - begunMs;
      if (round > 0) took.get(contender.name)?.push(ms);
      if (contender.holdersIn === null) continue;
      const named = contender.holdersIn(answer);
      holders.set(contender.name, Math.min(named, holders.get(contender.name) ?? named));
    }
  }
  return contenders.map(({name}) => {
    const sorted = (took.get(name) ?? []).toSorted((a, b) => a - b);
    return {
      name,
      medianMs: median(sorted),
      fastestMs: sorted[0] ?? Number.NaN,
      slowestMs: sorted.at(-1) ?? Number.NaN,
      holders: holders.get(name) ?? null,
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
