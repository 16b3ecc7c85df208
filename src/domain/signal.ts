/** The two signals this program can send. */
export type Signal = 'SIGTERM' | 'SIGKILL';

/** signal(7), the numbers of the bits in /proc/PID/status masks. */
export const SIGNAL_NUMBER: Readonly<Record<Signal, number>> = {SIGTERM: 15, SIGKILL: 9};

/** True if the bit of `signal` is set in a mask of /proc/PID/status (SigBlk, SigIgn, …: hexadecimal, bit n-1 is signal n). */
export function maskHas(maskHex: string, signal: Signal): boolean {
  return (BigInt(`0x${maskHex || '0'}`) & (1n << BigInt(SIGNAL_NUMBER[signal] - 1))) !== 0n;
}
