/** Which processes stand on which page of the form, and which of them are ticked out of sight. */
import {type Choosable, choosableIn, isNewSince, type Offer} from '../../domain/offer.ts';
import type {Kept, Plan} from '../../domain/plan.ts';
import {type ChoiceGroup, choiceFacts, choiceGroups, choiceName, ownerKey} from '../../report/choice-groups.ts';
import type {ChoiceState, Narrowing} from '../choice-state.ts';
import {LIMITS} from '../limits.ts';

/** A list with more is narrowed or turned, not read. */
const MOST_A_PAGE = 50;
/** Blocks that the processes of one page may take: the rest is for what stands around them. */
const MOST_BLOCKS = 82;
/** In a longer list evidence would stand between the ticks and whoever looks for one: it is narrowed first. */
const MOST_WITH_EVIDENCE = 12;
/** A workload with more members can be ticked as a whole. */
const MANY = 4;

/** Up to ten of one group: one set of checkboxes, with its evidence. */
export interface Chunk {
  readonly group: ChoiceGroup;
  /** Places in the list of everybody. */
  readonly places: readonly number[];
  /** Of the members of the group that are listed: "11 to 20 of 65". */
  readonly first: number;
  readonly of: number;
  /** On the first chunk of a workload with many members: all of them that are listed. */
  readonly whole: readonly number[] | null;
}

export interface ChoicePage {
  readonly page: number;
  readonly pages: number;
  readonly chunks: readonly Chunk[];
  /** Places that stand on this page. */
  readonly shown: readonly number[];
  /** How many processes are listed over all pages, and the numbers of the first on this one, from 1. */
  readonly listed: number;
  readonly first: number;
  readonly evidence: 'beside' | 'elsewhere';
  /** Ticked on other pages, and ticked but not listed at all. */
  readonly elsewhere: readonly number[];
  readonly hidden: readonly number[];
}

/** `was`: the plan on the card. A page past the last is the last. */
export function choicePage(offer: Offer, was: Plan, state: ChoiceState): ChoicePage {
  const everybody = choosableIn(offer.plan);
  const isListed = (at: number): boolean => {
    const one = everybody[at];
    return one !== undefined && state.show !== 'locked' && matches(one, offer.plan, was, state, state.listed.has(at));
  };
  const all = choiceGroups(offer).flatMap((group) => chunksOf(group, isListed));
  const evidence =
    all.reduce((sum, chunk) => sum + chunk.places.length, 0) <= MOST_WITH_EVIDENCE ? 'beside' : 'elsewhere';
  const pages = paged(all, evidence === 'beside' ? 1 : 0);
  const page = Math.min(state.page, pages.length - 1);
  const places = pages.map((chunks) => chunks.flatMap((chunk) => chunk.places));
  const shown = places[page] ?? [];
  const listed = new Set(places.flat());
  const ticked = [...state.ticks].filter((at) => at < everybody.length);
  return {
    page,
    pages: pages.length,
    chunks: pages[page] ?? [],
    shown,
    listed: listed.size,
    first: places.slice(0, page).reduce((sum, one) => sum + one.length, 0) + 1,
    evidence,
    elsewhere: ticked.filter((at) => listed.has(at) && !shown.includes(at)),
    hidden: ticked.filter((at) => !listed.has(at)),
  };
}

/** Who can never be ticked, as far as they are listed. */
export function lockedIn({plan}: Offer, narrowing: Narrowing): readonly Kept[] {
  return plan.kept.filter(
    (one) =>
      (!one.choosable || one.identity === null) &&
      isThere(one, plan, narrowing) &&
      contains(`PID ${one.pid} ${one.name} ${ownerKey(one)}`, narrowing.text),
  );
}

/** Names of owners to narrow by: those with the most processes first. */
export function ownersIn({plan}: Offer): readonly string[] {
  const counts = new Map<string, number>();
  for (const one of [...choosableIn(plan), ...plan.kept.filter((kept) => !kept.choosable)]) {
    const key = ownerKey(one);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
}

export function isNarrowed({gpu, owner, show, text}: Narrowing): boolean {
  return gpu !== null || owner !== null || show !== 'all' || text !== '';
}

function matches(one: Choosable, plan: Plan, was: Plan, narrowing: Narrowing, ticked: boolean): boolean {
  const {show, text} = narrowing;
  if (show === 'ticked' && !ticked) return false;
  if (show === 'unticked' && ticked) return false;
  if (show === 'new' && !isNewSince(was, one)) return false;
  if (!isThere(one, plan, narrowing)) return false;
  return text === '' || contains(`${one.name} ${choiceName(one, was)} ${choiceFacts(one, plan)}`, text);
}

function isThere(one: Pick<Kept, 'gpuUuids' | 'ownership'>, plan: Plan, {gpu, owner}: Narrowing): boolean {
  const uuid = plan.gpus.find((known) => known.index === gpu)?.gpuUuid;
  return (gpu === null || one.gpuUuids.some((held) => held === uuid)) && (owner === null || ownerKey(one) === owner);
}

function contains(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted.toLowerCase());
}

function chunksOf(group: ChoiceGroup, isListed: (at: number) => boolean): readonly Chunk[] {
  const members = group.members.filter(isListed);
  const isWhole = group.as === 'workload' && members.length > MANY;
  const chunks: Chunk[] = [];
  for (let at = 0; at < members.length; at += LIMITS.checkboxes) {
    const places = members.slice(at, at + LIMITS.checkboxes);
    chunks.push({group, places, first: at + 1, of: members.length, whole: isWhole && at === 0 ? members : null});
  }
  return chunks;
}

/** At least one page, perhaps an empty one. */
function paged(chunks: readonly Chunk[], evidenceBlocks: number): readonly (readonly Chunk[])[] {
  const pages: Chunk[][] = [[]];
  let blocks = 0;
  let members = 0;
  for (const chunk of chunks) {
    // The checkboxes, and the line with its button.
    const own = (chunk.whole === null ? 1 : 2) + evidenceBlocks;
    if (members > 0 && (blocks + own > MOST_BLOCKS || members + chunk.places.length > MOST_A_PAGE)) {
      pages.push([]);
      blocks = 0;
      members = 0;
    }
    pages.at(-1)?.push(chunk);
    blocks += own;
    members += chunk.places.length;
  }
  return pages;
}
