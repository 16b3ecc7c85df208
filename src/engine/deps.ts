/** What every act of the engine is given. Nothing here is global. */
import type {Host, HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import type {LeaseOwner} from '../domain/run.ts';
import type {Announcer, Clock, Digest, IsAlive, Log, NewRunId, RunStore} from './ports.ts';
import type {RemoteHosts} from './remote-ports.ts';
import type {NextTimes} from './report-ports.ts';
import type {Turns} from './turns.ts';

export interface EngineDeps {
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly remote: RemoteHosts;
  readonly store: RunStore;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Log;
  readonly announcer: Announcer;
  readonly newRunId: NewRunId;
  readonly digest: Digest;
  /** When schedules are due: the arithmetic of clocks and zones. */
  readonly nextTimes: NextTimes;
  readonly isAlive: IsAlive;
  readonly turns: Turns;
  /** Who holds the leases that this program takes. */
  readonly owner: LeaseOwner;
}

/** What the composition root hands over; the engine makes the rest itself. */
export type GivenDeps = Omit<EngineDeps, 'turns'>;

/** The host of this name; asking for one that is not in the hosts file is a bug here, since edges check names first. */
export function hostOf(deps: EngineDeps, name: HostName): Host {
  const host = deps.hosts.get(name);
  if (host === undefined) throw new Error(`Internal error: host ${name} is not in the hosts file`);
  return host;
}
