/** Messages that one person sees. emulate stores them and can't read them back, so they are kept here. */
import type {Ephemeral, Newsroom, SlackMessage} from './news.ts';

export interface Ephemerals {
  add(
    to: string,
    by: Ephemeral['by'],
    fields: Pick<SlackMessage, 'ts' | 'channel' | 'text' | 'user'> &
      Partial<Pick<SlackMessage, 'blocks' | 'thread_ts'>>,
  ): Ephemeral;
  replace(ts: string, fields: Partial<Pick<SlackMessage, 'text' | 'blocks'>>): void;
  remove(ts: string): void;
  find(ts: string): Ephemeral | undefined;
  /** Oldest first. */
  of(user: string): readonly Ephemeral[];
  all(): readonly Ephemeral[];
}

export function openEphemerals(news: Newsroom): Ephemerals {
  const kept = new Map<string, Ephemeral>();
  return {
    add: (to, by, fields) => {
      const message: Ephemeral = {type: 'message', ...fields, to, by};
      kept.set(message.ts, message);
      news.tell({kind: 'ephemeral', message});
      return message;
    },
    replace: (ts, fields) => {
      const old = kept.get(ts);
      if (old === undefined) return;
      const {blocks: _dropped, ...rest} = old;
      const message: Ephemeral = {...rest, ...fields};
      kept.set(ts, message);
      news.tell({kind: 'ephemeral-changed', message});
    },
    remove: (ts) => {
      const old = kept.get(ts);
      if (old === undefined) return;
      kept.delete(ts);
      news.tell({kind: 'deleted', channel: old.channel, ts});
    },
    find: (ts) => kept.get(ts),
    of: (user) => [...kept.values()].filter((message) => message.to === user),
    all: () => [...kept.values()],
  };
}
