/** Failures between us and the host's shell, one sentence each. */
import {type SshFailure, unreachable} from '../domain/failure.ts';
import {span} from './amounts.ts';
import {safeLine} from './safe-text.ts';

export function sshSentence(failure: SshFailure): string {
  switch (failure.reason) {
    case 'host-key-unknown':
      return `${failure.host}: host key ${failure.fingerprint} is not known, so the connection was refused; check the fingerprint on the host, then add this line: ${safeLine(failure.lineToAdd, 1000)}`;
    case 'host-key-mismatch':
      return `${failure.host}: the host key has CHANGED (now ${failure.fingerprint}, expected ${failure.expected.join(' or ')}): another machine answers, or it was reinstalled; nothing was sent.`;
    case 'host-key-revoked':
      return `${failure.host}: host key ${failure.fingerprint} is marked @revoked in known_hosts; nothing was sent.`;
    case 'host-key-ca-only':
      return `${failure.host}: known_hosts has only a @cert-authority line for it, and host certificates are not supported; add the host's plain key as well.`;
    case 'known-hosts-unreadable':
      return `${failure.host}: ${safeLine(failure.path)} cannot be read (${safeLine(failure.detail)}), so no host key can be trusted.`;
    case 'host-unreachable':
      return `${failure.host} (${safeLine(failure.address)}) cannot be reached: ${safeLine(failure.detail)}.`;
    case 'host-hung-up':
      return `${failure.host} closed the connection before logging in (${safeLine(failure.detail)}); its sshd may be overloaded or penalising this address, so wait half a minute before asking again.`;
    case 'handshake-timed-out':
      return `${failure.host} accepted the connection but did not finish the handshake within ${span(failure.afterMs)}: the host may be thrashing.`;
    case 'no-common-algorithm':
      return `${failure.host} and this program share no key exchange or host key algorithm (${safeLine(failure.detail)}).`;
    case 'login-refused':
      return `${failure.host} refused the login of ${safeLine(failure.user)} (${safeLine(failure.detail)}); check the key in the hosts file against authorized_keys.`;
    case 'key-unusable':
      return `${failure.host}: the key ${safeLine(failure.path)} cannot be used: ${safeLine(failure.detail)}.`;
    case 'too-many-sessions':
      return `${failure.host} refused one more session on the open connection (MaxSessions); try again in a moment.`;
    case 'link-lost':
      return failure.mayHaveActed
        ? `The connection to ${failure.host} was lost while signals may have been under way; the host is looked at again before anything else.`
        : `The connection to ${failure.host} was lost before it answered; nothing was sent.`;
    case 'command-timed-out':
      return `${failure.host} did not answer within ${span(failure.afterMs)}${failure.mayHaveActed ? '; signals may have been sent, so it is looked at again before anything else' : ', and nothing was sent'}.`;
    case 'no-shell':
      return `${failure.host}: the account has no usable shell, it says "${safeLine(failure.said, 120)}".`;
    case 'shell-interfered': {
      const said = failure.said === '' ? '' : `, it said "${safeLine(failure.said, 120)}"`;
      const ended = `exit code ${failure.exitCode ?? 'none'}${said}`;
      return failure.mayHaveActed === true
        ? `${failure.host}: the login shell hid the script's answer (${ended}), so signals may have been sent; the host is looked at again. Look into the account's .bashrc.`
        : `${failure.host}: the login shell ended or ate the script before it ran (${ended}); look into the account's .bashrc.`;
    }
    case 'script-refused':
      return `${failure.host}: the signalling script arrived incomplete and refused to run; nothing was sent.`;
    case 'sudo-refused':
      return `${failure.host}: sudo refused ${safeLine(failure.user)} ("${safeLine(failure.said, 120)}"); manifests/sudoers.gpu-reclaim has the rule it needs.`;
    default:
      return unreachable(failure);
  }
}
