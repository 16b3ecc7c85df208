/** A plan's card for any number of processes: whole where it fits, else its start with counts and sums of the rest. */
import type {Kept, Plan, Target} from '../domain/plan.ts';
import {type Line, planLines} from './plan-card.ts';
import {moreLine} from './wrapped.ts';

const MOST_NAME = 200;

/** At most about `room` lines: targets get the larger part, then those that may be chosen, then the locked. */
export function shortPlanLines(full: Plan, room: number): readonly string[] {
  const plan = withShortNames(full);
  const whole = planLines(plan);
  if (whole.length <= room) return whole.map(asText);
  const shown = plan.kept.filter((one) => one.why !== 'monitor' && one.why !== 'name-only');
  const targets = part(plan.targets, Math.floor(room * 0.6), (some) => entries({...plan, targets: some, kept: []}));
  const left = room - targets.length - 1;
  const choosable = part(
    shown.filter((one) => one.choosable),
    Math.floor(left * 0.7),
    (some) => entries({...plan, targets: [], kept: some}),
  );
  const locked = part(
    shown.filter((one) => !one.choosable),
    Math.max(2, left - choosable.length),
    (some) => entries({...plan, targets: [], kept: some}),
  );
  return [...targets, ...choosable, ...locked, ...whole.slice(-1).map(asText)];
}

/** A name of 4 KB is cut to some 40 characters anyway; here once, not for each try. */
function withShortNames(plan: Plan): Plan {
  const short = <T extends {readonly name: string}>(one: T): T =>
    one.name.length <= MOST_NAME ? one : {...one, name: one.name.slice(0, MOST_NAME)};
  return {...plan, targets: plan.targets.map(short), kept: plan.kept.map(short)};
}

/** The card's lines without its last, which speaks of the whole plan. */
function entries(plan: Plan): readonly string[] {
  return planLines(plan).slice(0, -1).map(asText);
}

/** The longest start of `all` that needs at most `room` lines, and a line for the rest. */
function part<T extends Target | Kept>(
  all: readonly T[],
  room: number,
  linesOf: (some: readonly T[]) => readonly string[],
): readonly string[] {
  const whole = linesOf(all);
  if (whole.length <= room) return whole;
  let [fits, tooMany] = [0, all.length];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (linesOf(all.slice(0, middle)).length < room) fits = middle;
    else tooMany = middle;
  }
  const rest = all.slice(fits);
  const [first] = rest;
  const mark = first === undefined ? '' : 'why' in first ? (first.choosable ? '☐ ' : '🔒 ') : '☑ ';
  return [...linesOf(all.slice(0, fits)), `${mark}${moreLine(rest.map((one) => ({MiB: one.chargedMiB})))}`];
}

function asText(line: Line): string {
  return line.as === 'detail' ? `  ${line.text}` : line.text;
}
