/** Open connections, one a host and credential, reused until they end. Logins are paced over the fleet and per address. */
import {fail, type Result, type SshFailure} from '../domain/failure.ts';
import type {Clock} from '../engine/ports.ts';
import type {Credential, HostAccess} from './access.ts';
import {type Connection, connect} from './connection.ts';
import {mayPassWithTime} from './failures.ts';
import {makeHostKeyReader} from './host-keys.ts';
import {makeKeyring} from './keys.ts';
import type {Limits} from './limits.ts';
import {makeTurns, type Turns} from './turns.ts';

export interface Connections {
  /** The open connection, or a new one. Callers at the same time share one login. */
  open(access: HostAccess, credential: Credential): Promise<Result<Connection, SshFailure>>;
  close(): Promise<void>;
}

export function makeConnections(options: {readonly limits: Limits; readonly clock: Clock}): Connections {
  const {limits, clock} = options;
  const keyring = makeKeyring();
  const readHostKeys = makeHostKeyReader();
  const fleet = makeTurns(limits.loginsAtOnce);
  const addresses = new Map<string, Turns>();
  const opening = new Map<string, Promise<Result<Connection, SshFailure>>>();
  const open = new Map<string, Connection>();
  const closed = new AbortController();
  const closing = (): boolean => closed.signal.aborted;

  async function login(access: HostAccess, credential: Credential): Promise<Result<Connection, SshFailure>> {
    const expected = await readHostKeys(access);
    if (!expected.ok) return expected;
    const key = await keyring.usable(access.name, credential.key);
    if (!key.ok) return key;
    const address = turnsOf(access.address);
    const leaveAddress = await address.take();
    const leaveFleet = await fleet.take();
    try {
      if (closing()) return endedBeforeLogin(access);
      const {user} = credential;
      return await connect({access, user, key: key.value, expected: expected.value, limits, clock});
    } finally {
      leaveFleet();
      leaveAddress();
    }
  }

  function turnsOf(address: string): Turns {
    const turns = addresses.get(address) ?? makeTurns(limits.loginsPerAddress);
    addresses.set(address, turns);
    return turns;
  }

  async function loginWithRetry(access: HostAccess, credential: Credential): Promise<Result<Connection, SshFailure>> {
    const startedMs = clock.ticks();
    const first = await login(access, credential);
    if (first.ok || !mayPassWithTime(first.failure) || closing()) return first;
    const waitMs = first.failure.reason === 'host-hung-up' ? limits.hungUpBackoffMs : 0;
    const neededMs = clock.ticks() - startedMs + waitMs + limits.readyTimeoutMs;
    if (neededMs > limits.connectBudgetMs) return first;
    await clock.wait(waitMs, closed.signal);
    return login(access, credential);
  }

  async function openNew(
    name: string,
    access: HostAccess,
    credential: Credential,
  ): Promise<Result<Connection, SshFailure>> {
    const answer = await loginWithRetry(access, credential);
    opening.delete(name);
    if (answer.ok) {
      if (closing()) {
        await answer.value.end();
        return endedBeforeLogin(access);
      }
      open.set(name, answer.value);
    }
    return answer;
  }

  return {
    open(access, credential) {
      const name = JSON.stringify([access.name, credential.user, credential.key]);
      const kept = open.get(name);
      if (kept?.usable()) return Promise.resolve({ok: true, value: kept});
      open.delete(name);
      const pending = opening.get(name) ?? openNew(name, access, credential);
      opening.set(name, pending);
      return pending;
    },
    async close() {
      closed.abort();
      await Promise.all([...open.values()].map((connection) => connection.end()));
      await Promise.allSettled([...opening.values()]);
      open.clear();
    },
  };
}

function endedBeforeLogin(access: HostAccess): Result<never, SshFailure> {
  return fail({reason: 'link-lost', host: access.name, mayHaveActed: false});
}
