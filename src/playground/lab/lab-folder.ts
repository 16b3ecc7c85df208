/** The one folder that a lab writes to: programs, keys, fault switches. Removed by the lab's keeper. */
import {randomUUID} from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ssh2 from 'ssh2';
import type {LabGpu} from './gpus.ts';
import {SHELL_FAULTS} from './login-shells.ts';

export interface LabFolder {
  readonly path: string;
  readonly lookKeyFile: string;
  readonly actKeyFile: string;
  /** `ssh-ed25519 AAAA…` */
  readonly hostKey: string;
  readonly hostKeyFile: string;
  /** Public halves of the two login keys. */
  readonly authorized: readonly string[];
}

export interface Account {
  readonly name: string;
  readonly uid: number;
}

export interface ControlConfig {
  readonly kind: 'root' | 'user' | 'flat';
  readonly gpus: readonly LabGpu[];
  /** /dev, or the flat lab's own folder. */
  readonly devices: string;
  readonly accounts: readonly Account[];
  /** Path of sshd to start inside; null: the lab's server is ours. */
  readonly sshd: string | null;
}

/**
 * Writes everything that does not depend on the kind of lab. `python` is the interpreter that the stand-in runs under.
 * `kept`: the folder of a lab that is found again at the same place and by the same keys; null makes all anew.
 */
export function makeLabFolder(python: string, kept: string | null): LabFolder {
  const path = kept === null ? mkdtempSync(join(tmpdir(), 'gpu-reclaim-lab-')) : join(kept, 'lab');
  const keys = kept === null ? join(path, 'ssh') : join(kept, 'keys');
  if (kept !== null) {
    rmSync(path, {recursive: true, force: true});
    mkdirSync(path);
    mkdirSync(keys, {recursive: true, mode: 0o700});
  }
  for (const folder of ['bin', 'run', 'ssh', 'dev', 'control']) mkdirSync(join(path, folder));
  cpSync(fileURLToPath(new URL('inside', import.meta.url)), join(path, 'inside'), {recursive: true});
  const standIn = readFileSync(join(path, 'inside', 'nvidia_smi.py'), 'utf8');
  writeFileSync(join(path, 'bin', 'nvidia-smi'), `#!${python} -IS\n${standIn}`, {mode: 0o755});
  for (const [name, body] of Object.entries(SHELL_FAULTS)) {
    writeFileSync(join(path, 'bin', `shell-${name}`), `#!/bin/sh\n${body}\n`, {mode: 0o755});
  }
  for (const name of ['witness', 'holders.log', 'journal', 'cgroups', 'frozen'])
    writeFileSync(join(path, 'run', name), '');
  writeFileSync(join(path, 'run', 'boot_id'), `${randomUUID()}\n`);
  const login = ['look', 'act'].map((name) => keyAt(join(keys, name)));
  const hostKeyFile = join(keys, 'host_key');
  const hostKey = keyAt(hostKeyFile);
  writeFileSync(join(path, 'ssh', 'authorized_keys'), `${login.join('\n')}\n`);
  openToHolders(path);
  return {
    path,
    lookKeyFile: join(keys, 'look'),
    actKeyFile: join(keys, 'act'),
    hostKey,
    hostKeyFile,
    authorized: login,
  };
}

/** `port` 0 is no port: the caller finds a free one. */
export function writeSshdConfig(folder: LabFolder, port: number): void {
  const lines = [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${folder.hostKeyFile}`,
    `AuthorizedKeysFile ${join(folder.path, 'ssh', 'authorized_keys')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitUserRC no',
    'PidFile none',
    'UseDNS no',
    'PrintMotd no',
    'LogLevel VERBOSE',
  ];
  writeFileSync(join(folder.path, 'ssh', 'sshd_config'), `${lines.join('\n')}\n`);
}

export function writeControlConfig(folder: LabFolder, config: ControlConfig): string {
  const path = join(folder.path, 'lab.json');
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Hands the whole folder to the user that the lab runs as. */
export function giveFolder(path: string, owner: {readonly uid: number; readonly gid: number}): void {
  chownSync(path, owner.uid, owner.gid);
  for (const entry of readdirSync(path, {withFileTypes: true})) {
    if (entry.isDirectory()) giveFolder(join(path, entry.name), owner);
    else chownSync(join(path, entry.name), owner.uid, owner.gid);
  }
}

/** Holders run under several uids; each writes to the witness file and the log, and makes its command pipe. */
function openToHolders(path: string): void {
  chmodSync(path, 0o755);
  chmodSync(join(path, 'run'), 0o1777);
  for (const name of ['witness', 'holders.log']) chmodSync(join(path, 'run', name), 0o666);
}

/** The public half of the key that is there; a new key where none is. */
function keyAt(path: string): string {
  if (!existsSync(path)) return makeKey(path);
  const key = ssh2.utils.parseKey(readFileSync(path));
  if (key instanceof Error) throw new Error(`${path} is no key that can be read; remove it, and a new one is made`);
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

/** Writes a private ed25519 key; returns its public half, type and base64. */
export function makeKey(path: string): string {
  let pair = ssh2.utils.generateKeyPairSync('ed25519');
  // About one in 200 comes out a byte short (a leading zero is dropped), and nobody can read it.
  while (ssh2.utils.parseKey(pair.private) instanceof Error) pair = ssh2.utils.generateKeyPairSync('ed25519');
  writeFileSync(path, pair.private.endsWith('\n') ? pair.private : `${pair.private}\n`, {mode: 0o600});
  return pair.public.split(' ').slice(0, 2).join(' ');
}
