/**
 * App Home: published when somebody opens it, and again for those who had it open lately when what they see has changed.
 * One publication at a time, the newest state wins, and nothing is sent that is shown already.
 */
import {mayGo} from '../domain/authority.ts';
import {campaignState} from '../domain/campaign.ts';
import type {Failure} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {type Person, personId} from '../domain/person.ts';
import {fleetOf as theFleet} from '../domain/practice.ts';
import type {Run} from '../domain/run.ts';
import {planOf, requestOf} from '../domain/run-state.ts';
import {isAnswered, troubleOf} from './api-errors.ts';
import {type HomeModel, homeForOthers, homeView, type LinkedRun} from './blocks/home.ts';
import type {FleetHost} from './blocks/home-fleet.ts';
import {messageLink} from './card-link.ts';
import type {Desk} from './desk.ts';

export interface Homes {
  /** Somebody looks at the tab, now. */
  opened(user: string, team: string): void;
  /** Something that stands on it may have changed. `by`: who did it, and is waiting to see it. */
  changed(by?: string): void;
  /** To be called every few seconds: what other programs did is found then. */
  beat(): void;
  /** Looks at every host, once for all who ask meanwhile; what answers is shown to everybody. */
  lookNow(by: string): Promise<void>;
  stop(): void;
}

/** Whoever opened it longer ago looks at something else by now. */
const LATELY_MS = 30 * 60_000;
/** Slack takes about 100 publications a minute of an app. */
const GAP_MS = 620;
/** A run that works changes many times a second; its card shows that, the tab may be late. */
const GAP_EACH_MS = 1_500;
const BEAT_MS = 30_000;
const RETRY_MS = 5_000;
const MOST_VIEWERS = 500;

interface Viewer {
  /** As the event said, which may name the workspace where it was opened. */
  readonly team: string;
  /** As their profile says; null: not asked yet, or Slack did not say. */
  home: string | null;
  openedTicks: number;
  dirty: boolean;
  notBeforeTicks: number;
  /** What stands there, as JSON; null: not known. */
  shown: string | null;
}

export function makeHomes(desk: Desk): Homes {
  const {clock, engine, log} = desk;
  const over = new AbortController();
  const viewers = new Map<string, Viewer>();
  const links = new Map<string, string>();
  const failures = new Map<HostName, {readonly failure: Failure; readonly atMs: number}>();
  let working: Promise<void> | null = null;
  let looking: Promise<void> | null = null;
  let wake = new AbortController();
  let beatTicks = Number.NEGATIVE_INFINITY;

  const start = (): void => {
    wake.abort();
    working ??= (async () => {
      await Promise.resolve();
      try {
        await work();
      } finally {
        working = null;
      }
    })();
    desk.work.start('home', async () => void (await working));
  };

  const work = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const dirty = [...viewers].filter(([, viewer]) => viewer.dirty);
      const [next] = dirty.toSorted(([, a], [, b]) => a.notBeforeTicks - b.notBeforeTicks);
      if (next === undefined) return;
      const [user, viewer] = next;
      const waitMs = viewer.notBeforeTicks - clock.ticks();
      if (waitMs > 0) {
        // Whoever opens the tab meanwhile is not kept waiting for the others.
        wake = new AbortController();
        await clock.wait(waitMs, AbortSignal.any([wake.signal, over.signal]));
        continue;
      }
      viewer.dirty = false;
      await publish(user, viewer);
      await clock.wait(GAP_MS, over.signal);
    }
  };

  const publish = async (user: string, viewer: Viewer): Promise<void> => {
    viewer.notBeforeTicks = clock.ticks() + GAP_EACH_MS;
    try {
      viewer.home ??= await desk.people.homeOf(user);
      const isOurs = [viewer.team, viewer.home ?? viewer.team].every((one) => one === desk.team());
      const view = isOurs ? homeView(await modelFor(user, viewer.team)) : homeForOthers();
      const text = JSON.stringify(view);
      if (text === viewer.shown) return;
      await desk.client.views.publish({user_id: user, view});
      viewer.shown = text;
    } catch (error) {
      const trouble = troubleOf(error);
      log.warn({user, trouble}, 'App Home could not be shown');
      viewer.shown = null;
      // No Home tab in the app's settings, a guest: the next opening asks again.
      if (isAnswered(error)) return;
      viewer.dirty = true;
      viewer.notBeforeTicks = clock.ticks() + (trouble.kind === 'throttled' ? trouble.retryAfterMs : RETRY_MS);
    }
  };

  const linkOf = async (place: {readonly channel: string; readonly ts: string} | null): Promise<string | null> => {
    if (place === null) return null;
    const key = `${place.channel}:${place.ts}`;
    const link = links.get(key) ?? (await messageLink(desk, place, 'the card'));
    if (links.size > 1_000) links.clear();
    if (link !== null) links.set(key, link);
    return link;
  };

  const linked = (runs: readonly Run[]): Promise<readonly LinkedRun[]> =>
    Promise.all(runs.map(async (run) => ({run, link: await linkOf(await desk.store.cardOf(run.id))})));

  const modelFor = async (user: string, team: string): Promise<HomeModel> => {
    const {person, unread} = await desk.people.identify(user, team);
    const [paused, open, seen, holds, schedules] = await Promise.all([
      engine.paused(),
      engine.openRuns(),
      engine.lastSeen(),
      engine.holds(),
      engine.schedules(),
    ]);
    const nowMs = clock.now();
    const me = personId(person);
    const runs = open.ok ? open.value : [];
    const waiting = runs.filter((run) => waitsFor(desk, person, run));
    const mine = runs.filter((run) => personId(requestOf(run).requester) === me && !waiting.includes(run));
    const running = holds.ok ? holds.value.filter((kept) => campaignState(kept, nowMs) !== 'ended') : [];
    return {
      nowMs,
      command: desk.command,
      me,
      paused: paused.ok ? paused.value : null,
      waiting: await linked(waiting),
      mine: await linked(mine),
      othersOpen: runs.length - waiting.length - mine.length,
      fleet: fleetOf(desk, new Map((seen.ok ? seen.value : []).map((host) => [host.host, host])), failures),
      looking: looking !== null,
      holds: await Promise.all(running.map(async (kept) => ({kept, link: await linkOf(kept.card)}))),
      schedules: schedules.ok ? schedules.value : [],
      channel: desk.channels[0] ?? '',
      unread: [
        ...([paused, open, seen, holds, schedules].every((part) => part.ok)
          ? []
          : ['The store could not be read just now: what is missing here is unknown, not empty.']),
        ...(unread.length === 0
          ? []
          : ['Slack did not say who is in the approver groups: more may wait for your go than is shown.']),
      ],
    };
  };

  const changed = (by?: string): void => {
    for (const [user, viewer] of viewers) {
      if (clock.ticks() - viewer.openedTicks > LATELY_MS) viewers.delete(user);
      else viewer.dirty = true;
      if (user === by) viewer.notBeforeTicks = Math.min(viewer.notBeforeTicks, clock.ticks());
    }
    if (viewers.size > 0) start();
  };

  return {
    opened: (user, team) => {
      if (viewers.size >= MOST_VIEWERS && !viewers.has(user)) viewers.delete(viewers.keys().next().value ?? '');
      const home = viewers.get(user)?.home ?? null;
      const viewer = {team, home, openedTicks: clock.ticks(), dirty: true, notBeforeTicks: clock.ticks(), shown: null};
      viewers.set(user, viewer);
      start();
    },
    changed,
    beat: () => {
      if (clock.ticks() - beatTicks < BEAT_MS) return;
      beatTicks = clock.ticks();
      changed();
    },
    lookNow: (by) => {
      looking ??= (async () => {
        try {
          const look = await engine.report([{kind: 'all'}]);
          for (const host of look.ok ? look.value.hosts : []) {
            if (host.state === 'failed') failures.set(host.host, {failure: host.failure, atMs: clock.now()});
            else failures.delete(host.host);
          }
        } finally {
          looking = null;
          changed(by);
        }
      })();
      changed(by);
      return looking;
    },
    stop: () => over.abort(),
  };
}

/** A plan that this person may give the go for as it stands: not by breaking the glass, and not while all is paused. */
function waitsFor(desk: Desk, person: Person, run: Run): boolean {
  const host = desk.hosts.get(run.host);
  const shown = planOf(run);
  if (run.phase !== 'awaiting-go' || shown === null || host === undefined) return false;
  return mayGo({
    person,
    requester: requestOf(run).requester,
    plan: shown.plan,
    host,
    policy: desk.policy,
    paused: null,
    reason: null,
    atTerminal: false,
    practice: requestOf(run).practice === true,
  }).may;
}

function fleetOf(
  desk: Desk,
  seen: ReadonlyMap<HostName, NonNullable<FleetHost['seen']>>,
  failures: ReadonlyMap<HostName, NonNullable<FleetHost['failed']>>,
): readonly FleetHost[] {
  return theFleet([...desk.hosts.values()]).map(({name}) => ({
    name,
    seen: seen.get(name) ?? null,
    failed: failures.get(name) ?? null,
  }));
}
