/** The bounds that the SSH edge keeps. Each is a guard measured against a real server; none is a matter of taste. */
export interface Limits {
  /** TCP connect to end of login, ms (ssh2 `readyTimeout`). */
  readonly readyTimeoutMs: number;
  /** How long one call may spend on getting a connection, ms, retry included. A wait that would not fit is not begun. */
  readonly connectBudgetMs: number;
  /** Wait before the one retry after the server hung up, ms: sshd 9.8+ bans an address for about 20 s. */
  readonly hungUpBackoffMs: number;
  /** A silent link is lost after (countMax + 1) * interval. */
  readonly keepaliveIntervalMs: number;
  readonly keepaliveCountMax: number;
  /** The host's own limit for a probe, ms. */
  readonly probeTimeoutMs: number;
  /** Added to watch + verify for the host's own limit of a signalling command, ms. */
  readonly signalGraceMs: number;
  /** Added to the host's limit for our own deadline, ms: `timeout -k`, the login shell's start and the way back. */
  readonly ownGraceMs: number;
  /** After exit without an END marker: how long stdout may stay silent before it is given up, ms. */
  readonly exitGraceMs: number;
  /** After exit and END: how long the channel may take to close, ms. A background child holds it open. */
  readonly closeGraceMs: number;
  readonly probeMaxBytes: number;
  readonly signalMaxBytes: number;
  readonly stderrMaxBytes: number;
  /** Logins at once over the fleet, and to one address: sshd's MaxStartups 10:30:100. */
  readonly loginsAtOnce: number;
  readonly loginsPerAddress: number;
  /** Commands at once on one connection: sshd's MaxSessions is 10. One place is kept for a signalling command. */
  readonly execsAtOnce: number;
}

export const DEFAULT_LIMITS: Limits = {
  readyTimeoutMs: 12_000,
  connectBudgetMs: 20_000,
  hungUpBackoffMs: 30_000,
  keepaliveIntervalMs: 5_000,
  keepaliveCountMax: 2,
  probeTimeoutMs: 20_000,
  signalGraceMs: 10_000,
  ownGraceMs: 5_000,
  exitGraceMs: 2_000,
  closeGraceMs: 250,
  probeMaxBytes: 1024 * 1024,
  signalMaxBytes: 4 * 1024 * 1024,
  stderrMaxBytes: 64 * 1024,
  loginsAtOnce: 32,
  loginsPerAddress: 8,
  execsAtOnce: 4,
};
