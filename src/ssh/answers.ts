/** What one exec said -> a transcript, or the failure by its name. Exit code 0 alone proves nothing; an END marker does. */
import {fail, ok, type Result, type SshFailure} from '../domain/failure.ts';
import type {Transcript} from '../domain/transcript.ts';
import type {HostAccess} from './access.ts';
import type {ExecAnswer} from './exec.ts';

export interface AnswerContext {
  readonly access: HostAccess;
  readonly user: string;
  readonly hostKey: string;
  readonly nonce: string;
}

/** A probe that began and came back without its END is handed on: the parser marks what is incomplete. */
export function readProbeAnswer(context: AnswerContext, answer: ExecAnswer): Result<Transcript, SshFailure> {
  const {name: host} = context.access;
  if (answer.end === 'refused') return fail(refusal(context, answer));
  if (answer.end === 'lost') return fail({reason: 'link-lost', host, mayHaveActed: false});
  if (answer.end === 'timed-out' || (!answer.ended && ranOutOfTime(answer))) {
    return fail({reason: 'command-timed-out', host, afterMs: Math.round(answer.tookMs), mayHaveActed: false});
  }
  return answer.began ? ok(transcript(context, answer)) : fail(withoutBegin(context, answer));
}

/** A signalling command without its END may have signalled, unless its script never left us or the host refused it. */
export function readSignalAnswer(context: AnswerContext, answer: ExecAnswer): Result<Transcript, SshFailure> {
  const {name: host} = context.access;
  if (answer.end === 'refused') return fail(refusal(context, answer));
  const mayHaveActed = answer.scriptSent;
  if (answer.end === 'timed-out' || (!answer.ended && ranOutOfTime(answer))) {
    return fail({reason: 'command-timed-out', host, afterMs: Math.round(answer.tookMs), mayHaveActed});
  }
  if (answer.ended) return ok(transcript(context, answer));
  if (answer.end === 'exited' && !answer.began) {
    if (answer.exitCode === 97 && /^REFUSED$/m.test(text(answer.stdout))) return fail({reason: 'script-refused', host});
    const failure = withoutBegin(context, answer);
    // A login shell that sends stdout elsewhere hides a script that ran: only words that name a refusal clear it.
    return fail(failure.reason === 'shell-interfered' ? {...failure, mayHaveActed} : failure);
  }
  return fail({reason: 'link-lost', host, mayHaveActed});
}

function transcript(context: AnswerContext, answer: ExecAnswer): Transcript {
  return {
    host: context.access.name,
    hostKey: context.hostKey,
    nonce: context.nonce,
    stdout: answer.stdout,
    stderr: answer.stderr,
    exitCode: answer.exitCode,
    tookMs: Math.round(answer.tookMs),
  };
}

function refusal(context: AnswerContext, answer: ExecAnswer): SshFailure {
  const {name: host} = context.access;
  // RFC 4254, 5.1: the reason of a refused channel; sshd says 2 (connect failed) past MaxSessions.
  if (answer.refusal?.reason !== null) return {reason: 'too-many-sessions', host};
  return {reason: 'shell-interfered', host, said: answer.refusal.message, exitCode: null};
}

function withoutBegin(context: AnswerContext, answer: ExecAnswer): SshFailure {
  const {name: host, sudo} = context.access;
  const said = `${text(answer.stdout)}\n${answer.stderr}`.trim().slice(0, 2000);
  if (sudo && SUDO_REFUSALS.test(answer.stderr)) {
    return {reason: 'sudo-refused', host, user: context.user, said: answer.stderr.trim().slice(0, 2000)};
  }
  if (NO_SHELL.test(said)) return {reason: 'no-shell', host, said};
  return {reason: 'shell-interfered', host, said, exitCode: answer.exitCode};
}

/** timeout(1): 124 at the limit, 137 (or death by KILL) if it had to be killed. */
function ranOutOfTime(answer: ExecAnswer): boolean {
  return (
    answer.exitCode === 124 ||
    answer.exitCode === 137 ||
    answer.exitSignal === 'KILL' ||
    answer.exitSignal === 'SIGKILL'
  );
}

function text(bytes: Buffer): string {
  return bytes.toString('utf8', 0, 16 * 1024);
}

const SUDO_REFUSALS =
  /a password is required|must have a tty|a terminal is required|not in the sudoers file|is not allowed to (?:execute|run)|may not run sudo/;
const NO_SHELL = /This account is (?:currently )?not available/;
