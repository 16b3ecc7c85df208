/** In which time zone somebody lives, as their Slack profile says. */
import type {webApi} from '@slack/bolt';
import {readZone} from '../domain/zone.ts';
import type {Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';

export interface Zones {
  /** IANA name; null where Slack does not say (no `users:read`, an error, a zone that is not known here). */
  of(user: string): Promise<string | null>;
}

/** Asked each time: people travel. */
export function makeZones(deps: {readonly client: webApi.WebClient; readonly log: Log}): Zones {
  return {
    of: async (user) => {
      try {
        const {user: found} = await deps.client.users.info({user});
        return found?.tz === undefined ? null : readZone(found.tz);
      } catch (error) {
        deps.log.warn({user, trouble: troubleOf(error)}, 'a time zone could not be read');
        return null;
      }
    },
  };
}
