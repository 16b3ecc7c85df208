/** The lab's SSH server where sshd cannot run inside: ssh2's own, outside, running each command inside the lab. */
import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import type {AddressInfo} from 'node:net';
import type {Readable} from 'node:stream';
import ssh2, {type AuthContext, type Connection, type Session} from 'ssh2';

export interface OwnServer {
  readonly port: number;
  /** Cuts every open connection; like a network, it leaves the remote commands running. */
  dropConnections(): number;
  close(): Promise<void>;
}

export interface Entry {
  /** argv that runs the words appended to it inside the lab. */
  readonly argv: readonly string[];
  readonly runAs: {readonly uid: number; readonly gid: number} | null;
  /** Told of each command when it has ended, for whoever keeps raw transcripts. */
  readonly heard?: (exec: HeardExec) => void;
}

export interface HeardExec {
  readonly command: string;
  readonly startedAtMs: number;
  readonly ms: number;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Exit status, or the name of the signal that ended it. */
  readonly end: string;
}

/** Listens on 127.0.0.1, on a free port if none is said. `shell` is asked at each command: a fault may have changed it. */
export async function startOwnServer(
  hostKeyFile: string,
  authorized: readonly string[],
  entry: Entry,
  shell: () => string,
  port = 0,
): Promise<OwnServer> {
  const connections = new Set<Connection>();
  const sessions = new Set<number>();
  const server = new ssh2.Server({hostKeys: [readFileSync(hostKeyFile)]}, (connection) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
    connection.on('error', () => {});
    connection.on('authentication', (context) => authenticate(context, authorized));
    connection.on('session', (accept) => serveSession(accept(), entry, shell, sessions));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });

  const drop = (): number => {
    const count = connections.size;
    for (const connection of connections) destroy(connection);
    connections.clear();
    return count;
  };
  return {
    port: (server.address() as AddressInfo).port,
    dropConnections: drop,
    async close() {
      drop();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      for (const pid of sessions) endSession(pid);
    },
  };
}

function authenticate(context: AuthContext, authorized: readonly string[]): void {
  if (isAuthentic(context, authorized)) context.accept();
  else context.reject(['publickey']);
}

function isAuthentic(context: AuthContext, authorized: readonly string[]): boolean {
  if (context.method !== 'publickey') return false;
  const offered = `${context.key.algo} ${context.key.data.toString('base64')}`;
  if (!authorized.includes(offered)) return false;
  // Without a signature the client only asks whether this key would do.
  if (!context.signature || !context.blob) return true;
  const key = ssh2.utils.parseKey(offered);
  return !(key instanceof Error) && key.verify(context.blob, context.signature, context.hashAlgo) === true;
}

function serveSession(session: Session, entry: Entry, shell: () => string, sessions: Set<number>): void {
  session.on('exec', (accept, _reject, info) => {
    const channel = accept();
    const [program, ...words] = [...entry.argv, shell(), '-c', info.command];
    const child = spawn(program ?? '/bin/sh', words, {
      ...(entry.runAs ?? {}),
      cwd: '/',
      detached: true,
      env: {PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/', USER: 'root', LOGNAME: 'root', SHELL: '/bin/sh'},
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const pid = child.pid;
    if (pid !== undefined) sessions.add(pid);
    let open = true;
    for (const stream of [child.stdin, child.stdout, child.stderr, channel]) stream.on('error', () => {});
    if (entry.heard)
      listen(info.command, {stdin: channel, stdout: child.stdout, stderr: child.stderr}, child, entry.heard);
    channel.pipe(child.stdin);
    child.stdout.on('data', (chunk: Buffer) => open && channel.write(chunk));
    child.stderr.on('data', (chunk: Buffer) => open && channel.stderr.write(chunk));
    child.on('close', (code, signal) => {
      if (pid !== undefined) sessions.delete(pid);
      if (!open) return;
      if (signal) channel.exit(signal.replace(/^SIG/, ''));
      else channel.exit(code ?? 255);
      channel.end();
    });
    channel.on('close', () => {
      open = false;
      // As sshd does: the pipes go, the command stays.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    });
  });
}

function listen(
  command: string,
  streams: Readonly<Record<'stdin' | 'stdout' | 'stderr', Readable>>,
  child: ChildProcess,
  heard: (exec: HeardExec) => void,
): void {
  const startedAtMs = Date.now();
  const said = {stdin: '', stdout: '', stderr: ''};
  for (const name of ['stdin', 'stdout', 'stderr'] as const)
    streams[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString();
    });
  child.once('close', (code, signal) =>
    heard({command, startedAtMs, ms: Date.now() - startedAtMs, ...said, end: signal ?? String(code)}),
  );
}

/** A cut link, not a goodbye. */
function destroy(connection: Connection): void {
  const socket = (connection as unknown as {_sock?: {destroy(): void}})._sock;
  if (socket) socket.destroy();
  else connection.end();
}

/** The command's own session, which `detached` made it leader of. */
function endSession(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Ended by itself.
  }
}
