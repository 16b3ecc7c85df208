/** One login to one host, with every guard that ssh2 does not bring by itself. */
import ssh2, {type AuthenticationType, type AuthMethod, type Client, type ClientChannel} from 'ssh2';
import {fail, ok, type Result, type SshFailure} from '../domain/failure.ts';
import type {Clock} from '../engine/ports.ts';
import type {HostAccess} from './access.ts';
import {hostKeyAlgorithms, offer} from './algorithms.ts';
import {type ConnectTrouble, classifyConnect, troubleOf} from './failures.ts';
import {type ExpectedHostKeys, fingerprint, hostKeyFailure, judgeHostKey, makeHostVerifier} from './host-keys.ts';
import type {UsableKey} from './keys.ts';
import type {Limits} from './limits.ts';
import {after} from './timer.ts';
import {makeTurns, type Turns} from './turns.ts';

export interface Connection {
  /** SHA256:… of the host key that the server proved to hold. */
  readonly hostKey: string;
  /** One place less than `execs`, so that a signalling command never waits behind looks. */
  readonly looks: Turns;
  readonly execs: Turns;
  /** False once it ended or was given up: open a new one. */
  usable(): boolean;
  /** May throw `Not connected`; may never call back on a dead link. */
  exec(command: string, callback: (error: Error | undefined, channel: ClientChannel) => void): void;
  /** Takes no new work, and ends when the work in hand is done. */
  retire(): void;
  /** Ends now. Remote commands live on to their own limit. Resolves when the socket is closed. */
  end(): Promise<void>;
}

export interface ConnectOptions {
  readonly access: HostAccess;
  readonly user: string;
  readonly key: UsableKey;
  readonly expected: ExpectedHostKeys;
  readonly limits: Limits;
  readonly clock: Clock;
}

export function connect(options: ConnectOptions): Promise<Result<Connection, SshFailure>> {
  const {access, user, key, expected, limits, clock} = options;
  const knownTypes = new Set(expected.keys.map((known) => known.type));
  const algorithms = hostKeyAlgorithms(knownTypes);
  if (expected.keys.length === 0 && expected.hasAuthority) {
    return Promise.resolve(fail({reason: 'host-key-ca-only', host: access.name}));
  }
  if (algorithms.length === 0) {
    const detail = `known host key types: ${[...knownTypes].join(', ')}`;
    return Promise.resolve(fail({reason: 'no-common-algorithm', host: access.name, detail}));
  }

  return new Promise((resolve) => {
    const client: Client = new ssh2.Client();
    let settled = false;
    let trouble: ConnectTrouble | null = null;
    let refusedKey: SshFailure | null = null;
    let shownKey = '';

    const verifier = makeHostVerifier((blob) => {
      const verdict = judgeHostKey(expected, blob);
      if (verdict !== 'same') refusedKey = hostKeyFailure(access, expected, verdict, blob);
      shownKey = fingerprint(blob);
      return verdict === 'same';
    });

    function settle(answer: Result<Connection, SshFailure>): void {
      if (settled) return;
      settled = true;
      stopDeadline();
      if (!answer.ok) client.destroy();
      resolve(answer);
    }

    function settleFailed(): void {
      const seen = trouble ?? {message: 'connection closed', level: 'protocol', code: null};
      const failure = refusedKey ?? classifyConnect(access, user, seen, limits.readyTimeoutMs);
      settle(fail(failure.reason === 'login-refused' ? blameKey(failure, key) : failure));
    }

    // ssh2's own timer does not cover a name look-up; this one covers everything.
    const stopDeadline = after(clock, limits.readyTimeoutMs + 1_000, () =>
      settle(fail({reason: 'handshake-timed-out', host: access.name, afterMs: limits.readyTimeoutMs})),
    );

    // For the whole life of the client: an 'error' that nobody hears ends the program, and it may come after 'ready'.
    client.on('error', (error) => {
      // An agent's error is not final: the connect goes on and then fails, or not, by itself.
      if ('level' in error && error.level === 'agent') return;
      trouble ??= troubleOf(error);
      if (!settled) client.destroy();
    });
    client.on('close', settleFailed);
    // Without this, Nagle and delayed ACK make each command on an open connection 20 times slower.
    client.on('connect', () => client.setNoDelay(true));
    client.on('ready', () => settle(ok(wrap(client, shownKey, limits, clock))));

    try {
      client.connect({
        host: access.address,
        port: access.port,
        username: user,
        authHandler: [authMethod(user, key)] as AuthMethod[] & AuthenticationType[],
        hostVerifier: verifier,
        algorithms: offer(algorithms),
        readyTimeout: limits.readyTimeoutMs,
        keepaliveInterval: limits.keepaliveIntervalMs,
        keepaliveCountMax: limits.keepaliveCountMax,
      });
    } catch (error) {
      settle(fail({reason: 'key-unusable', host: access.name, path: key.path, detail: troubleOf(error).message}));
    }
  });
}

/** One method only, and in this form: skips the `none` request and never shows a second key. */
function authMethod(username: string, key: UsableKey): unknown {
  return key.kind === 'file'
    ? {type: 'publickey', username, key: key.key}
    : {type: 'agent', username, agent: key.agent};
}

/** A refused login has its cause in our own key where that is known. */
function blameKey(failure: SshFailure & {reason: 'login-refused'}, key: UsableKey): SshFailure {
  const {host} = failure;
  if (key.kind === 'agent' && key.agent.problem !== null) {
    return {reason: 'key-unusable', host, path: key.path, detail: key.agent.problem};
  }
  if (key.kind === 'file' && key.certificate !== null) {
    const detail = `login refused without its certificate ${key.certificate}; user certificates are not supported`;
    return {reason: 'key-unusable', host, path: key.path, detail};
  }
  return failure;
}

function wrap(client: Client, hostKey: string, limits: Limits, clock: Clock): Connection {
  let open = true;
  let retired = false;
  let running = 0;
  const closed = new Promise<void>((resolve) => {
    client.on('close', () => {
      open = false;
      resolve();
    });
  });
  const execs = makeTurns(limits.execsAtOnce);

  return {
    hostKey,
    looks: makeTurns(Math.max(1, limits.execsAtOnce - 1)),
    execs: {
      async take() {
        running += 1;
        const giveBack = await execs.take();
        return () => {
          giveBack();
          running -= 1;
          if (retired && running === 0) client.end();
        };
      },
    },
    usable: () => open && !retired,
    exec: (command, callback) => {
      client.exec(command, callback);
    },
    retire() {
      retired = true;
      if (running === 0) client.end();
    },
    async end() {
      retired = true;
      client.end();
      const stop = after(clock, 500, () => client.destroy());
      if (open) await closed;
      stop();
    },
  };
}
