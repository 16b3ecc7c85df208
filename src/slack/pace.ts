/**
 * How fast Slack wants to be spoken to, kept by ourselves: about one message a second in a channel, and 50 edits a minute
 * in the whole workspace. What must arrive comes first; what only shows progress takes what is left.
 */
import type {Clock} from '../engine/ports.ts';

/** `chat.update` is Tier 3. */
export const EDITS_A_MINUTE = 50;
/** Progress stops here, so that decisions and ends always find room. */
export const PROGRESS_A_MINUTE = 30;
/** Between two edits that only show progress, ms. */
export const PROGRESS_GAP_MS = 1_500;
/** Messages that a channel takes at once; one a second after that. */
export const POST_BURST = 4;
const POST_EVERY_MS = 1_000;
/** A little more than a minute: on its way a call may come closer to the one before. */
const MINUTE_MS = 61_000;

export interface Pace {
  /** Resolves when this channel may have its next message. A root card, which people wait for, goes before replies. */
  post(channel: string, what: 'card' | 'reply'): Promise<void>;
  /** Resolves when an edit that must arrive may go. */
  edit(): Promise<void>;
  /** ms until an edit that must arrive would go; 0: now. */
  editInMs(): number;
  /** ms until an edit that only shows progress may go; 0: now. */
  progressInMs(): number;
  /** One of them goes now. */
  progressGoes(): void;
  /** Slack named a time before which it takes nothing there, ms. */
  holdPosts(channel: string, ms: number): void;
  holdEdits(ms: number): void;
}

interface Channel {
  tokens: number;
  countedAtTicks: number;
  heldUntilTicks: number;
  readonly cards: (() => void)[];
  readonly replies: (() => void)[];
  working: boolean;
}

export function makePace(clock: Pick<Clock, 'ticks' | 'wait'>): Pace {
  const channels = new Map<string, Channel>();
  const edits: number[] = [];
  let editsHeldUntil = Number.NEGATIVE_INFINITY;
  let lastEditAt = Number.NEGATIVE_INFINITY;
  let editing: Promise<void> = Promise.resolve();

  const channelOf = (id: string): Channel => {
    const known = channels.get(id);
    if (known !== undefined) return known;
    const fresh: Channel = {
      tokens: POST_BURST,
      countedAtTicks: clock.ticks(),
      heldUntilTicks: Number.NEGATIVE_INFINITY,
      cards: [],
      replies: [],
      working: false,
    };
    channels.set(id, fresh);
    return fresh;
  };

  const postInMs = (channel: Channel): number => {
    const now = clock.ticks();
    channel.tokens = Math.min(POST_BURST, channel.tokens + (now - channel.countedAtTicks) / POST_EVERY_MS);
    channel.countedAtTicks = now;
    return Math.max(channel.heldUntilTicks - now, (1 - channel.tokens) * POST_EVERY_MS, 0);
  };

  const letGo = async (channel: Channel): Promise<void> => {
    if (channel.working) return;
    channel.working = true;
    try {
      while (channel.cards.length + channel.replies.length > 0) {
        const waitMs = postInMs(channel);
        if (waitMs > 0) {
          await clock.wait(Math.ceil(waitMs));
          continue;
        }
        channel.tokens -= 1;
        (channel.cards.shift() ?? channel.replies.shift())?.();
      }
    } finally {
      channel.working = false;
    }
  };

  /** ms until fewer than `most` edits went in the last minute. */
  const roomInMs = (most: number): number => {
    const now = clock.ticks();
    while (edits.length > 0 && now - (edits[0] ?? now) >= MINUTE_MS) edits.shift();
    const inTheWay = edits.at(-most);
    return Math.max(editsHeldUntil - now, inTheWay === undefined ? 0 : inTheWay + MINUTE_MS - now, 0);
  };
  const goes = (): void => {
    lastEditAt = clock.ticks();
    edits.push(lastEditAt);
  };

  return {
    post: (id, what) =>
      new Promise((resolve) => {
        const channel = channelOf(id);
        (what === 'card' ? channel.cards : channel.replies).push(resolve);
        void letGo(channel);
      }),
    edit: () => {
      const turn = editing.then(async () => {
        for (let waitMs = roomInMs(EDITS_A_MINUTE); waitMs > 0; waitMs = roomInMs(EDITS_A_MINUTE))
          await clock.wait(Math.ceil(waitMs));
        goes();
      });
      editing = turn;
      return turn;
    },
    editInMs: () => roomInMs(EDITS_A_MINUTE),
    progressInMs: () => Math.max(roomInMs(PROGRESS_A_MINUTE), lastEditAt + PROGRESS_GAP_MS - clock.ticks(), 0),
    progressGoes: goes,
    holdPosts: (id, ms) => {
      const channel = channelOf(id);
      channel.heldUntilTicks = Math.max(channel.heldUntilTicks, clock.ticks() + ms);
    },
    holdEdits: (ms) => {
      editsHeldUntil = Math.max(editsHeldUntil, clock.ticks() + ms);
    },
  };
}
