/** The engine's remote hands, over ssh2: each probe and each signalling command is one exec on a kept connection. */
import type {DeepRequest} from '../domain/deep.ts';
import {type Failure, fail, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {SignalBatch, SignalEvent} from '../domain/order.ts';
import type {OwnerName} from '../domain/owner.ts';
import type {StoppableOwner} from '../domain/stop-owner.ts';
import type {Transcript} from '../domain/transcript.ts';
import type {Clock} from '../engine/ports.ts';
import type {ProbeRequest, RemoteHost, RemoteHosts} from '../engine/remote-ports.ts';
import type {Credential, HostAccess} from './access.ts';
import {type AnswerContext, readProbeAnswer, readSignalAnswer} from './answers.ts';
import {probeCommand, probePrelude, signalCommand} from './commands.ts';
import {type Connections, makeConnections} from './connections.ts';
import {type ExecAnswer, exec} from './exec.ts';
import {DEFAULT_LIMITS, type Limits} from './limits.ts';

/** The texts that are run on a host. `nonce` marks the answer; `frameNonce` is the script's own first and last line. */
export interface RemoteScripts {
  probe(nonce: string, request: ProbeRequest, host: {readonly deviceFolder: string}): string;
  deep(nonce: string, request: DeepRequest, host: {readonly deviceFolder: string}): string;
  writes(nonce: string, pids: readonly number[]): string;
  owners(nonce: string, names: readonly OwnerName[]): string;
  owned(nonce: string, owners: readonly StoppableOwner[]): string;
  settings(nonce: string, folders: readonly string[]): string;
  sample(nonce: string): string;
  signal(nonce: string, frameNonce: string, batch: SignalBatch, host: {readonly deviceFolder: string}): string;
}

export interface RemoteHostsOptions {
  readonly access: ReadonlyMap<HostName, HostAccess>;
  readonly scripts: RemoteScripts;
  /** One line of a signalling command's answer; null if it is no event. */
  readonly parseSignalLine: (nonce: string, line: string) => SignalEvent | null;
  /** 128 random bits as lower-case hex, new at each call. */
  readonly newNonce: () => string;
  readonly clock: Clock;
  readonly limits?: Partial<Limits>;
}

export function makeRemoteHosts(options: RemoteHostsOptions): RemoteHosts {
  const limits: Limits = {...DEFAULT_LIMITS, ...options.limits};
  const connections = makeConnections({limits, clock: options.clock});
  return {
    host(name) {
      const access = options.access.get(name);
      if (access === undefined) throw new Error(`Internal error: no access is known for host ${name}`);
      return makeRemoteHost(access, connections, limits, options);
    },
    close: () => connections.close(),
  };
}

/** One command as this room runs it. */
interface Command {
  readonly command: string;
  readonly stdin: string;
  readonly nonce: string;
  readonly hostLimitMs: number;
  readonly maxBytes: number;
  readonly look: boolean;
  readonly onLine: (line: string) => void;
}

function makeRemoteHost(
  access: HostAccess,
  connections: Connections,
  limits: Limits,
  options: RemoteHostsOptions,
): RemoteHost {
  const {scripts, newNonce, parseSignalLine} = options;

  return {
    probe: (request) => look((nonce) => scripts.probe(nonce, request, access)),

    deep: (request) => look((nonce) => scripts.deep(nonce, request, access)),

    writes: (pids) => look((nonce) => scripts.writes(nonce, pids)),

    owners: (names) => look((nonce) => scripts.owners(nonce, names)),

    owned: (owners) => look((nonce) => scripts.owned(nonce, owners)),

    settings: (folders) => look((nonce) => scripts.settings(nonce, folders)),

    sample: () => look((nonce) => scripts.sample(nonce)),

    signal(batch, onEvent) {
      if (access.act === null) return Promise.resolve(fail({reason: 'host-observe-only', host: access.name}));
      const nonce = newNonce();
      const frameNonce = newNonce();
      if (nonce === frameNonce) throw new Error('Internal error: the nonce in argv must not mark the answer');
      const hostLimitMs = batch.watchMs + (batch.stop?.timeoutMs ?? 0) + batch.verifyMs + limits.signalGraceMs;
      const command: Command = {
        command: signalCommand(access, hostLimitMs, frameNonce),
        stdin: scripts.signal(nonce, frameNonce, batch, access),
        nonce,
        hostLimitMs,
        maxBytes: limits.signalMaxBytes,
        look: false,
        onLine(line) {
          const event = parseSignalLine(nonce, line);
          if (event !== null) onEvent(event);
        },
      };
      return run(access.act, command, readSignalAnswer);
    },
  };

  function look(script: (nonce: string) => string): Promise<Result<Transcript>> {
    const nonce = newNonce();
    const command: Command = {
      command: probeCommand(access, limits.probeTimeoutMs),
      stdin: `${probePrelude(access)}${script(nonce)}`,
      nonce,
      hostLimitMs: limits.probeTimeoutMs,
      maxBytes: limits.probeMaxBytes,
      look: true,
      onLine: () => {},
    };
    return run(access.look, command, readProbeAnswer);
  }

  async function run(
    credential: Credential,
    command: Command,
    read: (context: AnswerContext, answer: ExecAnswer) => Result<Transcript>,
  ): Promise<Result<Transcript, Failure>> {
    // A kept connection may turn out dead only when used: as long as no script went out, one new login is safe.
    for (let attempt = 1; ; attempt += 1) {
      const opened = await connections.open(access, credential);
      if (!opened.ok) return opened;
      const connection = opened.value;
      const leaveLooks = command.look ? await connection.looks.take() : () => {};
      const leave = await connection.execs.take();
      let answer: ExecAnswer;
      try {
        answer = await exec(connection, {...command, ...bounds(command)}, options.clock);
      } finally {
        leave();
        leaveLooks();
      }
      // Whatever outlived its deadline says nothing good of the link: the next call logs in anew.
      if (answer.end === 'timed-out' || answer.end === 'lost') connection.retire();
      if (answer.end === 'lost' && !answer.scriptSent && attempt === 1) continue;
      const {user} = credential;
      return read({access, user, hostKey: connection.hostKey, nonce: command.nonce}, answer);
    }
  }

  function bounds(command: Command) {
    return {
      deadlineMs: command.hostLimitMs + limits.ownGraceMs,
      stdoutMaxBytes: command.maxBytes,
      stderrMaxBytes: limits.stderrMaxBytes,
      exitGraceMs: limits.exitGraceMs,
      closeGraceMs: limits.closeGraceMs,
    };
  }
}
