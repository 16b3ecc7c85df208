/** What the form behind "Choose…" carries from one page to the next, and what comes back with a tick. */
import {z} from 'zod';
import {type Choosable, choosableIn} from '../domain/offer.ts';
import type {Plan} from '../domain/plan.ts';
import {isSameProcess, type ProcessIdentity} from '../domain/process.ts';
import {type RunId, runId} from '../domain/run.ts';
import {safeLine} from '../report/safe-text.ts';
import {LIMITS} from './limits.ts';
import type {ViewState} from './view-state.ts';

export const SHOWN = ['all', 'ticked', 'unticked', 'new', 'locked'] as const;
export type Shown = (typeof SHOWN)[number];

/** Narrows what is listed, and never what is ticked. */
export interface Narrowing {
  readonly gpu: number | null;
  /** As it stands beside the process. */
  readonly owner: string | null;
  readonly show: Shown;
  /** Empty: any. */
  readonly text: string;
}

export interface ChoiceState extends Narrowing {
  readonly runId: RunId;
  readonly channel: string;
  /** Id of the offer that is shown. */
  readonly offer: string;
  /** From 0. */
  readonly page: number;
  /** Places in the list of everybody who may be chosen. */
  readonly ticks: ReadonlySet<number>;
  /** The ticks when the list was last narrowed: ticking must not move who stands on which page. */
  readonly listed: ReadonlySet<number>;
  /** Grows with each change of the form: Slack keeps what was ticked in a block that keeps its id. */
  readonly turn: number;
  /** Grows when the fields that narrow are emptied, for the same reason; else those keep their ids, and the focus with them. */
  readonly resets: number;
}

export const EVERYBODY: Narrowing = {gpu: null, owner: null, show: 'all', text: ''};
export const MOST_TEXT = 60;

/** Block ids of checkboxes begin with this. */
export const TICKS = 'ticks';
/** Its block id begins with this: the text that narrows. */
export const FIND = 'find';

const bits = z.string().regex(/^[A-Za-z0-9_-]{0,1000}$/);
const shape = z.strictObject({
  run: z.string().regex(/^[0-9a-f]{12}$/),
  channel: z.string().regex(/^[A-Z0-9]{1,40}$/),
  offer: z.string().regex(/^[0-9A-Za-z_-]{1,64}$/),
  page: z.int().min(0).max(10_000),
  gpu: z.int().min(0).max(10_000).nullable(),
  owner: z.string().max(60).nullable(),
  show: z.enum(SHOWN),
  text: z.string().max(2 * MOST_TEXT),
  ticks: bits,
  listed: bits,
  turn: z.int().min(0),
  resets: z.int().min(0),
});

export function writeChoice({runId: run, ticks, listed, ...rest}: ChoiceState): string {
  return JSON.stringify({run, ...rest, ticks: bitsOf(ticks), listed: bitsOf(listed)});
}

/** null for anything that no form of ours ever carried. */
export function readChoice(text: string): ChoiceState | null {
  try {
    const {run, ticks, listed, ...rest} = shape.parse(JSON.parse(text));
    return {...rest, runId: runId(run), ticks: placesOf(ticks), listed: placesOf(listed)};
  } catch {
    return null;
  }
}

/** A bit a place: 500 processes are 84 characters. */
function bitsOf(places: ReadonlySet<number>): string {
  const bytes = new Uint8Array(Math.ceil((Math.max(-1, ...places) + 1) / 8));
  for (const at of places) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
  return Buffer.from(bytes).toString('base64url');
}

function placesOf(text: string): ReadonlySet<number> {
  const bytes = Buffer.from(text, 'base64url');
  return new Set(
    [...bytes].flatMap((byte, at) =>
      [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bit) => (byte & (1 << bit) ? [at * 8 + bit] : [])),
    ),
  );
}

/** The whole identity, so that a tick means one process, and the version of the plan that it was ticked in. */
export function tickValue({pid, startTicks, uid, executable}: ProcessIdentity, plan: Pick<Plan, 'version'>): string {
  return [...`${pid}:${startTicks}:${uid}:${executable}:v${plan.version}`].slice(0, LIMITS.option.value).join('');
}

export interface Ticked extends ProcessIdentity {
  readonly planVersion: number;
}

/** Every tick of the form, in any group. Values that no option of ours ever had are left out. */
export function readTicks(state: ViewState): readonly Ticked[] {
  return Object.entries(state.values)
    .filter(([block]) => block.startsWith(`${TICKS}_`))
    .flatMap(([, inputs]) => Object.values(inputs))
    .flatMap((input) => input.selected_options ?? [])
    .flatMap((option) => readTick(option.value ?? ''));
}

function readTick(value: string): readonly Ticked[] {
  const [, pid, startTicks, uid, executable, version] =
    /^(\d{1,10}):(\d{1,20}):(\d{1,10}):([\d:]{1,60}):v(\d{1,6})$/.exec(value) ?? [];
  if (pid === undefined || startTicks === undefined || executable === undefined) return [];
  return [{planVersion: Number(version), pid: Number(pid), startTicks, uid: Number(uid), executable}];
}

/** What was typed to narrow the list; null where the form has no such field. */
export function readFind(state: ViewState): string | null {
  const [found] = Object.entries(state.values).filter(([block]) => block.startsWith(`${FIND}_`));
  if (found === undefined) return null;
  const typed = Object.values(found[1])[0]?.value ?? '';
  return safeLine(typed.replaceAll(/\p{Surrogate}/gu, ' '), MOST_TEXT);
}

/**
 * The ticks after a look at the page: of those that stood there (`shown`) the ticked ones, of all others what it was.
 * `strays`: ticks that no option of this page was: another identity, another version, another page.
 */
export function withPage(
  state: Pick<ChoiceState, 'ticks'>,
  plan: Plan,
  shown: readonly number[],
  ticked: readonly Ticked[],
): {readonly ticks: ReadonlySet<number>; readonly strays: readonly Ticked[]} {
  const everybody = choosableIn(plan);
  const ticks = new Set([...state.ticks].filter((at) => at < everybody.length && !shown.includes(at)));
  const strays: Ticked[] = [];
  for (const tick of ticked) {
    const at = shown.find((place) => isMeant(everybody[place], tick, plan));
    if (at === undefined) strays.push(tick);
    else ticks.add(at);
  }
  return {ticks, strays};
}

function isMeant(one: Choosable | undefined, tick: Ticked, plan: Plan): boolean {
  return one !== undefined && tick.planVersion === plan.version && isSameProcess(one.identity, tick);
}

export function identitiesAt(plan: Plan, places: ReadonlySet<number>): readonly ProcessIdentity[] {
  return choosableIn(plan).flatMap((one, at) => (places.has(at) ? [one.identity] : []));
}

/** The same processes in another offer; whoever is not in it is left out. */
export function placesIn(plan: Plan, identities: readonly ProcessIdentity[]): ReadonlySet<number> {
  return new Set(
    choosableIn(plan).flatMap((one, at) =>
      identities.some((other) => isSameProcess(other, one.identity)) ? [at] : [],
    ),
  );
}
