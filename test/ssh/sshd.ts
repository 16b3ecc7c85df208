/** A real OpenSSH server on loopback for one test file, with its own keys and configuration, ended by its PID. */
import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect, createServer} from 'node:net';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';

const SSHD = ['/usr/sbin/sshd', '/usr/bin/sshd'].find((path) => existsSync(path));

export const HAS_SSHD = SSHD !== undefined && programExists('ssh-keygen');

export interface Sshd {
  readonly port: number;
  readonly user: string;
  readonly folder: string;
  readonly clientKey: string;
  /** `ssh-ed25519 AAAA…` */
  readonly hostKey: string;
  readonly pid: number;
  /**
   * What the login shell does before the command, as sh text (a stand-in for .bashrc), and which shell runs the command.
   * `$SSH_ORIGINAL_COMMAND` is at hand.
   */
  login(before: string, shell?: string): void;
  stop(): Promise<void>;
}

export async function startSshd(extraConfig: readonly string[] = []): Promise<Sshd> {
  if (SSHD === undefined) throw new Error('no sshd');
  const folder = mkdtempSync(join(tmpdir(), 'reclaim-sshd-'));
  const hostKey = makeKey(folder, 'host');
  const clientKey = makeKey(folder, 'client');
  writeFileSync(join(folder, 'authorized_keys'), readFileSync(`${clientKey}.pub`));
  const login = (before: string, shell = 'sh'): void => {
    writeFileSync(join(folder, 'login'), `${before}\nexec ${shell} -c "$SSH_ORIGINAL_COMMAND"\n`);
  };
  login('');
  // Privilege separation wants its empty folder even where no service ever made it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', {recursive: true, mode: 0o755});
  const port = await freePort();
  writeFileSync(
    join(folder, 'config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'MaxStartups 100',
      `ForceCommand exec sh ${join(folder, 'login')}`,
      ...extraConfig,
      '',
    ].join('\n'),
  );
  const child = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'config')], {stdio: ['ignore', 'ignore', 'pipe']});
  await listening(child, port);
  return {
    port,
    user: userInfo().username,
    folder,
    clientKey,
    hostKey: readFileSync(`${hostKey}.pub`, 'utf8').split(' ').slice(0, 2).join(' '),
    pid: child.pid ?? 0,
    login,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, {recursive: true, force: true});
    },
  };
}

/** An unprotected key pair `folder/name`; answers the private key's path. */
export function makeKey(
  folder: string,
  name: string,
  type: readonly string[] = ['-t', 'ed25519'],
  passphrase = '',
): string {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', ...type, '-N', passphrase, '-C', name, '-f', path]);
  return path;
}

export function programExists(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  // `-e` logs "Server listening" once it does; anything before an exit is the reason.
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Server listening')) resolve();
    });
    child.once('exit', () => reject(new Error(`sshd ended: ${said}`)));
  });
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

/** sh text: sets `p` to the PID of the sshd that serves this command. */
const UP = [
  'p=$$; while :; do c=$(cat /proc/$p/comm); case $c in sshd*) break;; esac;',
  'p=$(sed -n "s/^PPid:.//p" /proc/$p/status); done;',
].join(' ');
/** Says `session=PID` of the sshd that serves this command. */
export const SAY_OWN_SSHD = `${UP} echo "session=$p"`;
export const KILL_OWN_SSHD = `${UP} kill -KILL $p; sleep 5`;
