/** The way to a run's card, for a sentence that only one person reads somewhere else. */
import type {RunId} from '../domain/run.ts';
import type {Desk} from './desk.ts';

/** `<https://…|Its card>`; null where it has none, or Slack doesn't say. */
export async function cardLink(desk: Desk, id: RunId): Promise<string | null> {
  try {
    const card = await desk.store.cardOf(id);
    if (card === null) return null;
    const {permalink} = await desk.client.chat.getPermalink({channel: card.channel, message_ts: card.ts});
    return permalink === undefined || !/^https?:\/\/[^\s<>|]+$/.test(permalink) ? null : `<${permalink}|Its card>`;
  } catch {
    return null;
  }
}
