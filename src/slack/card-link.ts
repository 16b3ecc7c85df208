/** The way to a run's card, for a sentence that only one person reads somewhere else. */
import type {RunId} from '../domain/run.ts';
import type {Desk} from './desk.ts';

/** `<https://…|Its card>`; null where it has none, or Slack doesn't say. */
export async function cardLink(desk: Pick<Desk, 'store' | 'client'>, id: RunId): Promise<string | null> {
  try {
    const card = await desk.store.cardOf(id);
    return card === null ? null : await messageLink(desk, card, 'Its card');
  } catch {
    return null;
  }
}

/** To any message; null if Slack doesn't say. */
export async function messageLink(
  desk: Pick<Desk, 'client'>,
  place: {readonly channel: string; readonly ts: string},
  words: string,
): Promise<string | null> {
  try {
    const {permalink} = await desk.client.chat.getPermalink({channel: place.channel, message_ts: place.ts});
    return permalink === undefined || !/^https?:\/\/[^\s<>|]+$/.test(permalink) ? null : `<${permalink}|${words}>`;
  } catch {
    return null;
  }
}
