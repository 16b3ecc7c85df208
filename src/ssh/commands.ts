/**
 * The command strings given to the login shell. Constants but for limits, host settings and one nonce, and plain words
 * only, so that bash, dash, zsh, fish, tcsh, mksh and rbash all read them alike. Everything else travels on stdin.
 */
import type {HostAccess} from './access.ts';

const STANDARD_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The read-only form: `sh -s` with the script on stdin. `timeout` outside of sudo, since a signal to sudo's own process
 * group must reach both; `env -i`, since a login shell may export functions that would stand in for ps or readlink.
 */
export function probeCommand(access: HostAccess, limitMs: number): string {
  return `${wrapped(access, limitMs)} sh -s`;
}

/** Lines to put before a probe's script: sudo drops PATH and LD_LIBRARY_PATH, so the script sets them again. */
export function probePrelude(access: HostAccess): string {
  return access.sudo ? `:\n${assignments(access)}\n` : '';
}

/**
 * The signalling form: nothing runs unless the whole script arrived, first line to last. A login shell that eats the
 * start, or a link that drops before the end, gives REFUSED and exit 97. `frameNonce` is in argv, where every user of
 * the host can read it: it must not be the one that marks the answer.
 */
export function signalCommand(access: HostAccess, limitMs: number, frameNonce: string): string {
  if (!/^[0-9a-f]{16,64}$/.test(frameNonce)) throw new Error('Internal error: a frame nonce must be hex');
  const before = access.sudo ? `${assignments(access)}; ` : '';
  const verify = `s=$(cat); case $s in "#${frameNonce}"*"#${frameNonce}") eval "$s";; *) echo REFUSED; exit 97;; esac`;
  return `${wrapped(access, limitMs)} sh -c '${before}${verify}'`;
}

function wrapped(access: HostAccess, limitMs: number): string {
  const seconds = Math.max(1, Math.ceil(limitMs / 1000));
  const timeout = `timeout -k 2 ${seconds}`;
  if (access.sudo) return `${timeout} env -i PATH=${STANDARD_PATH} LC_ALL=C sudo -n`;
  return `${timeout} env -i ${variables(access).join(' ')}`;
}

function assignments(access: HostAccess): string {
  const set = variables(access);
  return `${set.join('; ')}; export ${set.map((variable) => variable.split('=')[0]).join(' ')}`;
}

function variables(access: HostAccess): readonly string[] {
  const libraries = plain(access.libraryPath).join(':');
  return [
    `PATH=${[...plain(access.extraPath), STANDARD_PATH].join(':')}`,
    'LC_ALL=C',
    ...(libraries === '' ? [] : [`LD_LIBRARY_PATH=${libraries}`]),
  ];
}

/** Folders come from the hosts file, which is checked when read; this is the second lock. */
function plain(folders: readonly string[]): readonly string[] {
  for (const folder of folders) {
    if (!/^\/[A-Za-z0-9._/+-]*$/.test(folder)) throw new Error(`Internal error: not a plain folder: ${folder}`);
  }
  return folders;
}
