/** What ssh2 says when no connection comes about -> the named failure. By level first, then by message. */
import type {SshFailure} from '../domain/failure.ts';
import type {HostAccess} from './access.ts';

export interface ConnectTrouble {
  readonly message: string;
  /** `level` of ssh2: client-socket, client-dns, client-timeout, client-authentication, handshake, protocol. */
  readonly level: string | null;
  /** errno name, or the number of the server's disconnect. */
  readonly code: string | number | null;
}

export function troubleOf(error: unknown): ConnectTrouble {
  if (!(error instanceof Error)) return {message: String(error), level: null, code: null};
  const {level, code} = error as Error & {level?: string; code?: string | number};
  return {message: error.message, level: level ?? null, code: code ?? null};
}

export function classifyConnect(
  access: HostAccess,
  user: string,
  trouble: ConnectTrouble,
  readyTimeoutMs: number,
): SshFailure {
  const host = access.name;
  const detail = trouble.message;
  const unreachable: SshFailure = {reason: 'host-unreachable', host, address: access.address, detail};
  const hungUp: SshFailure = {reason: 'host-hung-up', host, detail};

  if (trouble.level === 'client-authentication' || /too many authentication failures/i.test(detail)) {
    return {reason: 'login-refused', host, user, detail};
  }
  if (trouble.level === 'handshake') return {reason: 'no-common-algorithm', host, detail};
  if (trouble.level === 'client-timeout') return {reason: 'handshake-timed-out', host, afterMs: readyTimeoutMs};
  if (trouble.level === 'client-dns') return unreachable;
  if (trouble.level === 'client-socket') return HUNG_UP.has(String(trouble.code)) ? hungUp : unreachable;
  // MaxStartups, a per-source penalty, a tcp wrapper; a number is the server's own disconnect.
  if (trouble.level === 'protocol' || typeof trouble.code === 'number') return hungUp;
  return unreachable;
}

/** Worth one more try, later: only where the server may have been too busy. Never after a refused login or host key. */
export function mayPassWithTime(failure: SshFailure): boolean {
  return failure.reason === 'host-hung-up' || failure.reason === 'handshake-timed-out';
}

const HUNG_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
