/**
 * What people are owed of each run: a root card that says its state, and a thread that says its events. Here is when: one
 * lane a run, so that two never write the same card at once, woken by each commit and every few seconds by what is owed.
 */
import {webApi} from '@slack/bolt';
import type {RunId} from '../domain/run.ts';
import type {Announcer, Card} from '../engine/ports.ts';
import {ownerWord} from '../report/owner-stop-words.ts';
import {progressLine} from '../report/progress-line.ts';
import {type ApiTrouble, mayBeDone, troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {DOUBT_MS, inheritDoubts, raiseDoubt} from './card-writer.ts';
import {type CatchUpDeps, makeCatchUp} from './catch-up.ts';
import {type Lane, newLane} from './lane.ts';
import {originChannel} from './origin.ts';

export interface Delivery extends Announcer {
  /** Posts what is owed, by whichever program it was done; called at start and every few seconds. */
  flush(): Promise<void>;
  /** The run's card once it is posted; null if it can't be within `ms`, with the reason in `troubleWith`. */
  cardReady(id: RunId, ms: number): Promise<Card | null>;
  /** Writes the run's card once more, as it stands now. */
  refresh(id: RunId): void;
  /** Why the card of this run could not be posted last time; null if nothing is wrong. */
  troubleWith(id: RunId): ApiTrouble | null;
  /** Waits for lanes that are at work. */
  settled(ms: number): Promise<void>;
  stop(): void;
}

export interface DeliveryDeps extends Omit<CatchUpDeps, 'offer'> {
  /** Edits one card by the client that may fail. */
  readonly editProgress: (card: Card, message: Message) => Promise<void>;
  readonly onFatal: (trouble: ApiTrouble) => void;
}

/** A run in a quiet phase is shown again so often. */
const ALIVE_MS = 15_000;
const RUNS_AT_ONCE = 1_000;
/** Between two tries of one run, ms; where only a person can mend it, the longer. */
const AGAIN_MS = 2_000;
const NO_CHANNEL_AGAIN_MS = 60_000;

export function makeDelivery(deps: DeliveryDeps): Delivery {
  const {store, editor, clock, log} = deps;
  const lanes = new Map<RunId, Lane>();
  const cardWaiters = new Map<RunId, Set<() => void>>();
  let stopped = false;
  let inherited = false;

  const laneOf = (id: RunId): Lane => {
    const found = lanes.get(id) ?? newLane();
    lanes.set(id, found);
    return found;
  };

  /** Starts the lane's work, or has it run once more. Never throws, never waits. */
  const wake = (id: RunId): Promise<void> => {
    const lane = laneOf(id);
    lane.again = true;
    lane.running ??= work(id, lane);
    return lane.running;
  };

  const work = async (id: RunId, lane: Lane): Promise<void> => {
    // Not in the caller's own turn: `running` must be set before it can be cleared.
    await Promise.resolve();
    // Before Slack has said who we are, nothing is posted; the next flush comes back to it.
    while (lane.again && !stopped && deps.team() !== '' && clock.ticks() >= lane.notBeforeTicks) {
      lane.again = false;
      try {
        if (await catchUp.run(id, lane)) forget(id, lane);
        lane.trouble = null;
      } catch (error) {
        const trouble = troubleOf(error);
        if (lane.trouble?.kind !== trouble.kind)
          log.warn({runId: id, trouble, stack: stackOf(error)}, 'a message could not be delivered; it stays owed');
        lane.trouble = trouble;
        lane.held = true;
        lane.notBeforeTicks = clock.ticks() + againMs(trouble);
        if (trouble.kind === 'fatal') deps.onFatal(trouble);
      }
      for (const tell of [...(cardWaiters.get(id) ?? [])]) tell();
    }
    lane.running = null;
  };

  const offer = (id: RunId): void => {
    const lane = laneOf(id);
    lane.lineAtTicks = clock.ticks();
    editor.offer(id, async () => {
      const card = await store.cardOf(id);
      const run = lane.latest;
      if (card === null || run === null || run.phase === 'closed' || lane.trouble?.kind === 'no-channel') return;
      try {
        await deps.editProgress(card, catchUp.card(run, lane));
      } catch (error) {
        const {kind} = troubleOf(error);
        if (mayBeDone(error)) await raiseDoubt(deps, id, lane, DOUBT_MS);
        // No progress edit mends that: what delivers finds a new place for the card, or tells why there is none.
        if (kind === 'no-message' || kind === 'no-channel') {
          lane.mustShow = true;
          void wake(id);
        }
        throw error;
      }
    });
  };

  const forget = (id: RunId, lane: Lane): void => {
    editor.drop(id);
    if (!lane.again) lanes.delete(id);
  };

  const catchUp = makeCatchUp({...deps, offer});

  return {
    announce: (run, events) => {
      const lane = laneOf(run.id);
      lane.channel ??= originChannel();
      lane.latest = run;
      if (events.some((event) => event.kind === 'approved')) editor.fresh(run.id);
      const intent = events.findLast((event) => event.kind === 'signal-intended');
      if (intent?.kind === 'signal-intended')
        lane.line = `${intent.signal} to ${intent.identities.length} ${intent.identities.length === 1 ? 'process' : 'processes'}`;
      const stop = events.findLast((event) => event.kind === 'stop-intended');
      if (stop?.kind === 'stop-intended') lane.line = `stopping ${ownerWord(stop.owner)}`;
      // Its end is news for whoever is told in private while the channel takes nothing.
      if (lane.trouble?.kind === 'no-channel' && run.phase === 'closed') lane.notBeforeTicks = clock.ticks();
      void wake(run.id);
    },
    progress: (run, event) => {
      const lane = laneOf(run.id);
      lane.firstUptimeMs ??= event.uptimeMs;
      const line = progressLine(event, event.uptimeMs - lane.firstUptimeMs);
      if (line === null) return;
      lane.line = line;
      offer(run.id);
    },
    flush: async () => {
      if (!inherited) await inheritDoubts(deps, laneOf);
      inherited = true;
      const owed = new Set(await store.owedRuns(RUNS_AT_ONCE));
      for (const [id, lane] of lanes) {
        if (lane.trouble !== null || lane.again || lane.cardOwed) owed.add(id);
        if (lane.doubtUntilTicks !== null && clock.ticks() >= lane.doubtUntilTicks) {
          lane.doubtUntilTicks = null;
          lane.shown = null;
          owed.add(id);
        }
        const phase = lane.latest?.phase;
        const isMoving = (phase === 'executing' || phase === 'looking') && clock.ticks() - lane.lineAtTicks > ALIVE_MS;
        if (isMoving) offer(id);
      }
      await Promise.all([...owed].map((id) => wake(id)));
    },
    cardReady: async (id, ms) => {
      const until = clock.ticks() + ms;
      for (;;) {
        const card = await store.cardOf(id);
        const leftMs = until - clock.ticks();
        if (card !== null || leftMs <= 0 || isHopeless(lanes.get(id)?.trouble ?? null)) return card;
        const told = new AbortController();
        const waiters = cardWaiters.get(id) ?? new Set();
        cardWaiters.set(id, waiters);
        const tell = (): void => told.abort();
        waiters.add(tell);
        await clock.wait(Math.min(leftMs, 1_000), told.signal);
        waiters.delete(tell);
        if (waiters.size === 0) cardWaiters.delete(id);
      }
    },
    refresh: (id) => {
      laneOf(id).mustShow = true;
      void wake(id);
    },
    troubleWith: (id) => lanes.get(id)?.trouble ?? null,
    settled: async (ms) => {
      const over = new AbortController();
      const lanesAtWork = [...lanes.values()].flatMap((lane) => (lane.running === null ? [] : [lane.running]));
      await Promise.race([Promise.all(lanesAtWork), clock.wait(ms, over.signal)]);
      over.abort();
    },
    stop: () => {
      stopped = true;
      editor.stop();
    },
  };
}

/** Only of our own errors: one of the API says all in its name. */
function stackOf(error: unknown): string | null {
  return error instanceof Error && !(error instanceof webApi.SlackError) ? (error.stack ?? null) : null;
}

function againMs(trouble: ApiTrouble): number {
  if (trouble.kind === 'no-channel') return NO_CHANNEL_AGAIN_MS;
  return trouble.kind === 'throttled' ? Math.max(AGAIN_MS, trouble.retryAfterMs) : AGAIN_MS;
}

/** Waiting would not bring the card. */
function isHopeless(trouble: ApiTrouble | null): boolean {
  return trouble?.kind === 'no-channel' || trouble?.kind === 'fatal';
}
