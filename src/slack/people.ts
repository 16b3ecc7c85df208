/** Who clicked, as the rules know people: a Slack user with those user groups that the policy names. */
import type {webApi} from '@slack/bolt';
import type {Person} from '../domain/person.ts';
import type {Policy} from '../domain/policy.ts';
import type {Clock, Log} from '../engine/ports.ts';
import {troubleOf} from './api-errors.ts';

export interface Identified {
  /** Members of the groups that approve, as Slack said them last. */
  readonly groups: readonly {readonly group: string; readonly users: readonly string[]}[];
  readonly person: Extract<Person, {readonly kind: 'slack-user'}>;
  /** Groups whose members Slack did not tell, with its error: nobody counts as their member meanwhile. */
  readonly unread: readonly {readonly group: string; readonly error: string}[];
}

export interface People {
  identify(user: string, team: string): Promise<Identified>;
  /** The workspace that somebody belongs to, as their profile says; null where Slack does not say (no `users:read`, an error). */
  homeOf(user: string): Promise<string | null>;
}

/** A person added to a group may go after this; one removed may not. */
const FRESH_MS = 60_000;
/** An error is asked about again sooner. */
const RETRY_MS = 10_000;

type Members =
  | {readonly atMs: number; readonly users: ReadonlySet<string>}
  | {readonly atMs: number; readonly error: string};

/** Never throws and never guesses: a group that can't be read has no members. */
export function makePeople(deps: {
  readonly client: webApi.WebClient;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Log;
}): People {
  const groups = deps.policy.approvers.flatMap((one) => (one.kind === 'slack-group' ? [one.id] : []));
  const known = new Map<string, Members>();
  const asking = new Map<string, Promise<Members>>();

  const ask = async (group: string): Promise<Members> => {
    try {
      const answer = await deps.client.usergroups.users.list({usergroup: group});
      return {atMs: deps.clock.now(), users: new Set(answer.users ?? [])};
    } catch (error) {
      const trouble = troubleOf(error);
      const said = 'error' in trouble ? trouble.error : 'ratelimited';
      deps.log.warn({group, error: said}, 'the members of an approver group could not be read');
      return {atMs: deps.clock.now(), error: said};
    }
  };
  const membersOf = async (group: string): Promise<Members> => {
    const found = known.get(group);
    if (found !== undefined && deps.clock.now() - found.atMs < ('error' in found ? RETRY_MS : FRESH_MS)) return found;
    const under = asking.get(group) ?? ask(group);
    asking.set(group, under);
    const members = await under;
    known.set(group, members);
    asking.delete(group);
    return members;
  };

  return {
    homeOf: async (user) => {
      try {
        return (await deps.client.users.info({user})).user?.team_id ?? null;
      } catch (error) {
        deps.log.warn({user, trouble: troubleOf(error)}, 'the workspace of a person could not be read');
        return null;
      }
    },
    identify: async (user, team) => {
      const read = await Promise.all(groups.map(async (group) => ({group, members: await membersOf(group)})));
      return {
        person: {
          kind: 'slack-user',
          id: user,
          team,
          groups: read.flatMap(({group, members}) => ('users' in members && members.users.has(user) ? [group] : [])),
        },
        groups: read.flatMap(({group, members}) => ('users' in members ? [{group, users: [...members.users]}] : [])),
        unread: read.flatMap(({group, members}) => ('error' in members ? [{group, error: members.error}] : [])),
      };
    },
  };
}
