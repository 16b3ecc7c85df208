/** What has changed between a plan on its card and the look for the form behind "Choose…". */
import {choosableIn, isNewSince, type MemoryMove, memoryMoves, type Offer, vanishedSince} from '../domain/offer.ts';
import type {Plan} from '../domain/plan.ts';
import type {Drift} from '../domain/run.ts';
import {plural, ranges, roughMemory, thousands} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {DRIFT_WORD} from './wording.ts';

/** A GPU's figure moves by itself: less than this between two looks is no news, MiB. */
const NOISE_MIB = 256;
const MOST_NAMED = 6;

/** "1 of 3 targets gone, 1 new holder, 61 → 44 GiB on GPU 0-3"; that nothing has changed is said too. */
export function driftSummary(was: Plan, offer: Offer): string {
  const of = was.targets.length;
  const known = new Set(was.targets.map((target) => target.identity.pid));
  const parts = TARGET_DRIFT.flatMap(([what, words]) => {
    const count = offer.drift.filter((one) => one.what === what && known.has(one.pid)).length;
    return count === 0 ? [] : [`${count} of ${plural(of, 'target', 'targets')} ${words}`];
  });
  const newcomers = newcomersIn(was, offer);
  if (newcomers > 0) parts.push(plural(newcomers, 'new holder', 'new holders'));
  const moves = memoryMoves(was, offer.plan, NOISE_MIB);
  if (moves.length > 0) parts.push(moved(moves));
  return parts.length === 0 ? 'nothing has changed' : parts.join(', ');
}

/** Each of the card's targets that is not to be had any more, by name and why. */
export function driftNames(was: Plan, offer: Offer): readonly string[] {
  const lines = was.targets.flatMap(({identity, name}) => {
    const found = offer.drift.find((one) => one.pid === identity.pid && one.what !== 'new-holder');
    if (found === undefined) return [];
    const detail = found.what === 'gone' || found.detail === '' ? '' : ` (${safeLine(found.detail, 60)})`;
    return [`PID ${identity.pid} ${safeLine(name, 40)} ${DRIFT_WORD[found.what]}${detail}`];
  });
  const more = lines.length - MOST_NAMED;
  return more <= 1
    ? lines
    : [...lines.slice(0, MOST_NAMED), `… ${thousands(more)} more targets are not there any more`];
}

/** "2 of 3 targets of version 1 are not there any more: PID 501 w1, PID 502 w2"; null where nobody is missing. */
export function vanishedLine(was: Plan, now: Plan): string | null {
  const gone = vanishedSince(was, now);
  if (gone.length === 0) return null;
  const names = gone.slice(0, MOST_NAMED).map(({identity, name}) => `PID ${identity.pid} ${safeLine(name, 40)}`);
  const more = gone.length - names.length;
  const rest = more > 0 ? ` and ${thousands(more)} more` : '';
  return `${gone.length} of ${plural(was.targets.length, 'target', 'targets')} of version ${was.version} ${gone.length === 1 ? 'is' : 'are'} not there any more: ${names.join(', ')}${rest}`;
}

/** Why the form shows the plan of the card, and not a fresh one; `failed` is the sentence of a look that failed. */
export function staleSentence(stale: NonNullable<Offer['stale']>, failed: string): string {
  switch (stale.why) {
    case 'no-look':
      return failed;
    case 'saw-less':
      return `The look came back with less than the one behind the card: ${MISSING[stale.missing]}. Who is missing in it may only be unread.`;
    case 'machine-changed':
      return 'The host has been started anew since the card, or is another one: nothing of this plan is there any more, so nothing of it can be chosen. Leave it and ask again.';
  }
}

const MISSING = {
  'nvidia-smi': 'nvidia-smi did not answer',
  processes: 'not every process could be read',
  files: 'not every open file could be read',
} as const;

const TARGET_DRIFT: readonly (readonly [Drift['what'], string])[] = [
  ['gone', 'gone'],
  ['replaced', 'replaced by another process'],
  ['not-holding', 'without a GPU now'],
  ['now-protected', 'protected now'],
  ['unreadable', 'not readable now'],
];

/** Newcomers of the look, and who may be chosen now and stood nowhere on the card: a PID that was taken over, say. */
function newcomersIn(was: Plan, offer: Offer): number {
  const pids = [
    ...offer.drift.filter((one) => one.what === 'new-holder').map((one) => one.pid),
    ...choosableIn(offer.plan)
      .filter((one) => one.gpuUuids.length > 0 && isNewSince(was, one))
      .map((one) => one.identity.pid),
  ];
  return new Set(pids).size;
}

/** "61 → 44 GiB on GPU 0-3": the sum over the GPUs whose use has moved. */
function moved(moves: readonly MemoryMove[]): string {
  const sum = (pick: (one: MemoryMove) => number): number => moves.reduce((total, one) => total + pick(one), 0);
  const [before, now] = [sum((one) => one.beforeMiB), sum((one) => one.nowMiB)];
  const indexes = moves.flatMap((one) => one.index ?? []);
  const [from, to] = [roughMemory(before), roughMemory(now)];
  const unit = from.slice(from.indexOf(' '));
  const short = to.endsWith(unit) ? from.slice(0, -unit.length) : from;
  // Where rounding hides the move, the exact figures tell it.
  const shown = from === to ? `${thousands(before)} → ${thousands(now)} MiB` : `${short} → ${to}`;
  return `${shown}${indexes.length === 0 ? '' : ` on GPU ${ranges(indexes)}`}`;
}
