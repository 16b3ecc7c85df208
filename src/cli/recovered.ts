/** Runs whose program died on the way: said before anything else, with what was found. */
import type {Recovered} from '../engine/ports.ts';
import {confirmText} from './confirm.ts';
import type {CliContext} from './context.ts';
import {outcomeOf} from './json.ts';
import {printOutcome} from './show.ts';

export function printRecovered(context: CliContext, recovered: readonly Recovered[]): void {
  for (const {run, proposal} of recovered) {
    const outcome = outcomeOf(run);
    context.terminal.print(
      `Run ${run.id.slice(0, 6)} on ${run.host} was interrupted: the program that worked on it is gone. Looked at again, nothing was signalled:`,
    );
    if (outcome !== null) printOutcome(context, run, outcome);
    if (proposal !== null)
      context.terminal.print(
        `A fresh plan waits for a go: gpu-reclaim reclaim ${run.host} --confirm ${confirmText(proposal.plan, proposal.digest)}`,
      );
  }
}
