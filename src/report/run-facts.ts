/** What every card of a run says in the same places, whatever the run is doing: on which GPUs, what is planned, for whom. */
import type {Plan} from '../domain/plan.ts';
import type {Run} from '../domain/run.ts';
import {approvalOf, outcomeOf, planOf, requestOf} from '../domain/run-state.ts';
import {plural, ranges} from './amounts.ts';
import {CHOICE_WORD} from './run-state-line.ts';
import {whose} from './workload-words.ts';
import {graceWords} from './writing-words.ts';

export interface Fact {
  readonly label: string;
  readonly text: string;
}

/** People named before the rest is counted. */
const MOST_OWNERS = 4;

/** Always these, in this order. */
export function runFacts(run: Run): readonly Fact[] {
  const plan = planOf(run)?.plan ?? null;
  const none = outcomeOf(run) === null ? 'not known yet' : 'none was made';
  return [
    {label: 'Host', text: run.host},
    {label: 'GPUs', text: gpuFact(run, plan)},
    {label: 'Plan', text: plan === null ? none : planFact(run, plan)},
    {label: 'Targets', text: plan === null ? none : targetFact(plan)},
  ];
}

/** "0-7", "all", "2 of 8: 4-5". */
function gpuFact(run: Run, plan: Plan | null): string {
  const {gpus} = requestOf(run);
  if (plan === null) return gpus === null ? 'all' : ranges(gpus);
  const asked = plan.gpus.filter(({requested}) => requested);
  const indexes = asked.flatMap(({index}) => (index === null ? [] : [index]));
  const names = indexes.length === 0 ? '' : ranges(indexes);
  const unnamed = asked.length - indexes.length;
  const all = [...(names === '' ? [] : [names]), ...(unnamed === 0 ? [] : [`${unnamed} without an index`])].join(', ');
  if (all === '') return 'none seen';
  return asked.length === plan.gpus.length ? all : `${all} (${asked.length} of ${plan.gpus.length})`;
}

/** What a go would do, or what the go that was given covers. */
function planFact(run: Run, plan: Plan): string {
  if (plan.targets.length === 0) return 'nothing to signal';
  const first = plan.stops.length === 0 ? '' : `stop ${plural(plan.stops.length, 'owner', 'owners')}, then `;
  if (approvalOf(run)?.choice === 'terminate-only') return `${first}${CHOICE_WORD['terminate-only']}`;
  const deaf = plan.targets.filter(({takesTerm}) => !takesTerm).length;
  if (deaf === plan.targets.length) return `${first}kill -9 at once`;
  return `${first}SIGTERM, kill -9 after ${graceWords(plan)}`;
}

/** "9 processes of anna, bo" */
export function targetFact({targets}: Plan): string {
  if (targets.length === 0) return 'none';
  const owners = [...new Set(targets.map(({ownership}) => whose(ownership)))].toSorted();
  const shown = owners.slice(0, MOST_OWNERS).join(', ');
  const more = owners.length - MOST_OWNERS;
  return `${plural(targets.length, 'process', 'processes')} of ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}
