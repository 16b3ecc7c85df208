/**
 * Every expected failure, one member each. The sentence for people is made in `report/wording.ts` from these facts;
 * nobody else spells one. Bugs are thrown instead, and their message starts with "Internal error:".
 */
import type {HostName} from './host.ts';
import type {RunId} from './run.ts';

export type Failure = SshFailure | ProbeFailure | RequestFailure | RunFailure | HoldFailure | StoreFailure;

/** What can go wrong between us and the host's shell. */
export type SshFailure =
  /** No line for this host in known_hosts and no pinned key. `lineToAdd` is what an admin may add after checking it. */
  | {
      readonly reason: 'host-key-unknown';
      readonly host: HostName;
      readonly fingerprint: string;
      readonly lineToAdd: string;
    }
  | {
      readonly reason: 'host-key-mismatch';
      readonly host: HostName;
      readonly fingerprint: string;
      readonly expected: readonly string[];
    }
  | {readonly reason: 'host-key-revoked'; readonly host: HostName; readonly fingerprint: string}
  /** Only a `@cert-authority` line matches, and host certificates are not supported. */
  | {readonly reason: 'host-key-ca-only'; readonly host: HostName}
  | {readonly reason: 'known-hosts-unreadable'; readonly host: HostName; readonly path: string; readonly detail: string}
  | {readonly reason: 'host-unreachable'; readonly host: HostName; readonly address: string; readonly detail: string}
  /** The server closed before the handshake: MaxStartups, a per-source penalty or a tcp wrapper. */
  | {readonly reason: 'host-hung-up'; readonly host: HostName; readonly detail: string}
  | {readonly reason: 'handshake-timed-out'; readonly host: HostName; readonly afterMs: number}
  | {readonly reason: 'no-common-algorithm'; readonly host: HostName; readonly detail: string}
  | {readonly reason: 'login-refused'; readonly host: HostName; readonly user: string; readonly detail: string}
  | {readonly reason: 'key-unusable'; readonly host: HostName; readonly path: string; readonly detail: string}
  | {readonly reason: 'too-many-sessions'; readonly host: HostName}
  /** The connection ended before the remote command did. `mayHaveActed`: a signal may have been, or may yet be, delivered. */
  | {readonly reason: 'link-lost'; readonly host: HostName; readonly mayHaveActed: boolean}
  | {
      readonly reason: 'command-timed-out';
      readonly host: HostName;
      readonly afterMs: number;
      readonly mayHaveActed: boolean;
    }
  /** The account has no usable shell (nologin). */
  | {readonly reason: 'no-shell'; readonly host: HostName; readonly said: string}
  /** The login shell printed, ate, or ended the script: no framed answer came back. */
  | {
      readonly reason: 'shell-interfered';
      readonly host: HostName;
      readonly said: string;
      readonly exitCode: number | null;
      /** Only for a signalling command: no word came back, but its script may have run unseen. */
      readonly mayHaveActed?: boolean;
    }
  /** The signalling script arrived incomplete and refused to run: nothing was sent. */
  | {readonly reason: 'script-refused'; readonly host: HostName}
  | {readonly reason: 'sudo-refused'; readonly host: HostName; readonly user: string; readonly said: string};

/** What can go wrong in reading a probe. */
export type ProbeFailure =
  | {readonly reason: 'probe-unreadable'; readonly host: HostName; readonly section: string; readonly detail: string}
  /** The script needs a version that this program does not know, in a saved transcript. */
  | {readonly reason: 'transcript-unreadable'; readonly path: string; readonly detail: string};

/** What can be wrong with what a person asked for. */
export type RequestFailure =
  | {readonly reason: 'verb-unknown'; readonly verb: string; readonly nearest: readonly string[]}
  | {readonly reason: 'host-unknown'; readonly host: string; readonly nearest: readonly string[]}
  | {readonly reason: 'host-is-address'; readonly host: string; readonly known: readonly string[]}
  | {readonly reason: 'host-missing'; readonly verb: string; readonly known: readonly string[]}
  /** `given`: the group or pattern that fits all of them; left out: they were named one by one. */
  | {readonly reason: 'one-host-only'; readonly hosts: readonly string[]; readonly given?: string}
  /** `expected` is a right example in words, e.g. "30s, 5m or 1h". */
  | {readonly reason: 'argument-bad'; readonly argument: string; readonly value: string; readonly expected: string}
  /** `hint`: what to do where no other spelling helps, without the dot. */
  | {
      readonly reason: 'argument-unknown';
      readonly argument: string;
      readonly nearest: readonly string[];
      readonly hint?: string;
    }
  | {readonly reason: 'command-too-long'; readonly characters: number; readonly limit: number}
  /** A verb that is not for this door; `instead`: what is, as a sentence. */
  | {readonly reason: 'verb-elsewhere'; readonly verb: string; readonly instead: string}
  | {
      readonly reason: 'gpu-absent';
      readonly host: HostName;
      readonly asked: string;
      readonly present: readonly number[];
    }
  | {readonly reason: 'config-bad'; readonly mistakes: readonly ConfigMistake[]}
  /** A time that does not read: what was said, what is wrong in it, and what to say instead. */
  | {
      readonly reason: 'schedule-unreadable';
      readonly phrase: string;
      readonly problem: string;
      readonly wayOut: string;
    }
  | {readonly reason: 'schedule-unknown'; readonly given: string; readonly nearest: readonly string[]}
  /** It stands in the policy file, and would be back at the next start. */
  | {readonly reason: 'schedule-in-file'; readonly name: string}
  | {readonly reason: 'too-many-schedules'; readonly limit: number}
  /** A `when PID exits` for a process that is not there. */
  | {readonly reason: 'process-absent'; readonly host: HostName; readonly pid: number}
  | {readonly reason: 'campaign-unknown'; readonly given: string; readonly nearest: readonly string[]};

/** One mistake in a file or the environment: where, what, and the way out. */
export interface ConfigMistake {
  readonly file: string;
  /** Path inside the file, e.g. `hosts.gpu-07.look.keyFile`; empty for the file as a whole. */
  readonly path: string;
  readonly problem: string;
  readonly wayOut: string;
}

/** Why a run is refused, ends, or cannot go on. */
export type RunFailure =
  | {readonly reason: 'host-observe-only'; readonly host: HostName}
  /** Marked as practice, and no lab: `gpu` is the first that is real; null: none was seen at all. */
  | {readonly reason: 'not-a-practice-host'; readonly host: HostName; readonly gpu: string | null}
  | {readonly reason: 'host-busy'; readonly host: HostName; readonly runId: RunId; readonly by: string}
  | {readonly reason: 'machine-busy'; readonly host: HostName; readonly otherHost: HostName; readonly runId: RunId}
  | {readonly reason: 'too-many-open-runs'; readonly limit: number}
  | {
      readonly reason: 'too-many-runs-by-person';
      readonly person: string;
      readonly limit: number;
      readonly windowMs: number;
      readonly againAtMs: number;
    }
  | {readonly reason: 'too-many-targets'; readonly count: number; readonly limit: number}
  | {readonly reason: 'paused'; readonly by: string; readonly atMs: number}
  | {readonly reason: 'no-approvers'}
  | {readonly reason: 'not-an-approver'; readonly person: string; readonly approvers: readonly string[]}
  /** The plan reaches beyond ghosts and the requester's own processes: somebody else must give the go. */
  | {
      readonly reason: 'needs-another-approver';
      readonly person: string;
      readonly approvers: readonly string[];
      readonly breakGlass: boolean;
    }
  | {readonly reason: 'break-glass-needs-reason'; readonly person: string}
  | {
      readonly reason: 'already-decided';
      readonly runId: RunId;
      readonly by: string;
      readonly decision: string;
      readonly atMs: number;
    }
  | {readonly reason: 'approval-expired'; readonly runId: RunId; readonly atMs: number}
  | {readonly reason: 'plan-outdated'; readonly runId: RunId; readonly given: string; readonly current: string}
  /** A choice by hand that makes no plan; `pid` is the one in the way. */
  | {
      readonly reason: 'choice-refused';
      readonly runId: RunId;
      readonly pid: number | null;
      readonly why: 'nobody' | 'not-offered' | 'server-above-kept-work' | 'machine-changed' | 'form-unknown';
    }
  | {readonly reason: 'confirmation-mismatch'; readonly given: string; readonly expected: string}
  | {readonly reason: 'no-terminal'; readonly runId: RunId; readonly confirm: string}
  | {readonly reason: 'run-unknown'; readonly given: string; readonly nearest: readonly string[]}
  | {readonly reason: 'run-ended'; readonly runId: RunId; readonly outcome: string}
  | {readonly reason: 'nothing-pending'; readonly host: HostName}
  /** An earlier exec was lost; until the host's uptime passes `untilUptimeMs` its signal may still arrive. */
  | {
      readonly reason: 'signal-may-still-arrive';
      readonly host: HostName;
      readonly runId: RunId;
      readonly waitMs: number;
    };

/** A hold on GPUs, as far as a refusal names it. */
export interface HoldInTheWay {
  readonly id: string;
  readonly kind: 'profile' | 'keep';
  readonly by: string;
  readonly label: string | null;
  /** null: all of the host's, or none where processes are held. */
  readonly gpus: readonly number[] | null;
  /** Left out: it is about GPUs alone. */
  readonly processes?: readonly {readonly pid: number; readonly title: string}[];
  readonly untilMs: number | null;
}

/** What GPUs that somebody holds stand in the way of. */
export type HoldFailure =
  /** A reclaim of them: by others only with a reason for overriding it. */
  | {readonly reason: 'gpus-held'; readonly host: HostName; readonly holds: readonly HoldInTheWay[]}
  /** Another hold of them. */
  | {readonly reason: 'held-already'; readonly hold: HoldInTheWay}
  /** A look there that nobody asked for by the host's name: it would sit in the measurement. */
  | {readonly reason: 'host-measured'; readonly host: HostName; readonly hold: HoldInTheWay}
  | {readonly reason: 'not-the-holder'; readonly hold: HoldInTheWay}
  /** The question whether an idle campaign is over: somebody was first. */
  | {
      readonly reason: 'idle-answered';
      readonly hold: HoldInTheWay;
      readonly answer: 'end' | 'keep';
      readonly by: string;
      readonly atMs: number;
    }
  /** Its time has passed: there is nothing to keep. */
  | {readonly reason: 'hold-over'; readonly hold: HoldInTheWay}
  /** A report of a campaign that still runs, or the end of one that is ended. */
  | {readonly reason: 'campaign-running'; readonly hold: HoldInTheWay}
  | {readonly reason: 'campaign-ended'; readonly hold: HoldInTheWay; readonly by: string; readonly atMs: number};

/** What can go wrong with our own memory. */
export type StoreFailure =
  /** Another bot has this store: two would answer every click twice. */
  | {readonly reason: 'store-in-use'; readonly path: string}
  | {readonly reason: 'store-unwritable'; readonly path: string; readonly detail: string}
  | {readonly reason: 'store-unreadable'; readonly path: string; readonly detail: string};

export type Result<T, F = Failure> = {readonly ok: true; readonly value: T} | {readonly ok: false; readonly failure: F};

export function ok<T>(value: T): {readonly ok: true; readonly value: T} {
  return {ok: true, value};
}

export function fail<F extends Failure>(failure: F): {readonly ok: false; readonly failure: F} {
  return {ok: false, failure};
}

/** Closes an exhaustive switch: a new member of the union then fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`Internal error: unexpected value ${JSON.stringify(value)}`);
}
