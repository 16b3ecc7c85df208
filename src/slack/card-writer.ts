/** The root card of a run: posted once, edited for life, posted anew where somebody deleted it. */
import {personId} from '../domain/person.ts';
import {type Run, type RunId, runId} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import type {Card, Clock, OutboxRow, RunStore} from '../engine/ports.ts';
import {mayBeDone, troubleOf} from './api-errors.ts';
import {LATE_MS, lateNote, noted} from './blocks/delivery-notes.ts';
import type {Message} from './blocks/message.ts';
import {type CardContext, rootCard} from './blocks/root-card.ts';
import type {Lane} from './lane.ts';
import {commandOf} from './mentions.ts';
import type {Poster} from './poster.ts';
import type {ProgressEditor} from './progress-editor.ts';

export interface CardWriterDeps {
  readonly store: RunStore;
  readonly poster: Poster;
  readonly editor: ProgressEditor;
  readonly clock: Clock;
  /** Channel of cards for runs that were asked for elsewhere (terminal, recovery). */
  readonly channel: string;
  readonly team: () => string;
  /** The slash command, for the request as it stands on the card. */
  readonly command: string;
  readonly approvers: readonly string[];
  /** Shows a state that may be late, by the client that may fail. */
  readonly offer: (id: RunId) => void;
}

export interface CardWriter {
  message(run: Run, lane: Lane): Message;
  /** Where it stands, or would. */
  channelOf(run: Run, lane: Lane): Promise<string>;
  /** The run's card, posted if there is none. */
  theCard(run: Run, lane: Lane): Promise<Card>;
  /** Edits the card if it says an older state. null: Slack takes no edit now, and it stays owed. */
  show(run: Run, card: Card, lane: Lane, rows: readonly OutboxRow[]): Promise<Card | null>;
  /** Its card is gone: a new one where it stood. */
  replace(run: Run, card: Card, lane: Lane): Promise<Card>;
}

/** A moving card says that its next word comes within this time: else the bot is down. */
const NEXT_WORD_MS = 45_000;
/** A call that we gave up may still be carried out for so long. */
export const DOUBT_MS = 30_000;
/** What the program before us had on its way when it died. */
const HEIR_DOUBT_MS = 15_000;
const HEIR_MS = 60_000;
const DOUBTS_AT_ONCE = 1_000;
/** A card waits here no longer than this for its turn; what comes after it may have its turn now. */
const PATIENCE_MS = 1_000;

export function makeCardWriter(deps: CardWriterDeps): CardWriter {
  const {store, poster, editor, clock} = deps;
  const beganTicks = clock.ticks();

  const contextOf = (run: Run, lane: Lane): CardContext => ({
    nowMs: clock.now(),
    command: commandOf(requestOf(run), deps.command),
    approvers: deps.approvers,
    progress:
      run.phase === 'looking' || run.phase === 'executing'
        ? {line: lane.line ?? '', nextUpdateByMs: clock.now() + NEXT_WORD_MS}
        : null,
  });

  const message = (run: Run, lane: Lane): Message =>
    noted(rootCard(run, contextOf(run, lane)), lane.lateNote === null ? [] : [lane.lateNote]);

  const channelOf = async (run: Run, lane: Lane): Promise<string> =>
    lane.channel ?? (await store.placeOf(run.id)) ?? (await earlierChannel(run)) ?? deps.channel;

  /** A fresh plan after an interrupted run belongs where that one was asked for. */
  const earlierChannel = async (run: Run): Promise<string | null> => {
    const requester = personId(requestOf(run).requester);
    for (const earlier of await store.recent(20)) {
      if (earlier.host !== run.host || personId(requestOf(earlier).requester) !== requester) continue;
      const card = await store.cardOf(earlier.id);
      if (card !== null) return card.channel;
    }
    return null;
  };

  const post = async (run: Run, lane: Lane): Promise<Card> => {
    const channel = await channelOf(run, lane);
    const ts = await poster.post(channel, message(run, lane));
    lane.shown = run.version;
    return {team: deps.team(), channel, ts};
  };

  const replace = async (run: Run, card: Card, lane: Lane): Promise<Card> => {
    lane.channel = card.channel;
    return store.moveCard(run.id, card, await post(run, lane));
  };

  const edit = async (run: Run, card: Card, lane: Lane): Promise<Card> => {
    try {
      if ((await poster.edit(card, message(run, lane))) === 'doubtful') await raiseDoubt(deps, run.id, lane, DOUBT_MS);
      lane.shown = run.version;
      return card;
    } catch (error) {
      if (mayBeDone(error)) await raiseDoubt(deps, run.id, lane, DOUBT_MS);
      const {kind} = troubleOf(error);
      if (kind === 'not-taken') {
        lane.shown = run.version;
        return card;
      }
      // Somebody deleted the card: its thread is gone too, so a new card is posted where the old one stood.
      if (kind === 'no-message') return replace(run, card, lane);
      throw error;
    }
  };

  return {
    message,
    channelOf,
    replace,
    theCard: async (run, lane) => {
      const kept = await store.cardOf(run.id);
      if (kept === null) return store.keepCard(run.id, await post(run, lane));
      if (!lane.met && lane.shown === null && clock.ticks() - beganTicks < HEIR_MS)
        await raiseDoubt(deps, run.id, lane, HEIR_DOUBT_MS);
      lane.met = true;
      return kept;
    },
    show: async (run, card, lane, rows) => {
      if (!lane.mustShow && lane.shown !== null && lane.shown >= run.version) return card;
      if (!lane.mustShow && rows.length === 0 && run.phase === 'executing') {
        deps.offer(run.id);
        return card;
      }
      if (poster.editInMs() > PATIENCE_MS) return null;
      const lateMs = clock.now() - (run.events.at(-1)?.atMs ?? clock.now());
      if (rows.length > 0) lane.lateNote = lateMs > LATE_MS ? lateNote(lateMs, lane.held) : null;
      // An edit on its way could arrive after this one and bring the old state back: then this one is sent again.
      const flying = editor.drop(run.id);
      try {
        let shownOn = await edit(run, card, lane);
        if (flying !== null) {
          await flying;
          shownOn = await edit(run, shownOn, lane);
        }
        lane.mustShow = false;
        return shownOn;
      } catch (error) {
        if (troubleOf(error).kind === 'throttled') return null;
        throw error;
      }
    },
  };
}

const DOUBT_KEY = 'doubt:';

/**
 * What stands on the card may be overwritten by an edit on its way: it is written once more after `ms`. Kept in the store
 * as well, since the next program knows nothing of what this one had on its way.
 */
export async function raiseDoubt(
  {store, clock}: Pick<CardWriterDeps, 'store' | 'clock'>,
  id: RunId,
  lane: Lane,
  ms: number,
): Promise<void> {
  lane.doubtUntilTicks = Math.max(lane.doubtUntilTicks ?? Number.NEGATIVE_INFINITY, clock.ticks() + ms);
  if (lane.doubtKept) return;
  lane.doubtKept = true;
  await store.claim(DOUBT_KEY + id, clock.now(), {runId: id});
}

export async function settleDoubt({store}: Pick<CardWriterDeps, 'store'>, id: RunId, lane: Lane): Promise<void> {
  if (!lane.doubtKept || lane.doubtUntilTicks !== null) return;
  await store.unclaim(DOUBT_KEY + id);
  lane.doubtKept = false;
}

/** Cards that the program before left in doubt. */
export async function inheritDoubts(
  {store, clock}: Pick<CardWriterDeps, 'store' | 'clock'>,
  laneOf: (id: RunId) => Lane,
): Promise<void> {
  for (const {key} of await store.unsettled(DOUBTS_AT_ONCE)) {
    if (!key.startsWith(DOUBT_KEY)) continue;
    const lane = laneOf(runId(key.slice(DOUBT_KEY.length)));
    lane.met = true;
    lane.doubtKept = true;
    lane.doubtUntilTicks ??= clock.ticks() + HEIR_DOUBT_MS;
  }
}
