/** The confirmation of one plan: what is typed at a terminal, and what stands behind --confirm. */
import type {Plan} from '../domain/plan.ts';
import type {GoChoice} from '../domain/run.ts';

/** `3:gpu-07:9f2c1ab0`: count, host and the start of the plan digest. */
export function confirmText(plan: Plan, digest: string): string {
  return `${plan.targets.length}:${plan.host}:${digest.slice(0, 8)}`;
}

/** What a person types: the number and the host, so that the hand says what the eye has read. */
export function typedText(plan: Plan): string {
  return `${plan.targets.length} ${plan.host}`;
}

/** `3 gpu-07` is a go for the ladder, `term 3 gpu-07` for SIGTERM only; anything else is no go. */
export function readTyped(typed: string, plan: Plan): GoChoice | null {
  const words = typed.trim().replaceAll(/\s+/g, ' ');
  if (words === typedText(plan)) return 'terminate-then-kill';
  return words === `term ${typedText(plan)}` ? 'terminate-only' : null;
}
