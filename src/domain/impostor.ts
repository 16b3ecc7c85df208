/** Who calls itself like a protected daemon and is none: the name is chosen by the process, the program file is not. */
import type {Evidence} from './finding.ts';
import type {ProtectedEntry} from './policy.ts';
import {runsProgramOf, withCore} from './protected.ts';
import {titleOf} from './roles.ts';
import type {ProcessFacts} from './snapshot.ts';

/** comm holds 15 bytes (TASK_COMM_LEN). */
const COMM_BYTES = 15;

/**
 * The evidence, for a process that no entry of `list` or of the core protects; null if its names are nobody's, or if it really runs that
 * program, in a container or under an account that the entry does not cover.
 */
export function impostorEvidence(process: ProcessFacts, list: readonly ProtectedEntry[]): Evidence | null {
  const names = [process.comm, firstName(process), titleOf(process)];
  for (const entry of withCore(list)) {
    const called = names.find((name) => entry.executables.some((path) => isCalled(name, path)));
    if (called === undefined || runsProgramOf(process, entry)) continue;
    const file = process.executable;
    return {
      source: 'executable',
      fact: `calls itself ${called}, as ${entry.name} does; its program is ${file === null ? 'unreadable' : `${file.path}, of uid ${file.ownerUid}`}`,
    };
  }
  return null;
}

function isCalled(name: string, path: string): boolean {
  const program = path.split('/').at(-1) ?? '';
  if (program.endsWith('*')) return false;
  return name === program || (program.length > COMM_BYTES && name === program.slice(0, COMM_BYTES));
}

/** A title may hold the whole command line in its first word. */
function firstName(process: ProcessFacts): string {
  const [program = ''] = (process.words[0] ?? '').split(/[\s:]/);
  return program.split('/').at(-1) ?? program;
}
