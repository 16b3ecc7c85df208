/** Posting and editing the messages of a run by the client that must deliver. What Slack won't take with blocks goes as plain text. */
import type {webApi} from '@slack/bolt';
import type {Card, Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';

export interface Poster {
  /** Its `ts`. Posted again by the library when an answer was lost: at worst a double. */
  post(channel: string, message: Message): Promise<string>;
  reply(card: Card, message: Message, toChannel: boolean): Promise<void>;
  edit(card: Card, message: Message): Promise<void>;
}

export function makePoster(deps: {
  readonly client: webApi.WebClient;
  readonly log: Log;
  /** Names in place of bare ids. */
  readonly dress: (message: Message) => Message;
}): Poster {
  /** Refused for its blocks, it still must arrive: `text` holds every fact of them. */
  const plainer = async <T>(message: Message, send: (blocks: Message['blocks']) => Promise<T>): Promise<T> => {
    try {
      return await send(message.blocks);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble.kind !== 'not-taken') throw error;
      deps.log.error({trouble}, 'Slack refused the blocks of a message; sent as plain text');
      return send([]);
    }
  };
  const unfurl = {unfurl_links: false, unfurl_media: false} as const;
  return {
    post: (channel, bare) => {
      const message = deps.dress(bare);
      return plainer(message, async (blocks) => {
        const posted = await deps.client.chat.postMessage({
          channel,
          text: message.text,
          blocks: [...blocks],
          ...unfurl,
        });
        if (posted.ts === undefined) throw new Error('chat.postMessage answered without a ts');
        return posted.ts;
      });
    },
    reply: (card, bare, toChannel) => {
      const message = deps.dress(bare);
      return plainer(message, async (blocks) => {
        const thread = {channel: card.channel, thread_ts: card.ts, text: message.text, blocks: [...blocks], ...unfurl};
        await deps.client.chat.postMessage(toChannel ? {...thread, reply_broadcast: true} : thread);
      });
    },
    edit: (card, message) => editWith(deps.client, card, deps.dress(message), plainer),
  };
}

/** `blocks` always goes along: left out, the old ones would stay. */
export async function editWith(
  client: webApi.WebClient,
  card: Card,
  message: Message,
  plainer: <T>(message: Message, send: (blocks: Message['blocks']) => Promise<T>) => Promise<T> = (one, send) =>
    send(one.blocks),
): Promise<void> {
  await plainer(message, async (blocks) => {
    await client.chat.update({channel: card.channel, ts: card.ts, text: message.text, blocks: [...blocks]});
  });
}
