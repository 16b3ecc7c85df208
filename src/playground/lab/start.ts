/** Brings a lab of one kind up, or says why this machine refuses it. */
import {join} from 'node:path';
import {type ControlLink, startControl} from './control-link.ts';
import type {LabGpu} from './gpus.ts';
import {
  type Account,
  giveFolder,
  type LabFolder,
  makeLabFolder,
  writeControlConfig,
  writeSshdConfig,
} from './lab-folder.ts';
import {findSshd, freePort, untilServed} from './machine.ts';
import {type OwnServer, startOwnServer} from './own-server.ts';
import {childrenOf} from './proc-tree.ts';

/**
 * `root`: mount and PID namespace, several uids. `user`: the same in a user namespace, one uid.
 * `flat`: no namespace, the machine's own /proc.
 */
export type LabKind = 'root' | 'user' | 'flat';

export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** Where the lab is found again after it was started anew. */
export interface Door {
  readonly port: number;
  /** Holds its keys, made where they are missing, and the lab's own folder, made anew each time. */
  readonly folder: string;
}

export interface Started {
  readonly kind: LabKind;
  readonly folder: LabFolder;
  readonly link: ControlLink;
  readonly devices: string;
  readonly port: number;
  readonly shell: {current: string};
  /** null: real sshd inside. */
  readonly ownServer: OwnServer | null;
}

const ACCOUNTS: readonly Account[] = [
  {name: 'root', uid: 0},
  {name: 'bo', uid: 1500},
  {name: 'ana', uid: 1501},
];

export async function startKind(
  kind: LabKind,
  gpus: readonly LabGpu[],
  python: string,
  runAs: RunAs | null,
  door: Door | null = null,
): Promise<Started> {
  const folder = makeLabFolder(python, door?.folder ?? null);
  const devices = kind === 'flat' ? join(folder.path, 'dev') : '/dev';
  const sshd = kind === 'root' ? findSshd() : null;
  const sshdPort = sshd === null ? 0 : (door?.port ?? (await freePort()));
  writeSshdConfig(folder, sshdPort);
  const config = writeControlConfig(folder, {kind, gpus, devices, accounts: ACCOUNTS, sshd});
  if (runAs) giveFolder(folder.path, runAs);

  const control = [python, '-E', '-s', '-S', '-B', join(folder.path, 'inside', 'control.py'), config];
  const link = await startControl(folder.path, [...ENTERING[kind], ...control], runAs);
  const shell = {current: '/bin/sh'};
  try {
    if (sshd !== null) {
      if (!(await untilServed(sshdPort, 10_000))) throw new Error('sshd inside the lab did not start');
      return {kind, folder, link, devices, port: sshdPort, shell, ownServer: null};
    }
    const entry = {argv: entryInto(kind, link.keeperPid), runAs};
    const ownServer = await startOwnServer(
      folder.hostKeyFile,
      folder.authorized,
      entry,
      () => shell.current,
      door?.port,
    );
    return {kind, folder, link, devices, port: ownServer.port, shell, ownServer};
  } catch (error) {
    await link.end();
    throw error;
  }
}

const ENTERING: Readonly<Record<LabKind, readonly string[]>> = {
  root: ['unshare', '--mount', '--pid', '--fork', '--kill-child'],
  user: ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child'],
  flat: [],
};

/** nsenter forks after it has entered; its child leads a session of the lab's own (setsid does not fork there). */
function entryInto(kind: LabKind, keeperPid: number): readonly string[] {
  if (kind === 'flat') return [];
  const unshare = childrenOf(keeperPid)[0] ?? 0;
  const init = childrenOf(unshare)[0];
  if (init === undefined) throw new Error('Internal error: the lab has no first process');
  const user = kind === 'user' ? ['--user', '--preserve-credentials'] : [];
  return ['nsenter', '--target', String(init), ...user, '--mount', '--pid', '--', 'setsid', '--wait'];
}
