/** A plan's card for any number of processes: whole where it fits, else its start with counts and sums of the rest. */
import type {Plan} from '../domain/plan.ts';
import {
  afterLine,
  choosableOf,
  keptLines,
  lockedLines,
  lockedOf,
  ownerLines,
  planLines,
  unreadLines,
} from './plan-card.ts';
import {type Line, workloadLines} from './target-lines.ts';
import {workloadsOf} from './workload-words.ts';
import {moreLine} from './wrapped.ts';

const MOST_NAME = 200;

/** What stands on the card as one: its lines, made only if they may be shown, and the processes that it stands for. */
interface Group {
  readonly lines: () => readonly Line[];
  readonly processes: readonly {readonly chargedMiB: number | null}[];
}

/** At most about `room` lines: targets get the larger part, then those that may be chosen, then the locked. */
export function shortPlanLines(full: Plan, room: number): readonly string[] {
  const plan = withShortNames(full);
  if (plan.targets.length + plan.kept.length <= room) {
    const whole = planLines(plan, 'ranges');
    if (whole.length <= room) return whole.map(asText);
  }
  const targets = part(
    '☑',
    workloadsOf(plan.targets).map((workload) => ({
      lines: () => workloadLines(workload, plan, 'ranges'),
      processes: workload.targets,
    })),
    Math.floor(room * 0.6),
  );
  const left = room - targets.length - 1;
  const choosable = part(
    '☐',
    choosableOf(plan).map((one) => ({lines: () => keptLines(one, plan), processes: [one]})),
    Math.floor(left * 0.7),
  );
  const locked = part(
    '🔒',
    lockedOf(plan).map((one) => ({lines: () => lockedLines(one), processes: [one]})),
    Math.max(2, left - choosable.length),
  );
  return [
    ...targets,
    ...choosable,
    ...locked,
    ...unreadLines(plan).map(asText),
    ...ownerLines(plan).map(asText),
    afterLine(plan),
  ];
}

/** A name of 4 KB is cut to some 40 characters anyway; here once, not for each try. */
function withShortNames(plan: Plan): Plan {
  const short = <T extends {readonly name: string}>(one: T): T =>
    one.name.length <= MOST_NAME ? one : {...one, name: one.name.slice(0, MOST_NAME)};
  return {...plan, targets: plan.targets.map(short), kept: plan.kept.map(short)};
}

/** As many whole groups as `room` lines hold, and a line for the rest. */
function part(mark: string, groups: readonly Group[], room: number): readonly string[] {
  const shown: string[] = [];
  for (const [at, group] of groups.entries()) {
    const lines = group.lines().map(asText);
    const isLast = at === groups.length - 1;
    if (shown.length + lines.length + (isLast ? 0 : 1) > room) {
      const rest = groups.slice(at).flatMap(({processes}) => processes);
      return [...shown, `${mark} ${moreLine(rest.map((one) => ({MiB: one.chargedMiB})))}`];
    }
    shown.push(...lines);
  }
  return shown;
}

function asText(line: Line): string {
  return line.as === 'detail' ? `  ${line.text}` : line.text;
}
