/** Runs whose program died on the way: taken up and said before anything else, with what was found. */
import {ok, type Result} from '../domain/failure.ts';
import type {Recovered} from '../engine/ports.ts';
import {confirmText} from './confirm.ts';
import type {CliContext} from './context.ts';
import {outcomeOf} from './json.ts';
import {printOutcome} from './show.ts';

/** Takes up what dead programs left; the context that comes back tells it in JSON as well. */
export async function takeUp(context: CliContext): Promise<Result<CliContext>> {
  const recovered = await context.engine.recover();
  if (!recovered.ok) return recovered;
  if (!context.json) printRecovered(context, recovered.value);
  return ok({...context, recovered: recovered.value});
}

function printRecovered(context: CliContext, recovered: readonly Recovered[]): void {
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
