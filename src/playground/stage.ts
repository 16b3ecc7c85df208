/** What every demo stands on: a lab host with its cast, and the production program set up for it. */
import {type Lab, startLab} from './lab/lab.ts';
import type {LabKind} from './lab/start.ts';

export const HOST = 'lab-1';

export function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

export async function raiseLab(seed: number, kind: LabKind | undefined): Promise<Lab> {
  say(`Starting a lab host with 8 stand-in GPUs (seed ${seed}); everything else on it is real.`);
  const lab = await startLab({name: HOST, gpus: 8, ...(kind === undefined ? {} : {kind})});
  say(`It is a ${lab.why}.`);
  return lab;
}

/** 0 if every promise was kept, else 1 with each broken one as a sentence. */
export function verdict(broken: readonly string[], kept: string): number {
  if (broken.length === 0) {
    say('', `Kept: ${kept}.`);
    return 0;
  }
  say('', 'BROKEN:', ...broken.map((line) => `  ${line}`));
  return 1;
}

export const STORY_KEPT = 'reclaimed; innocents alive; printed MiB = kernel; every signal accounted for';

/** True, after saying why, where the lab can't make this attack. */
export function isSkipped(name: string, needs: string | undefined, lab: Lab): boolean {
  if (needs === undefined || lab.features.has(needs)) return false;
  say(`Skipped: "${name}" needs a lab with ${needs}, and this one has none; run the demo as root.`);
  return true;
}
