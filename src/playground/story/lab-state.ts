/** What really runs on a lab host, for the page's pane: from the lab's own ledger, never from the bot. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import type {HostState} from '../page/serve.ts';
import type {Cast} from './cast.ts';

/** One process of the host pane, and whose it is. */
export interface Shown {
  readonly process: LabProcess;
  readonly user: string;
}

/** Who plays the story, the guilty first. */
export function castOn(lab: Lab, cast: Cast): readonly Shown[] {
  return [
    ...cast.guilty.map((process) => ({process, user: 'root'})),
    ...cast.innocent.map((process) => ({
      process,
      user: process === cast.otherJob && lab.features.has('uids') ? 'bo' : 'root',
    })),
  ];
}

const STATE: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'sleeping',
  D: 'stuck in the kernel',
  T: 'stopped',
  t: 'stopped',
  I: 'idle',
};

/** What the lab's species are in the story, for who reads them for the first time. */
const ROLE: Readonly<Record<string, string>> = {
  inheritor: 'ghost',
  protected: 'daemon of the host',
  detached: 'started with nohup',
  bystander: "somebody else's work",
};

/** `shown` is asked each time: more may be started while somebody looks. */
export function labState(name: string, lab: Lab, shown: () => readonly Shown[]): () => Promise<HostState> {
  /** What ended keeps the title that it had. */
  const titles = new Map<LabProcess, string>();
  return async () => {
    const processes = shown();
    const [entries, used, facts] = await Promise.all([
      lab.ledgerEntries(),
      lab.ledger(),
      lab.facts(processes.map(({process}) => process.pid)),
    ]);
    return {
      name,
      gpus: lab.gpus.map((gpu, index) => ({index, usedMiB: used[index] ?? 0, totalMiB: gpu.totalMiB})),
      processes: processes.map(({process, user}, nth) => {
        const fact = facts[nth] ?? null;
        const billed = new Set([process.pid, ...process.billed]);
        const gpus = new Set(entries.filter((entry) => billed.has(entry.pid)).map((entry) => entry.gpu));
        const alive = fact?.alive === true;
        if (fact !== null && fact.title !== '') titles.set(process, fact.title);
        return {
          pid: process.pid,
          name: titleOf(titles.get(process) ?? '', process.label),
          user,
          alive,
          what: ROLE[process.label] ?? process.label,
          // A leader that is gone while its threads live on is Z, and holds memory all the same.
          ...(alive ? {state: fact.state === 'Z' ? 'zombie with threads' : (STATE[fact.state] ?? fact.state)} : {}),
          gpus: [...gpus].toSorted((one, two) => one - two),
        };
      }),
    };
  };
}

const MOST = 46;

/** The title that the process gives itself, without the interpreter's path; its role where it has none. */
function titleOf(title: string, label: string): string {
  const [program = '', ...words] = title.split(' ');
  const short = [program.split('/').at(-1) ?? '', ...words].join(' ').trim();
  if (short === '') return label;
  return short.length > MOST ? `${short.slice(0, MOST - 1)}…` : short;
}
