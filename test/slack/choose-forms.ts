/** Forms behind "Choose…" as tests ask for them: a plan on the card, what the fresh look offers, and where the person stands. */
import {choosableIn, type Offer} from '../../src/domain/offer.ts';
import type {Plan} from '../../src/domain/plan.ts';
import {type ChooseForm, chooseModal} from '../../src/slack/blocks/choose-modal.ts';
import {choicePage} from '../../src/slack/blocks/choose-page.ts';
import {type ChoiceState, EVERYBODY} from '../../src/slack/choice-state.ts';
import type {ViewState} from '../../src/slack/view-state.ts';
import {aTarget, RUN, uuidOf} from '../doubles/build.ts';
import {aKept, DIGEST, ghostPlan} from './blocks-runs.ts';

export function anOffer(plan: Plan, change: Partial<Offer> = {}): Offer {
  return {runId: RUN, basedOn: DIGEST, plan, families: {}, drift: [], stale: null, ...change};
}

export interface Given {
  readonly offer?: Partial<Offer>;
  readonly was?: Plan;
  readonly state?: Partial<ChoiceState>;
  readonly problem?: string;
}

/** The targets ticked, on the first page, unless said. */
export function aForm(plan: Plan, {offer: change = {}, was = plan, state = {}, problem}: Given = {}): ChooseForm {
  const offer = anOffer(plan, change);
  const ticks = new Set(plan.targets.map((_, at) => at));
  const start: ChoiceState = {
    ...EVERYBODY,
    ...{runId: RUN, channel: 'C1', offer: 'offer1', page: 0, ticks, listed: ticks, turn: 1, resets: 0},
    ...state,
  };
  return {offer, was, state: start, problem: problem ?? null};
}

/** The checkbox groups of a form. */
export function boxesIn(form: ChooseForm) {
  return chooseModal(form).blocks.flatMap((block) =>
    block.type === 'input' && 'element' in block && block.element.type === 'checkboxes'
      ? [{id: block.block_id ?? '', label: block.label.text, ...block.element}]
      : [],
  );
}

/** What Slack would send of the form with nothing touched. */
export function untouched(form: ChooseForm): ViewState {
  return {
    values: Object.fromEntries(
      boxesIn(form).map((group) => [
        group.id,
        {[group.action_id ?? '']: {selected_options: group.initial_options ?? []}},
      ]),
    ),
  };
}

/** PIDs page by page, as somebody turns through. */
export function pidsByPage(form: ChooseForm): readonly (readonly number[])[] {
  const everybody = choosableIn(form.offer.plan);
  const {pages} = choicePage(form.offer, form.was, form.state);
  return Array.from({length: pages}, (_, page) =>
    choicePage(form.offer, form.was, {...form.state, page}).shown.flatMap((at) => everybody[at]?.identity.pid ?? []),
  );
}

/** So many holders on eight GPUs: the first half targets of vLLM servers with eight workers each, the others of many owners. */
export function crowd(holders: number): {readonly plan: Plan; readonly families: Offer['families']} {
  const half = Math.floor(holders / 2);
  const rootOf = (at: number): number => 1_000 + Math.floor(at / 9) * 9;
  const targets = Array.from({length: half}, (_, at) =>
    aTarget({
      pid: 1_000 + at,
      name: at % 9 === 0 ? 'vllm serve' : `VLLM::Worker_TP${(at % 9) - 1}`,
      role: at % 9 === 0 ? 'server' : 'member',
      family: {framework: 'vLLM', rootPid: rootOf(at)},
      gpuUuids: at % 9 === 0 ? [] : [uuidOf(at % 8)],
      chargedMiB: at % 9 === 0 ? null : 100,
    }),
  );
  const kept = Array.from({length: holders - half}, (_, at) =>
    aKept({
      pid: 5_000 + at,
      ownership: {person: `user${at % 12}`, uid: 2_000 + (at % 12), by: 'uid'},
      gpuUuids: [uuidOf(at % 8)],
      chargedMiB: 10,
    }),
  );
  const gpus = ghostPlan().gpus;
  const families = Object.fromEntries(targets.map(({identity, family}) => [String(identity.pid), family]));
  return {plan: {...ghostPlan(), targets, kept, gpus}, families};
}
