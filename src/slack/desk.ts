/** What every listener is given: the engine's verbs, the store, people, and the ways to answer. */
import type {types, webApi} from '@slack/bolt';
import type {Host, HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import type {Run} from '../domain/run.ts';
import type {Clock, Engine, Log, RunStore} from '../engine/ports.ts';
import {isAnswered} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {withoutTable} from './blocks/table.ts';
import type {Delivery} from './delivery.ts';
import type {Names} from './names.ts';
import type {People} from './people.ts';
import type {Poster} from './poster.ts';
import {SpentUrl} from './respond.ts';
import type {SharedAnswers} from './shared-answers.ts';
import type {Work} from './work.ts';
import type {Zones} from './zones.ts';

export interface Desk {
  readonly engine: Engine;
  readonly store: RunStore;
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Log;
  /** For answers, forms and questions; what must arrive goes by `poster`. */
  readonly client: webApi.WebClient;
  readonly poster: Poster;
  readonly delivery: Delivery;
  readonly people: People;
  readonly names: Names;
  readonly zones: Zones;
  readonly work: Work;
  /** The slash command, e.g. `/gpu`. */
  readonly command: string;
  /** Channels in which reclaims may be asked for and decided. */
  readonly channels: readonly string[];
  /** Our own workspace, as auth.test said. */
  readonly team: () => string;
  /** Private answers that may still be shared. */
  readonly shared: SharedAnswers;
  /** Executes an approved run in the background; its end is told by the thread. */
  readonly execute: (run: Run) => void;
}

/** Where a person stands who asked or clicked, and how they alone are answered. */
export interface Asker {
  readonly user: string;
  /** The person's own workspace, which in a shared channel may be another than ours. */
  readonly team: string;
  /** Empty on App Home and in its forms. */
  readonly channel: string;
  /** Where it was typed or clicked inside of a thread; null: not in one. */
  readonly threadTs: string | null;
  /** The person's own words, where all could read them: a mention. null: a command, a click, or words to the bot alone. */
  readonly saidTs: string | null;
  /** Lasts 3 s, once. */
  readonly triggerId: string;
  /** Through the payload's response_url: reaches the person even where the bot is no member. null: none came along. */
  readonly respond: ((message: PrivateMessage) => Promise<unknown>) | null;
}

export interface PrivateMessage {
  readonly response_type: 'ephemeral';
  /** True: takes the place of the private answer that was clicked. */
  readonly replace_original: boolean;
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** Before each further round of tries, ms: some minutes of Slack being down are waited out. */
const ROUND_GAPS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000] as const;

/**
 * One message that only the asker sees: by the response_url, else in the channel, else in their own conversation with the
 * bot; again while Slack is down. Failing all that is logged, never thrown: what was done stays done.
 */
export async function answer(desk: Desk, asker: Asker, message: Message): Promise<void> {
  const whole = desk.names.dress(message);
  const thread = asker.threadTs === null ? {} : {thread_ts: asker.threadTs};
  const place = {channel: asker.channel, user: asker.user, ...thread};
  const {respond} = asker;
  const forms = [whole, withoutTable(whole)].flatMap((form) => form ?? []);
  const privately = ({text, blocks}: Message) => ({
    response_type: 'ephemeral' as const,
    replace_original: false,
    text,
    blocks: [...blocks],
  });
  const ways: (() => Promise<unknown>)[] = [
    ...(respond === null ? [] : forms.map((form) => () => respond(privately(form)))),
    ...(isAlone(asker)
      ? []
      : forms.map(
          ({text, blocks}) =>
            () =>
              desk.client.chat.postEphemeral({...place, text, blocks: [...blocks]}),
        )),
    () => desk.poster.post(asker.user, message),
  ];
  for (const gapMs of [...ROUND_GAPS_MS, null]) {
    while (ways.length > 0) {
      const trouble = await tried(desk, ways[0]);
      if (trouble === null) return;
      if (trouble === 'later') break;
      ways.shift();
    }
    if (ways.length === 0 || gapMs === null) break;
    await desk.clock.wait(gapMs);
  }
  desk.log.error({user: asker.user}, 'an answer could not be given');
}

/** null: told. `never`: this way leads nowhere. */
async function tried(desk: Desk, way: (() => Promise<unknown>) | undefined): Promise<'later' | 'never' | null> {
  try {
    await way?.();
    return null;
  } catch (error) {
    desk.log.warn({error: String(error)}, 'a way to answer did not work');
    if (error instanceof SpentUrl) return 'never';
    return isAnswered(error) ? 'never' : 'later';
  }
}

/** On App Home, or in their own conversation with the bot: what is said there nobody else reads. */
export function isAlone(asker: Pick<Asker, 'channel'>): boolean {
  return asker.channel === '' || asker.channel.startsWith('D');
}

/** Where cards are opened that are asked for from there: in this channel if reclaims may be asked for in it. */
export function cardChannel(desk: Desk, asker: Pick<Asker, 'channel'>): string {
  return desk.channels.includes(asker.channel) ? asker.channel : (desk.channels[0] ?? asker.channel);
}

/** A line in the thread of a mention: what one person changed by words that all could read is told to all. */
export async function sayInThread(desk: Desk, asker: Asker, message: Message): Promise<void> {
  const thread = asker.threadTs ?? asker.saidTs;
  if (thread === null) return answer(desk, asker, message);
  try {
    await desk.poster.reply({team: desk.team(), channel: asker.channel, ts: thread}, message, false);
  } catch (error) {
    desk.log.warn({error: String(error)}, 'a thread did not take a line; told in private');
    await answer(desk, asker, message);
  }
}
