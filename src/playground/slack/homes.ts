/** What each person sees on the app's Home tab: the last view that was published for them. */
import type {ViewOutput} from '@slack/bolt';
import type {Json} from './check-elements.ts';
import type {Newsroom} from './news.ts';
import {viewOf} from './screens.ts';

export interface Homes {
  published(user: string, view: Json): void;
  /** null: the app has published nothing for this person yet. */
  of(user: string): ViewOutput | null;
}

export function openHomes(news: Newsroom): Homes {
  const views = new Map<string, ViewOutput>();
  return {
    published: (user, given) => {
      const view = viewOf(given);
      views.set(user, view);
      news.tell({kind: 'home', user, view});
    },
    of: (user) => views.get(user) ?? null,
  };
}
