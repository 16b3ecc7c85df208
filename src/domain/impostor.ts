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
  for (const {entry, called: known} of calledIn(list)) {
    const called = names.find((name) => known.has(name));
    if (called === undefined || runsProgramOf(process, entry)) continue;
    const file = process.executable;
    return {
      source: 'executable',
      fact: `calls itself ${called}, as ${entry.name} does; its program is ${file === null ? 'unreadable' : `${file.path}, of uid ${file.ownerUid}`}`,
    };
  }
  return null;
}

interface Called {
  readonly entry: ProtectedEntry;
  /** What comm or a command line may call one of its programs. */
  readonly called: ReadonlySet<string>;
}

/** Asked for each of hundreds of processes with the same list. */
const CALLED = new WeakMap<readonly ProtectedEntry[], readonly Called[]>();

function calledIn(list: readonly ProtectedEntry[]): readonly Called[] {
  const known = CALLED.get(list);
  if (known !== undefined) return known;
  const all = withCore(list).map((entry) => ({entry, called: new Set(entry.executables.flatMap(namesOf))}));
  CALLED.set(list, all);
  return all;
}

function namesOf(path: string): readonly string[] {
  const program = path.split('/').at(-1) ?? '';
  if (program.endsWith('*')) return [];
  return program.length > COMM_BYTES ? [program, program.slice(0, COMM_BYTES)] : [program];
}

/** A title may hold the whole command line in its first word. */
function firstName(process: ProcessFacts): string {
  const [program = ''] = (process.words[0] ?? '').split(/[\s:]/);
  return program.split('/').at(-1) ?? program;
}
