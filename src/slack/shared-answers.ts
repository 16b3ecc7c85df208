/**
 * Private answers, kept for a while under an id, so that their Share button can post that very answer: the button carries
 * the id alone, and what stands on the screen is never read back. In this program only: after a restart one asks again.
 */
import {randomBytes} from 'node:crypto';
import type {Clock} from '../engine/ports.ts';
import {type Message, messageOf} from './blocks/message.ts';
import {shareButton, sharedMessage} from './blocks/share.ts';

/** `looked`: hosts were asked for it · `read`: it stood in the store. */
export type HowMade = 'looked' | 'read';

export interface KeptAnswer {
  /** Whose it is, and where it was asked for. */
  readonly user: string;
  readonly channel: string;
  readonly threadTs: string | null;
  /** As it will stand in the channel. */
  readonly message: Message;
}

export interface SharedAnswers {
  /** The answer with its button. */
  offer(answer: KeptAnswer & {readonly how: HowMade}): Message;
  /** Once, by whom it was given to. `shared`: it was already. */
  take(id: string, user: string): KeptAnswer | 'unknown' | 'shared';
  /** It could not be posted: it may be taken again. */
  giveBack(id: string): void;
}

const KEPT_MS = 30 * 60_000;
const MOST = 300;

export function makeSharedAnswers(clock: Clock): SharedAnswers {
  const kept = new Map<string, {readonly answer: KeptAnswer; readonly atMs: number; taken: boolean}>();
  return {
    offer: ({how, message, ...place}) => {
      const atMs = clock.now();
      const id = randomBytes(8).toString('hex');
      for (const [old, entry] of kept) if (kept.size >= MOST || atMs - entry.atMs > KEPT_MS) kept.delete(old);
      kept.set(id, {answer: {...place, message: sharedMessage(message, place.user, how, atMs)}, atMs, taken: false});
      return messageOf([...message.blocks, shareButton(id)]);
    },
    take: (id, user) => {
      const entry = kept.get(id);
      if (entry === undefined || entry.answer.user !== user || clock.now() - entry.atMs > KEPT_MS) return 'unknown';
      if (entry.taken) return 'shared';
      entry.taken = true;
      return entry.answer;
    },
    giveBack: (id) => {
      const entry = kept.get(id);
      if (entry !== undefined) entry.taken = false;
    },
  };
}
