/** Login shells of careless hosts: what stands between sshd and a remote command there. */

export type LoginShell = 'normal' | 'prints' | 'eats-stdin' | 'sleeps' | 'ends' | 'nologin';

/** Bodies of the faulty ones. `sleeps` reads its seconds from the lab's control folder. */
export const SHELL_FAULTS: Readonly<Record<Exclude<LoginShell, 'normal'>, string>> = {
  prints: 'echo "Welcome to the lab"; echo "2 updates can be applied" >&2; exec /bin/sh "$@"',
  'eats-stdin': 'cat > /dev/null; exec /bin/sh "$@"',
  sleeps: 'sleep "$(cat "$(dirname "$0")/../control/shell-sleep-s")"; exec /bin/sh "$@"',
  ends: 'exit 0',
  nologin: 'echo "This account is currently not available."; exit 1',
};
