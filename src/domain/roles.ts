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

/**
 * What to call a process in one or two words: a rewritten title, the script or module that an interpreter runs, or the
 * program's own name. Never a whole command line: that may hold secrets. Chosen by the process: hostile text.
 */
export function titleOf(process: ProcessFacts): string {
  const [first = '', ...rest] = process.words;
  if (first.includes('::')) return first;
  if (process.comm.includes('::') || first === '') return process.comm;
  const program = baseName(first);
  if (!/^(python|perl|ruby|node|java|Rscript)[0-9.]*$/.test(program)) return program;
  return scriptOf(rest) ?? program;
}

/** The module behind `-m`, or the first word that is no option; null for `-c` and for none. */
function scriptOf(words: readonly string[]): string | null {
  for (const [at, word] of words.entries()) {
    if (word === '-m') return words[at + 1] ?? null;
    if (word === '-c' || word === '-e') return null;
    if (!word.startsWith('-')) return baseName(word);
  }
  return null;
}

function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}

/** Titles that a server gives itself in the style of its workers: what stands below one has its server. */
const SERVER_TITLE = /^[A-Za-z_]+::(api_?server|http_?server|grpc_?server|launch_?server|router)/i;

export function roleOf(process: ProcessFacts): WorkerRole | null {
  const names = [process.comm, process.words[0] ?? ''];
  if (names.some((name) => SERVER_TITLE.test(name))) return null;
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
