/**
 * Brings one run's card and thread up to what the store says of it. The thread is a cursor over the run's own events, kept
 * in the store, so whatever was not told yet is told after an outage or a restart, in order.
 */
import {personId} from '../domain/person.ts';
import type {Run, RunEvent, RunId} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import type {Card, Clock, Log, OutboxRow, RunStore} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {type CardContext, rootCard} from './blocks/root-card.ts';
import {broadcasts, threadReplies} from './blocks/thread.ts';
import type {Lane} from './lane.ts';
import {commandOf} from './mentions.ts';
import type {Poster} from './poster.ts';
import type {ProgressEditor} from './progress-editor.ts';

export interface CatchUpDeps {
  readonly store: RunStore;
  readonly poster: Poster;
  readonly editor: ProgressEditor;
  readonly clock: Clock;
  readonly log: Log;
  /** Channel of cards for runs that were asked for elsewhere (terminal, recovery). */
  readonly channel: string;
  readonly team: () => string;
  /** The slash command, for the request as it stands on the card. */
  readonly command: string;
  readonly approvers: readonly string[];
}

export interface CatchUp {
  /** True once nothing more will be said of the run. Throws what Slack or the store threw: then it is still owed. */
  run(id: RunId, lane: Lane): Promise<boolean>;
  card(run: Run, lane: Lane): Message;
}

/** A moving card says that its next word comes within this time: else the bot is down. */
const NEXT_WORD_MS = 45_000;
/** A run of the terminal that ended so long before any bot saw it is history, not news. */
const NEWS_MS = 24 * 3_600_000;
const ROWS_AT_ONCE = 200;

/** `offer`: shows a state that may be late, by the client that may fail. */
export function makeCatchUp(deps: CatchUpDeps & {readonly offer: (id: RunId) => void}): CatchUp {
  const {store, poster, editor, clock, log} = deps;

  const contextOf = (run: Run, lane: Lane | null): CardContext => ({
    nowMs: clock.now(),
    command: commandOf(requestOf(run), deps.command),
    approvers: deps.approvers,
    progress:
      run.phase === 'looking' || run.phase === 'executing'
        ? {line: lane?.line ?? '', nextUpdateByMs: clock.now() + NEXT_WORD_MS}
        : null,
  });

  const catchUp = async (id: RunId, lane: Lane): Promise<boolean> => {
    const rows = (await store.pendingOutbox(ROWS_AT_ONCE)).filter((row) => row.runId === id);
    const run = await store.load(id);
    if (run !== null && !(await isHistory(run))) {
      lane.latest = run;
      const card = await theCard(run, lane);
      const shown = await showState(run, card, lane, rows);
      // A decision came in between: the card says it first, then the thread goes on where it stopped.
      if (!(await tellThread(run, shown, lane))) return false;
    }
    for (const row of rows) await store.markPosted(row.key, clock.now());
    return run === null || run.phase === 'closed';
  };

  const theCard = async (run: Run, lane: Lane): Promise<Card> => {
    const kept = await store.cardOf(run.id);
    if (kept !== null) return kept;
    const card = await postCard(run, lane);
    return store.keepCard(run.id, card);
  };

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

  const postCard = async (run: Run, lane: Lane): Promise<Card> => {
    const channel = lane.channel ?? (await earlierChannel(run)) ?? deps.channel;
    const ts = await poster.post(channel, rootCard(run, contextOf(run, lane)));
    lane.shown = run.version;
    return {team: deps.team(), channel, ts};
  };

  /** Edits the card if it says an older state. A decision or an end goes by the client that delivers; all else may be late. */
  const showState = async (run: Run, card: Card, lane: Lane, rows: readonly OutboxRow[]): Promise<Card> => {
    if (lane.shown !== null && lane.shown >= run.version) return card;
    if (rows.length === 0 && run.phase === 'executing') {
      deps.offer(run.id);
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

  return {run: catchUp, card: (run, lane) => rootCard(run, contextOf(run, lane))};
}

function isBreakGlass(run: Run): boolean {
  return run.events.some((event) => event.kind === 'approved' && event.breakGlass);
}

/** Break-glass is announced to everybody, whatever else a thread keeps to itself. */
function goesToChannel(run: Run, event: RunEvent): boolean {
  return (event.kind === 'approved' && event.breakGlass) || broadcasts(run, event);
}
