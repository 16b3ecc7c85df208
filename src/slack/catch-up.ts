/**
 * Brings one run's card and thread up to what the store says of it. The thread is a cursor over the run's own events, kept
 * in the store, so whatever was not told yet is told after an outage or a restart, in order.
 */
import type {Run, RunEvent, RunId} from '../domain/run.ts';
import type {Card, Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import {makeAway} from './away.ts';
import {LATE_MS, lateNote} from './blocks/delivery-notes.ts';
import type {Message} from './blocks/message.ts';
import {broadcasts, threadReplies} from './blocks/thread.ts';
import {type CardWriterDeps, makeCardWriter, settleDoubt} from './card-writer.ts';
import type {Lane} from './lane.ts';
import type {Pictures} from './pictures.ts';

export interface CatchUpDeps extends CardWriterDeps {
  /** To whoever asked for it, where the policy wants that. Throws what Slack threw: then it is still owed. */
  readonly tellEnd: (run: Run) => Promise<void>;
  readonly log: Log;
  readonly pictures: Pictures;
}

export interface CatchUp {
  /** True once nothing more will be said of the run. Throws what Slack or the store threw: then it is still owed. */
  run(id: RunId, lane: Lane): Promise<boolean>;
  card(run: Run, lane: Lane): Message;
}

/** A run of the terminal that ended so long before any bot saw it is history, not news; so is one that no channel took. */
const NEWS_MS = 24 * 3_600_000;
const ROWS_AT_ONCE = 1_000;

export function makeCatchUp(deps: CatchUpDeps): CatchUp {
  const {store, poster, clock, log} = deps;
  const cards = makeCardWriter(deps);
  const away = makeAway(deps);

  const catchUp = async (id: RunId, lane: Lane): Promise<boolean> => {
    const rows = await store.pendingOutbox(ROWS_AT_ONCE, id);
    const run = await store.load(id);
    if (run !== null && !(await isHistory(run))) {
      lane.latest = run;
      if (lane.channel !== null && (await store.cardOf(id)) === null) await store.keepPlace(id, lane.channel);
      const told = await tell(run, lane, rows);
      // A decision came in between: the card says it first, then the thread goes on where it stopped.
      if (!told) return false;
      if (rows.some(({kind}) => kind === 'closed')) await deps.tellEnd(run);
    }
    for (const row of rows) await store.markPosted(row.key, clock.now());
    await settleDoubt(deps, id, lane);
    lane.held = false;
    return (run === null || run.phase === 'closed') && lane.doubtUntilTicks === null;
  };

  const tell = async (run: Run, lane: Lane, rows: Parameters<typeof cards.show>[3]): Promise<boolean> => {
    try {
      const card = await cards.theCard(run, lane);
      const shown = await cards.show(run, card, lane, rows);
      // Slack takes no edit now: what the thread says need not wait for that.
      lane.cardOwed = shown === null;
      if (shown === null) lane.held = true;
      return (await tellThread(run, shown ?? card, lane)) && shown !== null;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble.kind !== 'no-channel') throw error;
      // Whoever has just asked is answered by what waits for the card.
      const isAsked = lane.channel !== null && (await store.cardOf(run.id)) === null;
      if (!isAsked) await away.tell(run, await placeOf(run, lane), trouble.error);
      if (run.phase !== 'closed' || !isOld(run)) throw error;
      log.error({runId: run.id, trouble}, 'a run could not be told in its channel for a day; it is given up');
      return true;
    }
  };

  const placeOf = async (run: Run, lane: Lane): Promise<string> =>
    (await store.cardOf(run.id))?.channel ?? cards.channelOf(run, lane);

  const tellThread = async (run: Run, first: Card, lane: Lane): Promise<boolean> => {
    let card = first;
    for (let told = await store.toldOf(run.id); told < run.events.length; told += 1) {
      if (lane.again) return false;
      const event = run.events[told];
      if (event === undefined) break;
      const replies = threadReplies(run, event, {approvers: deps.approvers});
      const lateMs = clock.now() - event.atMs;
      const notes = lateMs > LATE_MS ? [lateNote(lateMs, lane.held)] : [];
      for (const [nth, reply] of replies.entries()) {
        const last = nth === replies.length - 1;
        card = await post(run, card, lane, {reply, notes, toChannel: last && goesToChannel(run, event)});
      }
      await store.keepTold(run.id, told + 1);
      if (event.kind === 'closed') deps.pictures.show(run, card);
    }
    return true;
  };

  /** The card under which it stands now. */
  const post = async (
    run: Run,
    card: Card,
    lane: Lane,
    said: {readonly reply: Message; readonly notes: readonly string[]; readonly toChannel: boolean},
  ): Promise<Card> => {
    try {
      await poster.reply(card, said.reply, said.toChannel, said.notes);
      return card;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble.kind === 'no-message') {
        const anew = await cards.replace(run, card, lane);
        await poster.reply(anew, said.reply, said.toChannel, said.notes);
        return anew;
      }
      // One message that Slack won't take in any form must not hold back all that follow.
      if (trouble.kind !== 'not-taken') throw error;
      log.error({trouble}, 'Slack refused a reply in every form; it is left out');
      return card;
    }
  };

  const isOld = (run: Run): boolean => clock.now() - (run.events.at(-1)?.atMs ?? run.createdAtMs) >= NEWS_MS;

  const isHistory = async (run: Run): Promise<boolean> => {
    if (run.phase !== 'closed' || !isOld(run) || isBreakGlass(run)) return false;
    return (await store.cardOf(run.id)) === null;
  };

  return {run: catchUp, card: cards.message};
}

function isBreakGlass(run: Run): boolean {
  return run.events.some((event) => event.kind === 'approved' && event.breakGlass);
}

/** Break-glass is announced to everybody, whatever else a thread keeps to itself. */
function goesToChannel(run: Run, event: RunEvent): boolean {
  return (event.kind === 'approved' && event.breakGlass) || broadcasts(run, event);
}
