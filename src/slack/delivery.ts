/**
 * What people are owed of each run: a root card that says its state, and a thread that says its events. The thread is a
 * cursor over the run's own events, kept in the store, so whatever was not told yet is told after an outage or a restart,
 * in order. One lane a run: two never write the same card at once.
 */
import type {Run, RunEvent, RunId} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import type {Announcer, Card, Clock, Log, OutboxRow, RunStore} from '../engine/ports.ts';
import {type ApiTrouble, troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {type CardContext, rootCard} from './blocks/root-card.ts';
import {broadcasts, threadReplies} from './blocks/thread.ts';
import {commandOf} from './mentions.ts';
import {originChannel} from './origin.ts';
import type {Poster} from './poster.ts';
import type {ProgressEditor} from './progress-editor.ts';
import {progressLine} from './progress-line.ts';

export interface Delivery extends Announcer {
  /** Posts what is owed, by whichever program it was done; called at start and every few seconds. */
  flush(): Promise<void>;
  /** The run's card once it is posted; null if it can't be within `ms`, with the reason in `troubleWith`. */
  cardReady(id: RunId, ms: number): Promise<Card | null>;
  /** Why the card of this run could not be posted last time; null if nothing is wrong. */
  troubleWith(id: RunId): ApiTrouble | null;
  /** Waits for lanes that are at work. */
  settled(ms: number): Promise<void>;
  stop(): void;
}

export interface DeliveryDeps {
  readonly store: RunStore;
  readonly poster: Poster;
  /** Edits one card by the client that may fail. */
  readonly editProgress: (card: Card, message: Message) => Promise<void>;
  readonly editor: ProgressEditor;
  readonly clock: Clock;
  readonly log: Log;
  /** Channel of cards for runs that were asked for elsewhere (terminal, recovery). */
  readonly channel: string;
  readonly team: () => string;
  /** The slash command, for the request as it stands on the card. */
  readonly command: string;
  readonly approvers: readonly string[];
  readonly onFatal: (trouble: ApiTrouble) => void;
}

/** A moving card says that its next word comes within this time: else the bot is down. */
const NEXT_WORD_MS = 45_000;
/** A run in a quiet phase is shown again so often. */
const ALIVE_MS = 15_000;
/** A run of the terminal that ended so long before any bot saw it is history, not news. */
const NEWS_MS = 24 * 3_600_000;
const ROWS_AT_ONCE = 200;

interface Lane {
  running: Promise<void> | null;
  again: boolean;
  /** Channel that it was asked for in; null = the default. */
  channel: string | null;
  /** Version that the card shows by a delivered edit; null = unknown to this program. */
  shown: number | null;
  trouble: ApiTrouble | null;
  notBeforeTicks: number;
  /** Where a working run stands, for the progress line. */
  line: string | null;
  firstUptimeMs: number | null;
  lineAtTicks: number;
  latest: Run | null;
}

export function makeDelivery(deps: DeliveryDeps): Delivery {
  const {store, poster, editor, clock, log} = deps;
  const lanes = new Map<RunId, Lane>();
  const cardWaiters = new Map<RunId, Set<() => void>>();
  let stopped = false;

  const laneOf = (id: RunId): Lane => {
    const found = lanes.get(id) ?? newLane();
    lanes.set(id, found);
    return found;
  };

  const contextOf = (run: Run, lane: Lane | null): CardContext => ({
    nowMs: clock.now(),
    command: commandOf(requestOf(run), deps.command),
    approvers: deps.approvers,
    progress:
      run.phase === 'looking' || run.phase === 'executing'
        ? {line: lane?.line ?? '', nextUpdateByMs: clock.now() + NEXT_WORD_MS}
        : null,
  });

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
        await catchUp(id, lane);
        lane.trouble = null;
      } catch (error) {
        const trouble = troubleOf(error);
        if (lane.trouble?.kind !== trouble.kind)
          log.warn({runId: id, trouble}, 'Slack did not take a message; it stays owed');
        lane.trouble = trouble;
        lane.notBeforeTicks = clock.ticks() + (trouble.kind === 'no-channel' ? 60_000 : 2_000);
        if (trouble.kind === 'fatal') deps.onFatal(trouble);
      }
      for (const tell of [...(cardWaiters.get(id) ?? [])]) tell();
    }
    lane.running = null;
  };

  const catchUp = async (id: RunId, lane: Lane): Promise<void> => {
    const rows = (await store.pendingOutbox(ROWS_AT_ONCE)).filter((row) => row.runId === id);
    const run = await store.load(id);
    if (run !== null && !(await isHistory(run))) {
      lane.latest = run;
      const card = await theCard(run, lane);
      const shown = await showState(run, card, lane, rows);
      // A decision came in between: the card says it first, then the thread goes on where it stopped.
      if (!(await tellThread(run, shown, lane))) return;
    }
    for (const row of rows) await store.markPosted(row.key, clock.now());
    if (run === null || run.phase === 'closed') forget(id, lane);
  };

  const theCard = async (run: Run, lane: Lane): Promise<Card> => {
    const kept = await store.cardOf(run.id);
    if (kept !== null) return kept;
    const card = await postCard(run, lane);
    return store.keepCard(run.id, card);
  };

  const postCard = async (run: Run, lane: Lane): Promise<Card> => {
    const channel = lane.channel ?? deps.channel;
    const ts = await poster.post(channel, rootCard(run, contextOf(run, lane)));
    lane.shown = run.version;
    return {team: deps.team(), channel, ts};
  };

  /** Edits the card if it says an older state. A decision or an end goes by the client that delivers; all else may be late. */
  const showState = async (run: Run, card: Card, lane: Lane, rows: readonly OutboxRow[]): Promise<Card> => {
    if (lane.shown !== null && lane.shown >= run.version) return card;
    if (rows.length === 0 && run.phase === 'executing') {
      offer(run.id);
      return card;
    }
    // An edit on its way could arrive after this one and bring the old state back: then this one is sent again.
    const flying = editor.drop(run.id);
    const shownOn = await editOrReplace(run, card, lane);
    if (flying !== null) {
      await flying;
      return editOrReplace(run, shownOn, lane);
    }
    return shownOn;
  };

  const editOrReplace = async (run: Run, card: Card, lane: Lane): Promise<Card> => {
    try {
      await poster.edit(card, rootCard(run, contextOf(run, lane)));
      lane.shown = run.version;
      return card;
    } catch (error) {
      const {kind} = troubleOf(error);
      if (kind === 'not-taken') {
        lane.shown = run.version;
        return card;
      }
      if (kind !== 'no-message') throw error;
      // Somebody deleted the card: its thread is gone too, so a new card is posted where the old one stood.
      lane.channel = card.channel;
      return store.moveCard(run.id, card, await postCard(run, lane));
    }
  };

  const tellThread = async (run: Run, card: Card, lane: Lane): Promise<boolean> => {
    for (let told = await store.toldOf(run.id); told < run.events.length; told += 1) {
      if (lane.again) return false;
      const event = run.events[told];
      if (event === undefined) break;
      const replies = threadReplies(run, event, {approvers: deps.approvers});
      for (const [nth, reply] of replies.entries()) {
        const last = nth === replies.length - 1;
        await post(card, reply, last && goesToChannel(run, event));
      }
      await store.keepTold(run.id, told + 1);
    }
    return true;
  };

  const post = async (card: Card, reply: Message, toChannel: boolean): Promise<void> => {
    try {
      await poster.reply(card, reply, toChannel);
    } catch (error) {
      const trouble = troubleOf(error);
      // One message that Slack won't take in any form must not hold back all that follow.
      if (trouble.kind !== 'not-taken') throw error;
      log.error({trouble}, 'Slack refused a reply twice; it is left out');
    }
  };

  const isHistory = async (run: Run): Promise<boolean> => {
    const end = run.events.at(-1)?.atMs ?? run.createdAtMs;
    if (run.phase !== 'closed' || clock.now() - end < NEWS_MS || isBreakGlass(run)) return false;
    return (await store.cardOf(run.id)) === null;
  };

  const offer = (id: RunId): void => {
    const lane = laneOf(id);
    lane.lineAtTicks = clock.ticks();
    editor.offer(id, async () => {
      const card = await store.cardOf(id);
      const run = lane.latest;
      if (card !== null && run !== null && run.phase !== 'closed')
        await deps.editProgress(card, rootCard(run, contextOf(run, lane)));
    });
  };

  const forget = (id: RunId, lane: Lane): void => {
    editor.drop(id);
    if (!lane.again) lanes.delete(id);
  };

  return {
    announce: (run, events) => {
      const lane = laneOf(run.id);
      lane.channel ??= originChannel();
      lane.latest = run;
      if (events.some((event) => event.kind === 'approved')) editor.fresh(run.id);
      const intent = events.findLast((event) => event.kind === 'signal-intended');
      if (intent?.kind === 'signal-intended')
        lane.line = `${intent.signal} to ${intent.identities.length} ${intent.identities.length === 1 ? 'process' : 'processes'}`;
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
      const rows = await store.pendingOutbox(ROWS_AT_ONCE);
      const owed = new Set(rows.map((row) => row.runId));
      for (const [id, lane] of lanes) {
        if (lane.trouble !== null || lane.again) owed.add(id);
        const isMoving = lane.latest?.phase === 'executing' && clock.ticks() - lane.lineAtTicks > ALIVE_MS;
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

function newLane(): Lane {
  return {
    running: null,
    again: false,
    channel: null,
    shown: null,
    trouble: null,
    notBeforeTicks: Number.NEGATIVE_INFINITY,
    line: null,
    firstUptimeMs: null,
    lineAtTicks: Number.NEGATIVE_INFINITY,
    latest: null,
  };
}

/** Waiting would not bring the card. */
function isHopeless(trouble: ApiTrouble | null): boolean {
  return trouble?.kind === 'no-channel' || trouble?.kind === 'fatal';
}

function isBreakGlass(run: Run): boolean {
  return run.events.some((event) => event.kind === 'approved' && event.breakGlass);
}

/** Break-glass is announced to everybody, whatever else a thread keeps to itself. */
function goesToChannel(run: Run, event: RunEvent): boolean {
  return (event.kind === 'approved' && event.breakGlass) || broadcasts(run, event);
}
