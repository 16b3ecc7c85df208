/**
 * Posting and editing what must arrive, at Slack's pace. What Slack won't take goes plainer: without its
 * table, then as plain text. A call whose answer was lost is tried again: Slack has no key that would tell a double, so the
 * second says that it may be one.
 */
import type {webApi} from '@slack/bolt';
import type {Card, Clock, Log} from '../engine/ports.ts';
import {mayBeDone, troubleOf} from './api-errors.ts';
import {MAYBE_TWICE, noted} from './blocks/delivery-notes.ts';
import {type Message, messageOf, section} from './blocks/message.ts';
import {withoutTable} from './blocks/table.ts';
import {cutMrkdwn} from './escape.ts';
import type {Pace} from './pace.ts';

export interface Poster {
  /** Its `ts`. `channel` may be a person's id: then it is told to them alone. */
  post(channel: string, message: Message): Promise<string>;
  /** `notes`: sentences about the delivery itself, beneath the message. */
  reply(card: Card, message: Message, toChannel: boolean, notes?: readonly string[]): Promise<void>;
  /** ms until an edit would go; 0: now. */
  editInMs(): number;
  /** `doubtful`: an earlier try may still land, after this one. */
  edit(card: Card, message: Message): Promise<'sure' | 'doubtful'>;
}

/** Before the second and the third try of one call; whoever asked for it has its own patience after them. */
const TRY_GAPS_MS = [300, 1_000] as const;
/** Of a text that Slack refuses even without blocks. */
const LEAST_TEXT = 2_800;

export function makePoster(deps: {
  readonly client: webApi.WebClient;
  readonly clock: Pick<Clock, 'wait'>;
  readonly pace: Pace;
  readonly log: Log;
  /** Names in place of bare ids. */
  readonly dress: (message: Message) => Message;
}): Poster {
  const {client, clock, pace, log} = deps;
  /** Messages of which a try may have arrived. */
  const unsure = new Set<string>();

  /** Up to three tries, as long as trying again at once can help. */
  const persist = async <T>(send: () => Promise<T>, onUnsure: () => void): Promise<T> => {
    for (const gapMs of [...TRY_GAPS_MS, null]) {
      try {
        return await send();
      } catch (error) {
        if (mayBeDone(error)) onUnsure();
        if (gapMs === null || troubleOf(error).kind !== 'later') throw error;
        await clock.wait(gapMs);
      }
    }
    throw new Error('Internal error: no try was made');
  };

  const say = async (
    channel: string,
    what: 'card' | 'reply',
    message: Message,
    where: {readonly ts: string; readonly toChannel: boolean} | null,
    notes: readonly string[],
  ): Promise<string> => {
    const key = `${channel} ${where?.ts ?? ''} ${message.text}`;
    const ts = await persist(
      async () => {
        const dressed = noted(
          deps.dress(message),
          unsure.has(key) && what === 'reply' ? [...notes, MAYBE_TWICE] : notes,
        );
        return plainer(dressed, log, async ({text, blocks}) => {
          await pace.post(channel, what);
          try {
            const sent = {channel, text, blocks: [...blocks], unfurl_links: false, unfurl_media: false};
            if (where === null) return (await client.chat.postMessage(sent)).ts;
            const reply = {...sent, thread_ts: where.ts};
            return (await client.chat.postMessage(where.toChannel ? {...reply, reply_broadcast: true} : reply)).ts;
          } catch (error) {
            const trouble = troubleOf(error);
            if (trouble.kind === 'throttled') pace.holdPosts(channel, trouble.retryAfterMs);
            throw error;
          }
        });
      },
      () => unsure.add(key),
    );
    unsure.delete(key);
    if (ts === undefined) throw new Error('chat.postMessage answered without a ts');
    return ts;
  };

  return {
    post: (channel, message) => say(channel, 'card', message, null, []),
    reply: async (card, message, toChannel, notes = []) => {
      await say(card.channel, 'reply', message, {ts: card.ts, toChannel}, notes);
    },
    editInMs: () => pace.editInMs(),
    edit: async (card, message) => {
      let doubtful = false;
      await persist(
        () =>
          plainer(deps.dress(message), log, async (plain) => {
            await pace.edit();
            try {
              await editWith(client, card, plain);
            } catch (error) {
              const trouble = troubleOf(error);
              if (trouble.kind === 'throttled') pace.holdEdits(trouble.retryAfterMs);
              throw error;
            }
          }),
        () => {
          doubtful = true;
        },
      );
      return doubtful ? 'doubtful' : 'sure';
    },
  };
}

/** Refused for its blocks, it still must arrive: `text` holds every fact of them. Refused for that too, its beginning. */
async function plainer<T>(message: Message, log: Log, send: (message: Message) => Promise<T>): Promise<T> {
  const text = `${cutMrkdwn(message.text, LEAST_TEXT)}\nSlack refused the whole of this; the terminal has it.`;
  const bare = withoutTable(message);
  for (const one of [message, ...(bare === null ? [] : [bare]), {text: message.text, blocks: []}]) {
    try {
      return await send(one);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble.kind !== 'not-taken') throw error;
      log.error({trouble}, 'Slack refused a message as it was; it is sent plainer');
    }
  }
  return send(messageOf([section(text)]));
}

/** `blocks` always goes along: left out, the old ones would stay. */
export async function editWith(client: webApi.WebClient, card: Card, message: Message): Promise<void> {
  await client.chat.update({channel: card.channel, ts: card.ts, text: message.text, blocks: [...message.blocks]});
}
