/** Who may be chosen, as people look for them: workload by workload, then by owner; targets first. */
import {type Choosable, choosableIn, isNewSince, isTarget, type Offer} from '../domain/offer.ts';
import type {Plan, Target} from '../domain/plan.ts';
import {plural, span, thousands} from './amounts.ts';
import {safeLine} from './safe-text.ts';
import {FINDING_WORD, KEPT_WORD} from './wording.ts';
import {gpuWords, whose, workloadMemory, workloadName} from './workload-words.ts';

export interface ChoiceGroup {
  /** A `workload`: processes that belong together · `owner`: single ones that somebody has in common. */
  readonly as: 'workload' | 'owner';
  /** "vLLM, 1 server + 8 workers, anna, 774,752 MiB on GPU 0-7": makes sense without what stands around it. */
  readonly title: string;
  /** For a button, after "of": "vLLM of anna". */
  readonly short: string;
  /** Places in the list of everybody who may be chosen. */
  readonly members: readonly number[];
}

/** Every choosable process once. */
export function choiceGroups(offer: Offer): readonly ChoiceGroup[] {
  const everybody = choosableIn(offer.plan);
  const sizes = new Map<string, number>();
  for (const one of everybody) sizes.set(rootOf(offer, one), (sizes.get(rootOf(offer, one)) ?? 0) + 1);
  const groups = new Map<string, {as: ChoiceGroup['as']; members: number[]}>();
  for (const [at, one] of everybody.entries()) {
    const root = rootOf(offer, one);
    const as = (sizes.get(root) ?? 0) > 1 ? 'workload' : 'owner';
    const key = as === 'workload' ? root : `${isTarget(one)} ${ownerKey(one)}`;
    const found = groups.get(key);
    if (found === undefined) groups.set(key, {as, members: [at]});
    else found.members.push(at);
  }
  return [...groups.values()].map(({as, members}) => {
    const all = members.flatMap((at) => everybody[at] ?? []);
    return {as, members, ...(as === 'workload' ? workloadTitle(all, offer) : ownerTitle(all, offer.plan))};
  });
}

/** "PID 4711 train.py · in use, kept": short, and enough to know it by. */
export function choiceName(one: Choosable, was: Plan): string {
  const isNew = isNewSince(was, one) ? ' · new since the card' : '';
  // It stood on no card, so that nobody has left it.
  const kept = isTarget(one) || (isNew !== '' && one.why === 'unticked') ? '' : KEPT_WORD[one.why];
  const found = isTarget(one)
    ? one.findings
        .slice(0, 2)
        .map((kind) => FINDING_WORD[kind])
        .join(', ')
    : kept;
  return `PID ${one.identity.pid} ${safeLine(one.name, 36)}${isNew}${found === '' ? '' : ` · ${found}`}`;
}

/** "GPU 6 21,630 MiB · bo · up 3 d" */
export function choiceFacts(one: Choosable, plan: Plan): string {
  const gpus = gpuWords(one.gpuUuids, plan);
  const memory = one.chargedMiB === null ? '' : `${thousands(one.chargedMiB)} MiB`;
  return [`${gpus} ${memory}`.trim(), whose(one.ownership), `up ${span(one.ageMs)}`]
    .filter((part) => part !== '')
    .join(' · ');
}

/** By whom a list may be narrowed: the name that stands beside the process. */
export function ownerKey(one: Pick<Choosable, 'ownership'>): string {
  return whose(one.ownership);
}

function rootOf({families}: Offer, {identity}: Choosable): string {
  const family = families[String(identity.pid)];
  return family === undefined ? `alone ${identity.pid}` : `root ${family.rootPid}`;
}

function workloadTitle(all: readonly Choosable[], {plan, families}: Offer): Pick<ChoiceGroup, 'title' | 'short'> {
  const [first, ...more] = all.map((one) => asTarget(one, families));
  if (first === undefined) throw new Error('Internal error: a workload of nobody');
  const name = workloadName({as: 'family', targets: [first, ...more]});
  const who = owners(all);
  return {
    title: `${name}, ${who}, ${workloadMemory([first, ...more], plan)}`,
    short: `${name.slice(0, name.lastIndexOf(','))} of ${who}`,
  };
}

function ownerTitle(all: readonly Choosable[], plan: Plan): Pick<ChoiceGroup, 'title' | 'short'> {
  const who = owners(all);
  const memory = workloadMemory(all, plan);
  return {title: `${who}: ${plural(all.length, 'process', 'processes')}, ${memory}`, short: who};
}

function owners(all: readonly Choosable[]): string {
  const [first = '', ...more] = new Set(all.map(ownerKey));
  return more.length === 0 ? first : `${first} and ${plural(more.length, 'other', 'others')}`;
}

/** As it would stand in the plan, for the words of a workload only. */
function asTarget(
  one: Choosable,
  families: Offer['families'],
): Pick<Target, 'identity' | 'name' | 'role' | 'family' | 'chargedMiB' | 'gpuUuids'> {
  const family = families[String(one.identity.pid)] ?? {framework: null, rootPid: one.identity.pid};
  return {...one, role: isTarget(one) ? one.role : 'member', family};
}
