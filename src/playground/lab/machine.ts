/** What this machine has for a lab: an interpreter, sshd, a free port. */
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {connect, createServer} from 'node:net';

/** Absolute path of a python3 that other users may run too, or null. */
export function findPython(): string | null {
  for (const path of ['/usr/bin/python3', '/usr/local/bin/python3']) if (existsSync(path)) return path;
  try {
    return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {encoding: 'utf8'}).trim();
  } catch {
    return null;
  }
}

/** sshd must be started by its absolute path. */
export function findSshd(): string | null {
  return ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd'].find((path) => existsSync(path)) ?? null;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('Internal error: no port was given');
  return address.port;
}

/** Waits for the first bytes of an SSH server's banner. */
export async function untilServed(port: number, deadlineMs: number): Promise<boolean> {
  const end = Date.now() + deadlineMs;
  while (Date.now() < end) {
    if (await banner(port)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function banner(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(2000);
    const settle = (seen: boolean): void => {
      socket.destroy();
      resolve(seen);
    };
    socket.once('data', (data) => settle(data.toString('latin1').startsWith('SSH-2.0-')));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.once('end', () => settle(false));
  });
}
