/**
 * Names for the Slack ids that the hosts file gives as owners: inside of a code block a mention is only its bare id. Asked
 * once per person and kept; an id that Slack does not name (no `users:read`, a guest, an error) stays as it is.
 */
import type {types, webApi} from '@slack/bolt';
import type {Host} from '../domain/host.ts';
import type {Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';
import type {Message} from './blocks/message.ts';
import {plain} from './escape.ts';
import {LIMITS} from './limits.ts';

export interface Names {
  /** Asks Slack for every owner; never throws. */
  learn(): Promise<void>;
  /** The message with known ids named, outside of mentions. */
  dress(message: Message): Message;
  /** The same for a form; what an option says stays within what Slack takes. */
  dressForm(view: types.ModalView): types.ModalView;
}

/** What is ticked at first must be the same, letter by letter, as what is offered. */
const OPTIONS = new Set(['options', 'initial_options', 'initial_option']);
const SLACK_ID = /^[UW][A-Z0-9]{4,30}$/;

export function makeNames(deps: {
  readonly client: webApi.WebClient;
  readonly hosts: Iterable<Host>;
  readonly log: Log;
}): Names {
  const owners = new Set(
    [...deps.hosts].flatMap((host) => [...host.people.values()]).filter((person) => SLACK_ID.test(person)),
  );
  const names = new Map<string, string>();
  return {
    learn: async () => {
      for (const user of owners) {
        try {
          const {user: found} = await deps.client.users.info({user});
          const name = found?.profile?.display_name || found?.name;
          // Names are people's own text, and short enough not to break a card's column.
          if (name !== undefined && name !== '') names.set(user, plain(name, 20));
        } catch (error) {
          deps.log.warn({user, trouble: troubleOf(error)}, 'an owner could not be named');
        }
      }
    },
    dress: (message) => (names.size === 0 ? message : (dressed(message, names) as Message)),
    dressForm: (view) => (names.size === 0 ? view : (dressed(view, names) as types.ModalView)),
  };
}

/** Only `text` is looked into: ids of buttons and of blocks are ours. */
function dressed(value: unknown, names: ReadonlyMap<string, string>, most = Number.POSITIVE_INFINITY): unknown {
  if (Array.isArray(value)) return value.map((one) => dressed(one, names, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'text' && typeof inner === 'string'
        ? within(named(inner, names), most)
        : dressed(inner, names, OPTIONS.has(key) ? LIMITS.option.text : most),
    ]),
  );
}

/** A name may be longer than the id in its place. */
function within(text: string, most: number): string {
  return [...text].length <= most ? text : plain(text, most);
}

function named(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(/(?<![<@^A-Za-z0-9_])[UW][A-Z0-9]{4,30}(?![A-Za-z0-9_>])/g, (id) => names.get(id) ?? id);
}
