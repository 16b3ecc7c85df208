/** What really runs on a lab host, for the page's pane: from the lab's own ledger, never from the bot. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import type {HostState} from '../page/serve.ts';
import type {Cast} from './cast.ts';

interface Shown {
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

export function labState(name: string, lab: Lab, shown: readonly Shown[]): () => Promise<HostState> {
  return async () => {
    const entries = await lab.ledgerEntries();
    const used = await lab.ledger();
    const billed = (process: LabProcess) => [process.pid, ...process.billed];
    return {
      name,
      gpus: lab.gpus.map((gpu, index) => ({index, usedMiB: used[index] ?? 0, totalMiB: gpu.totalMiB})),
      processes: await Promise.all(
        shown.map(async ({process, user}) => ({
          pid: process.pid,
          name: process.label,
          user,
          alive: await lab.alive(process.pid),
          gpus: [
            ...new Set(entries.filter((entry) => billed(process).includes(entry.pid)).map((entry) => entry.gpu)),
          ].toSorted(),
        })),
      ),
    };
  };
}
