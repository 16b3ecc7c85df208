/** What happened in the workspace, in order. Tests wait for the next of a kind; the page listens to all of it. */
import type {ViewOutput} from '@slack/bolt';

/** A message as history shows it. */
export interface SlackMessage {
  readonly type: 'message';
  readonly ts: string;
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly blocks?: readonly Readonly<Record<string, unknown>>[];
  readonly thread_ts?: string;
  readonly reply_count?: number;
  readonly bot_id?: string;
  readonly app_id?: string;
  readonly edited?: {readonly user: string; readonly ts: string};
  readonly metadata?: unknown;
  /** Uploaded files that were shared with it. */
  readonly files?: readonly Readonly<Record<string, unknown>>[];
  readonly reply_broadcast?: boolean;
}

/** A message that only `to` sees. `by` 'slack' is Slack's own word (a command that failed, an unknown one). */
export interface Ephemeral extends SlackMessage {
  readonly to: string;
  readonly by: 'bot' | 'slack';
}

type Told<K extends string, M> = {readonly kind: K; readonly message: M};

export type News =
  | Told<'post', SlackMessage>
  | Told<'reply', SlackMessage>
  | Told<'update', SlackMessage>
  /** A person's own words. */
  | Told<'said', SlackMessage>
  | Told<'ephemeral', Ephemeral>
  | Told<'ephemeral-changed', Ephemeral>
  /** The bot's words to one person, in their own conversation with it. */
  | (Told<'dm', SlackMessage> & {readonly user: string})
  /** What the app shows on somebody's Home tab by now. */
  | {readonly kind: 'home'; readonly user: string; readonly view: ViewOutput}
  | {readonly kind: 'deleted'; readonly channel: string; readonly ts: string}
  | {
      readonly kind: 'view';
      readonly user: string;
      /** Null: no modal is open any more. */
      readonly view: ViewOutput | null;
      readonly errors: Readonly<Record<string, string>>;
    };

export type NewsOf<K extends News['kind']> = Extract<News, {readonly kind: K}>;

export interface Newsroom {
  tell(news: News): void;
  listen(listener: (news: News) => void): () => void;
  /**
   * The next of a kind that was not handed out before, whether it already happened or not: what came while a test was
   * looking elsewhere is not lost. Rejects after `withinMs`, and says what came instead.
   */
  next<K extends News['kind']>(
    kinds: readonly K[],
    fits: (news: NewsOf<K>) => boolean,
    what: string,
    withinMs?: number,
  ): Promise<NewsOf<K>>;
  /** Everything so far counts as handed out. */
  skip(): void;
  close(): void;
}

const PATIENCE_MS = 10_000;

export function openNewsroom(): Newsroom {
  const past: {readonly news: News; taken: boolean}[] = [];
  const listeners = new Set<(news: News) => void>();
  const closers = new Set<() => void>();
  return {
    tell: (news) => {
      past.push({news, taken: false});
      // A demo that runs for days must not keep every edit.
      if (past.length > 20_000) past.splice(0, 10_000);
      for (const listener of [...listeners]) listener(news);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    next: (kinds, fits, what, withinMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const take = (): boolean => {
          for (const entry of past) {
            if (entry.taken || !isOf(entry.news, kinds) || !fits(entry.news)) continue;
            entry.taken = true;
            resolve(entry.news);
            return true;
          }
          return false;
        };
        if (take()) return;
        const end = (): void => {
          clearTimeout(timer);
          listeners.delete(listener);
          closers.delete(giveUp);
        };
        const listener = (): void => {
          if (take()) end();
        };
        const giveUp = (): void => {
          end();
          reject(new Error(`No ${what} came. What came: ${past.slice(-10).map(lineOf).join(' | ') || 'nothing'}`));
        };
        const timer = setTimeout(giveUp, withinMs);
        listeners.add(listener);
        closers.add(giveUp);
      }),
    skip: () => {
      for (const entry of past) entry.taken = true;
    },
    close: () => {
      for (const closer of [...closers]) closer();
    },
  };
}

function isOf<K extends News['kind']>(news: News, kinds: readonly K[]): news is NewsOf<K> {
  return (kinds as readonly string[]).includes(news.kind);
}

function lineOf(entry: {readonly news: News; readonly taken: boolean}): string {
  const {news} = entry;
  const text = 'message' in news ? news.message.text : '';
  return `${news.kind}${entry.taken ? ' (taken)' : ''} ${text.slice(0, 80)}`;
}
