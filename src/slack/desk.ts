/** What every listener is given: the engine's verbs, the store, people, and the ways to answer. */
import type {types, webApi} from '@slack/bolt';
import type {Host, HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import type {Run} from '../domain/run.ts';
import type {Clock, Engine, Log, RunStore} from '../engine/ports.ts';
import type {Message} from './blocks/message.ts';
import type {Delivery} from './delivery.ts';
import type {Names} from './names.ts';
import type {People} from './people.ts';
import type {Poster} from './poster.ts';
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
  /** Executes an approved run in the background; its end is told by the thread. */
  readonly execute: (run: Run) => void;
}

/** Where a person stands who asked or clicked, and how they alone are answered. */
export interface Asker {
  readonly user: string;
  /** The person's own workspace, which in a shared channel may be another than ours. */
  readonly team: string;
  readonly channel: string;
  /** Lasts 3 s, once. */
  readonly triggerId: string;
  /** Through the payload's response_url: reaches the person even where the bot is no member. null: none came along. */
  readonly respond: ((message: PrivateMessage) => Promise<unknown>) | null;
}

export interface PrivateMessage {
  readonly response_type: 'ephemeral';
  readonly replace_original: false;
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** One message that only the asker sees. Failing to send it is logged, never thrown: what was done stays done. */
export async function answer(desk: Desk, asker: Asker, message: Message): Promise<void> {
  const {text, blocks} = desk.names.dress(message);
  try {
    if (asker.respond !== null) {
      await asker.respond({response_type: 'ephemeral', replace_original: false, text, blocks: [...blocks]});
      return;
    }
  } catch (error) {
    desk.log.warn({error: String(error)}, 'a response_url did not take an answer; trying the channel');
  }
  try {
    await desk.client.chat.postEphemeral({channel: asker.channel, user: asker.user, text, blocks: [...blocks]});
  } catch (error) {
    desk.log.error({user: asker.user, error: String(error)}, 'an answer could not be given');
  }
}
