/**
 * Known worker roles: how a framework titles the processes that do its GPU work, and what their server is called. A
 * worker is never started by a shell or by init directly, so one that has such a parent has lost its server.
 */
import {ancestors, isEnvironment, type ProcessTable} from './lineage.ts';
import type {ProcessFacts} from './snapshot.ts';

export interface WorkerRole {
  readonly framework: string;
  /** Starts of comm or of the title in the first command-line word. */
  readonly titles: readonly string[];
}

export const WORKER_ROLES: readonly WorkerRole[] = [
  {framework: 'vLLM', titles: ['VLLM::']},
  {framework: 'SGLang', titles: ['sglang::', 'sgl_diffusion::']},
  {framework: 'ATOM', titles: ['ATOM::']},
];

/** The title a process shows: its first word if it was rewritten, else its comm. Chosen by the process: hostile text. */
export function titleOf(process: ProcessFacts): string {
  const first = process.words[0] ?? '';
  return first.includes('::') || process.words.length === 0
    ? first || process.comm
    : process.comm.includes('::')
      ? process.comm
      : first;
}

export function roleOf(process: ProcessFacts): WorkerRole | null {
  const names = [process.comm, process.words[0] ?? ''];
  return WORKER_ROLES.find((role) => names.some((name) => role.titles.some((title) => name.startsWith(title)))) ?? null;
}

/**
 * A worker whose server is gone: its line of parents reaches a shell, a supervisor or PID 1 through workers only. A
 * worker below any other live program (an offline script, say) is that program's work.
 */
export function lostItsServer(process: ProcessFacts, table: ProcessTable): boolean {
  const role = roleOf(process);
  if (role === null) return false;
  if (process.ppid === 1) return true;
  for (const parent of ancestors(process.pid, table)) {
    if (roleOf(parent) !== null) {
      if (parent.ppid === 1) return true;
      continue;
    }
    return isEnvironment(parent);
  }
  return false;
}
