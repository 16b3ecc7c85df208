/** What one local Slack saw, whole: every message with all that it ever said, every private word, everything people did. */
import type {LocalSlack} from '../slack/local-slack.ts';
import type {News, SlackMessage} from '../slack/news.ts';
import type {Done} from '../slack/people.ts';

export interface Version {
  readonly atMs: number;
  readonly text: string;
  /** action_id of each button. */
  readonly buttons: readonly string[];
  /** As a person had it before them: what a late click is made with. */
  readonly message: SlackMessage;
}

export interface Seen {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  /** Oldest first, one at least. */
  readonly versions: Version[];
  /** Whose conversation with the bot it stands in; null: a channel. */
  readonly direct: string | null;
  deleted: boolean;
}

/** Something that a person was told, by whichever way. */
export interface Told {
  readonly user: string;
  readonly atMs: number;
  readonly how: 'private' | 'direct' | 'form' | 'slack';
  readonly text: string;
}

export interface Act {
  readonly tag: string;
  readonly user: string;
  readonly kind: 'ask' | 'command' | 'click' | 'form';
  readonly what: string;
  readonly atMs: number;
  /** What Slack said of it; null as long as it says nothing. */
  done: Done | null;
}

export interface Record_ {
  readonly seen: readonly Seen[];
  readonly told: readonly Told[];
  readonly acts: Act[];
  /** Conversations whose end people gave up waiting for, each as a sentence. */
  readonly late: string[];
  /** When the bot began to live, each time. */
  readonly starts: number[];
  /** Resolves true once `holds`, asked again at each change; false after `ms`. */
  until(holds: () => boolean, ms: number): Promise<boolean>;
  stop(): void;
}

/** Something may hold with time alone. */
const LOOK_EVERY_MS = 500;

export function keepRecord(slack: LocalSlack): Record_ {
  const seen: Seen[] = [];
  const byTs = new Map<string, Seen>();
  const told: Told[] = [];
  const waiting = new Set<() => void>();

  const noteMessage = (message: SlackMessage, direct: string | null): void => {
    const key = `${message.channel} ${message.ts}`;
    const version: Version = {atMs: Date.now(), text: message.text, buttons: buttonsOf(message), message};
    const known = byTs.get(key);
    if (known !== undefined) {
      known.versions.push(version);
      return;
    }
    const fresh: Seen = {
      channel: message.channel,
      ts: message.ts,
      threadTs: message.thread_ts === undefined || message.thread_ts === message.ts ? null : message.thread_ts,
      versions: [version],
      direct,
      deleted: false,
    };
    byTs.set(key, fresh);
    seen.push(fresh);
  };

  const note = (news: News): void => {
    const atMs = Date.now();
    switch (news.kind) {
      case 'post':
      case 'reply':
      case 'update':
        noteMessage(news.message, null);
        break;
      case 'dm':
        noteMessage(news.message, news.user);
        told.push({user: news.user, atMs, how: 'direct', text: news.message.text});
        break;
      case 'ephemeral': {
        const {to, by, text} = news.message;
        told.push({user: to, atMs, how: by === 'slack' ? 'slack' : 'private', text});
        break;
      }
      case 'view':
        if (news.view !== null || Object.keys(news.errors).length > 0)
          told.push({user: news.user, atMs, how: 'form', text: JSON.stringify(news.errors)});
        break;
      case 'deleted': {
        const gone = byTs.get(`${news.channel} ${news.ts}`);
        if (gone !== undefined) gone.deleted = true;
        break;
      }
    }
    for (const look of [...waiting]) look();
  };

  const stop = slack.news.listen(note);
  return {
    seen,
    told,
    acts: [],
    late: [],
    starts: [],
    stop,
    until: (holds, ms) =>
      new Promise((resolve) => {
        const end = (value: boolean): void => {
          clearTimeout(late);
          clearInterval(again);
          waiting.delete(look);
          resolve(value);
        };
        const look = (): void => {
          if (holds()) end(true);
        };
        const late = setTimeout(() => end(holds()), ms);
        const again = setInterval(look, LOOK_EVERY_MS);
        waiting.add(look);
        look();
      }),
  };
}

function buttonsOf(message: SlackMessage): readonly string[] {
  return [...JSON.stringify(message.blocks ?? []).matchAll(/"action_id":"([^"]+)"/g)].map((found) => found[1] ?? '');
}

export function newest(one: Seen): Version {
  const last = one.versions.at(-1);
  if (last === undefined) throw new Error('Internal error: a message without a version');
  return last;
}
