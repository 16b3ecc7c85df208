/** What travels through a form and comes back when it is submitted: run, plan, and where the card stands. */
import {z} from 'zod';
import {type GoChoice, type RunId, runId} from '../domain/run.ts';

export interface FormMetadata {
  readonly runId: RunId;
  readonly digest: string;
  readonly channel: string;
  readonly choice: GoChoice;
}

const shape = z.strictObject({
  run: z.string().regex(/^[0-9a-f]{12}$/),
  digest: z.string().regex(/^[0-9A-Za-z_-]{0,128}$/),
  channel: z.string().regex(/^[A-Z0-9]{1,40}$/),
  choice: z.enum(['terminate-then-kill', 'terminate-only']),
});

export function writeMetadata({runId: run, ...rest}: FormMetadata): string {
  return JSON.stringify({run, ...rest});
}

/** null for anything that no form of ours ever carried. */
export function readMetadata(text: string): FormMetadata | null {
  try {
    const {run, ...rest} = shape.parse(JSON.parse(text));
    return {runId: runId(run), ...rest};
  } catch {
    return null;
  }
}
