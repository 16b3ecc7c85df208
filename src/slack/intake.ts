/**
 * What people ask is written down before Slack is told that it arrived: should the program die over it, the next one finds
 * whom it left waiting. Nothing of it is carried out again by itself; whoever waits is told so.
 */
import {z} from 'zod';
import type {OpenClaim} from '../engine/ports.ts';
import {sentence} from './blocks/answers.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {respondTo} from './respond.ts';

export type Asking = 'command' | 'click' | 'form' | 'mention';

/** How a delivery was taken: it is the first of its key, it was there already, or the store did not say. */
export type Taken =
  | {readonly kind: 'first'; readonly key: string}
  | {readonly kind: 'again'; readonly key: string}
  | {readonly kind: 'trouble'; readonly key: string; readonly error: unknown};

/** An ack waits no longer than this for the store. */
const BEFORE_ACK_MS = 50;
/** Older ones have given up waiting, and their response_url is over. */
const STILL_WAITING_MS = 30 * 60_000;
const LEFT_AT_ONCE = 200;

const LEFT = z.object({
  asking: z.enum(['command', 'click', 'form', 'mention']),
  user: z.string(),
  team: z.string(),
  channel: z.string(),
  responseUrl: z.string().nullable(),
});

/** Writes it down. Never rejects. `responseUrl`: how the answer reaches the person from another program. */
export function take(
  desk: Desk,
  asker: Asker,
  asked: {readonly key: string; readonly asking: Asking; readonly responseUrl: string | null},
): Promise<Taken> {
  const {key, asking, responseUrl} = asked;
  const {user, team, channel} = asker;
  const left: z.infer<typeof LEFT> = {asking, user, team, channel, responseUrl};
  return desk.store.claim(key, desk.clock.now(), left).then(
    (first): Taken => ({kind: first ? 'first' : 'again', key}),
    (error: unknown): Taken => ({kind: 'trouble', key, error}),
  );
}

/**
 * The ack, once it is written down; a store that is slow to say so holds it up no longer than people would notice. Never
 * rejects: on a socket that is gone the work goes on all the same, since what is written down is not taken a second time.
 */
export async function ackAfter(desk: Desk, taken: Promise<Taken>, ack: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  await Promise.race([taken, desk.clock.wait(BEFORE_ACK_MS, over.signal)]);
  over.abort();
  try {
    await ack();
  } catch (error) {
    desk.log.warn({error: String(error)}, 'an ack did not reach Slack');
  }
}

const WORDS: Readonly<Record<Asking, string>> = {
  command:
    'The bot was started again while it worked on your command. What it had begun stands on a card in the channel; if there is none, nothing was done: ask again.',
  mention: 'The bot was started again before it answered you. Ask again.',
  click:
    'The bot was started again while it took your click. If the card still has its buttons, nothing was decided: press again.',
  form: 'The bot was started again while it took your form. If the card still has its buttons, nothing was decided: open it again.',
};

/** At the start: answers everybody whom the program before left waiting. */
export async function answerLeft(desk: Desk, beganAtMs: number): Promise<void> {
  const open = (await desk.store.unsettled(LEFT_AT_ONCE)).filter((claim) => claim.atMs < beganAtMs);
  await Promise.all(open.map((claim) => answerOne(desk, claim)));
}

async function answerOne(desk: Desk, {key, atMs, body}: OpenClaim): Promise<void> {
  const read = LEFT.safeParse(body);
  if (!read.success) return;
  const {asking, responseUrl, ...who} = read.data;
  const asker: Asker = {
    ...who,
    threadTs: null,
    saidTs: null,
    triggerId: '',
    respond: responseUrl === null ? null : respondTo(responseUrl),
  };
  if (desk.clock.now() - atMs < STILL_WAITING_MS) await answer(desk, asker, sentence(WORDS[asking]));
  await desk.store.settle(key, desk.clock.now());
}
