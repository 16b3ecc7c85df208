/** What a person can do to the lab host from the page, so that there is always something to look at. */
import type {Lab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import type {Switch} from '../page/switches.ts';
import {measureOn} from './campaign-host.ts';
import {dealer, guiltyFor} from './cast.ts';

/** `started` is told of each process, so that the page shows it. */
export function hostSwitches(
  lab: Lab,
  host: string,
  started: (processes: readonly LabProcess[], user: string) => void,
): readonly Switch[] {
  let round = 1;
  return [
    {
      id: 'refill',
      label: 'Fill the GPUs again',
      does: `Starts another ghost and another vLLM server on ${host}, where GPUs are free.`,
      watch: 'the memory comes back at the right, and there is something to reclaim again.',
      press: async () => {
        const used = await lab.ledger();
        const free = [4, 5, 6, 7].filter((gpu) => (used[gpu] ?? 0) === 0);
        const [first, second] = free;
        if (used.slice(0, 4).some((MiB) => MiB > 0) || first === undefined || second === undefined)
          return 'They are full still: reclaim first.';
        round += 1;
        const deal = dealer(round);
        const {guilty} = await guiltyFor(lab, deal, {serving: [first, second], deafRank: deal(2)});
        started(guilty, 'root');
        return 'A ghost holds GPU 0-3, and a server has two more.';
      },
    },
    {
      id: 'measure',
      label: 'Measure, and leave a mess',
      does: 'A workload runs on GPU 0-1 and ends; its profiler stays on GPU 2, and settings are changed in the stand-in.',
      watch: `between /gpu profile start ${host} and /gpu profile stop ${host} it makes a report that names each of them.`,
      press: async () => {
        const refused: string[] = [];
        const left = await measureOn(
          lab,
          () => undefined,
          (kept, otherwise) => void (kept || refused.push(otherwise)),
        );
        started([left.profiler, left.workload], 'root');
        return refused.length === 0 ? 'The workload has ended, the profiler has not.' : refused.join('; ');
      },
    },
  ];
}
