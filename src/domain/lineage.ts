/** Parents, and the kinds of process that a line of parents is allowed to end at. */
import type {ProcessFacts, Snapshot} from './snapshot.ts';

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'fish', 'ksh', 'mksh', 'tcsh', 'csh', 'ash', 'busybox', 'rbash']);
const MULTIPLEXERS = new Set(['tmux', 'screen', 'byobu', 'zellij', 'dtach', 'abduco', 'mosh-server']);
const LOGINS = new Set(['sshd', 'sshd-session', 'login', 'su', 'sudo', 'doas', 'dropbear', 'telnetd']);
const SUPERVISORS = new Set([
  'systemd',
  'init',
  'runit',
  'runsv',
  's6-svscan',
  's6-supervise',
  'supervisord',
  'tini',
  'dumb-init',
  'catatonit',
  'sshd',
  'sshd-session',
  'login',
  'su',
  'sudo',
  'doas',
  'nohup',
  'setsid',
  'cron',
  'crond',
  'atd',
  'dockerd',
  'containerd',
  'containerd-shim',
  'docker-init',
  'conmon',
  'conmonrs',
  'crio',
  'slurmd',
  'slurmstepd',
  'srun',
  'kubelet',
  'ssh-agent',
  'runuser',
  'unshare',
  'nsenter',
  'timeout',
  'env',
]);

/** The same kinds of program, where they are scripts and the program file is only their interpreter. */
const SCRIPTS = /^(supervisord|circusd|jupyter(hub|lab)?|jupyter-(lab|notebook|server|labhub)|jupyterhub-singleuser)$/;
const INTERPRETER = /^(python|node|perl|ruby)[0-9.]*$/;

/** The name of the program file, the one name a process cannot choose; comm only where that cannot be read. */
export function programName(process: ProcessFacts): string {
  const path = process.executable?.path;
  return path === undefined ? process.comm : (path.split('/').at(-1) ?? process.comm);
}

/** Shell, terminal multiplexer, supervisor or container shim: somebody's environment, never part of a workload. */
export function isEnvironment(process: ProcessFacts): boolean {
  const name = programName(process);
  return (
    process.pid <= 1 ||
    process.kernelThread ||
    SHELLS.has(name) ||
    MULTIPLEXERS.has(name.replace(/:.*$/, '')) ||
    SUPERVISORS.has(name) ||
    name.startsWith('containerd-shim') ||
    // The kernel sets a script's comm to its file's name (execve(2)).
    (INTERPRETER.test(name) && SCRIPTS.test(process.comm))
  );
}

/** sh, bash and their kind, by the program file. */
export function isShell(process: ProcessFacts): boolean {
  return SHELLS.has(programName(process));
}

/** Words behind a shell's options that are the option's value, no script. */
const WITH_VALUE = /^(--(rcfile|init-file|init-command)|[-+][oO]|-C)$/;

/**
 * A shell that reads its commands from somebody, not from a file or `-c`. Above it stands the terminal, editor or agent that
 * it was opened in, whose command line says nothing of what was typed. (VS Code gives its terminals an --init-file.)
 */
export function isTypedInto(process: ProcessFacts): boolean {
  if (!isShell(process)) return false;
  const words = process.words.slice(1);
  return !words.some(
    (word, at) => /^-[a-z]*c$/.test(word) || (!/^[-+]/.test(word) && !WITH_VALUE.test(words[at - 1] ?? '')),
  );
}

/** Of a line of parents, nearest first, those that stand below the shell that somebody types into. */
export function belowTyping(line: readonly ProcessFacts[]): readonly ProcessFacts[] {
  const at = line.findIndex(isTypedInto);
  return at === -1 ? line : line.slice(0, at);
}

/** Lets a person in: what stands below one was typed by somebody, or could have been. */
export function opensTerminals(process: ProcessFacts): boolean {
  const name = programName(process);
  return LOGINS.has(name) || MULTIPLEXERS.has(name.replace(/:.*$/, ''));
}

/** Leads a session that strangers may share: a login shell, a multiplexer, PID 1, or a leader that is no more and so unknown. */
export function leadsStrangers(leader: ProcessFacts | undefined): boolean {
  return leader === undefined || isPlainZombie(leader) || isEnvironment(leader);
}

/** Dead, waits for its parent, holds nothing. A leader in state Z with other threads still lives in those. */
export function isPlainZombie(process: ProcessFacts): boolean {
  return (process.state === 'Z' || process.state === 'X') && process.threads <= 1;
}

export type ProcessTable = ReadonlyMap<number, ProcessFacts>;

export function processTable(snapshot: Snapshot): ProcessTable {
  return new Map(snapshot.processes.map((process) => [process.pid, process]));
}

/** Parent, grandparent, … as far as the table knows them; ends at PID 1, an unknown parent or a loop. */
export function ancestors(pid: number, table: ProcessTable): readonly ProcessFacts[] {
  const line: ProcessFacts[] = [];
  const seen = new Set<number>([pid]);
  let at = table.get(pid)?.ppid;
  while (at !== undefined && at > 0 && !seen.has(at)) {
    seen.add(at);
    const parent = table.get(at);
    if (parent === undefined) break;
    line.push(parent);
    at = parent.ppid;
  }
  return line;
}
