/** The story of design and README on one lab host, played by the production program: look, plan, go, ladder, proof. */
import type {Lab} from '../lab/lab.ts';
import type {Bot} from './bot.ts';
import type {Cast} from './cast.ts';
import {asWords, differences, received, recorded} from './verdict.ts';

export interface Verdict {
  /** Each a sentence; empty means the promise was kept. */
  readonly broken: readonly string[];
}

/** The `COUNT:HOST:DIGEST` that a plan printed; null if it printed none. */
export function confirmIn(output: string): string | null {
  return /--confirm (\S+)/.exec(output)?.[1] ?? null;
}

interface Closed {
  readonly outcome: {
    readonly word: string;
    readonly gpus: readonly {
      readonly index: number | null;
      readonly beforeMiB: number | null;
      readonly afterMiB: number | null;
    }[];
    readonly survivors: readonly unknown[];
    readonly freedAfterMs: number | null;
  } | null;
}

/** The newest run, as --json tells it. */
export async function lastRun(
  bot: Bot,
): Promise<
  Closed & {readonly id: string; readonly phase: string; readonly events: readonly {readonly kind: string}[]}
> {
  const answer = (await bot.json('runs')) as {runs: (Closed & {id: string; phase: string; events: {kind: string}[]})[]};
  const [newest] = answer.runs;
  if (newest === undefined) throw new Error('no run was recorded');
  return newest;
}

/** Whether the outcome is what was promised, the figures are the kernel's, innocents live, and no signal is unaccounted for. */
export async function judgeStory(lab: Lab, bot: Bot, cast: Cast, before: readonly number[]): Promise<Verdict> {
  const broken: string[] = [];
  const run = await lastRun(bot);
  if (run.outcome?.word !== 'reclaimed') broken.push(`the outcome is ${run.outcome?.word ?? run.phase}, not reclaimed`);
  const after = await lab.ledger();
  for (const gpu of run.outcome?.gpus ?? []) {
    const index = gpu.index ?? -1;
    if (gpu.beforeMiB !== before[index])
      broken.push(`GPU ${index} before: printed ${gpu.beforeMiB} MiB, the kernel says ${before[index]}`);
    if (gpu.afterMiB !== after[index])
      broken.push(`GPU ${index} after: printed ${gpu.afterMiB} MiB, the kernel says ${after[index]}`);
  }
  for (const one of cast.innocent)
    if (!(await lab.alive(one.pid))) broken.push(`${one.label} (PID ${one.pid}) is dead`);
  for (const one of cast.guilty)
    if (await lab.alive(one.pid)) broken.push(`${one.label} (PID ${one.pid}) is still alive`);
  return {broken: [...broken, ...(await unaccounted(lab, bot, cast))]};
}

/** Signals that no run recorded, records that no process received, and any signal at all to an innocent. */
export async function unaccounted(lab: Lab, bot: Bot, cast: Cast): Promise<readonly string[]> {
  const witnessed = await received(lab);
  const innocents = new Set(cast.innocent.map((one) => one.pid));
  const harm = witnessed
    .filter((signal) => innocents.has(signal.pid))
    .map((signal) => `an innocent got ${asWords([signal])[0]}`);
  // A process that ignores SIGTERM is not sent one; a witness could not see it there.
  return [...harm, ...differences(witnessed, await recorded(bot))];
}
