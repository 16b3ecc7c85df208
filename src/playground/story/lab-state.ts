/** What really runs on a lab host, for the page's pane: from the lab's own ledger, never from the bot. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import type {HostState} from '../page/serve.ts';
import type {Cast} from './cast.ts';

export function labState(name: string, lab: Lab, cast: Cast): () => Promise<HostState> {
  const shown: readonly {readonly process: LabProcess; readonly user: string}[] = [
    ...cast.guilty.map((process) => ({process, user: 'root'})),
    ...cast.innocent.map((process) => ({
      process,
      user: process === cast.otherJob && lab.features.has('uids') ? 'bo' : 'root',
    })),
  ];
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
