/**
 * The one socket to Slack, kept open by ourselves. The library's own reconnect ends the process when it fails for good
 * (3.1.0: an unhandled rejection, whose value is undefined at a stop) and leaves a gap of seconds at each refresh: so it is
 * switched off, and each end of a connection is answered here, whatever version runs.
 */
import type {SocketModeReceiver} from '@slack/bolt';
import type {Clock, Log} from '../engine/ports.ts';
import {isFatal, troubleOf} from './api-errors.ts';

export interface Link {
  /** Connects, and again whenever it is lost, until `stop`. Resolves at the first connection; never rejects. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** For how long there has been no connection, ms; 0 while there is one. */
  downMs(): number;
}

const HELLO_WITHIN_MS = 20_000;
const CLOSE_WITHIN_MS = 2_000;
/** At once, since Slack itself asks for a fresh connection every few hours; then slower. */
const GAPS_MS = [0, 500, 1_000, 2_000, 5_000, 10_000] as const;
/** A connection that held so long was a good one. */
const HELD_MS = 10_000;

export function keepLink(deps: {
  /** Made with `autoReconnectEnabled: false`. */
  readonly client: SocketModeReceiver['client'];
  readonly clock: Clock;
  readonly log: Log;
  readonly onFatal: (error: unknown) => void;
}): Link {
  const {client, clock, log} = deps;
  const over = new AbortController();
  let downSinceTicks: number | null = clock.ticks();
  let keeping: Promise<void> | null = null;

  const connect = async (): Promise<void> => {
    const answered = new AbortController();
    const opening = client.start();
    const tooLate = clock
      .wait(HELLO_WITHIN_MS, AbortSignal.any([answered.signal, over.signal]))
      .then(() => Promise.reject(new Error('no hello from Slack in time')));
    // The one that loses the race is nobody's news.
    tooLate.catch(() => undefined);
    opening.catch(() => undefined);
    try {
      await Promise.race([opening, tooLate]);
    } catch (error) {
      // Left open without a hello, it could wake later beside its successor, and be acknowledged through the wrong one.
      void client.disconnect().catch(() => undefined);
      throw error;
    } finally {
      answered.abort();
    }
  };

  const keep = async (onFirst: () => void): Promise<void> => {
    for (let failures = 0; !over.signal.aborted; ) {
      const sinceTicks = clock.ticks();
      let hear: () => void = () => undefined;
      const lost = new Promise<void>((resolve) => {
        hear = () => resolve();
        client.once('disconnected', hear);
      });
      try {
        await connect();
        downSinceTicks = null;
        onFirst();
        log.info({}, 'connected to Slack');
        await lost;
      } catch (error) {
        if (isFatal(error)) return deps.onFatal(error);
        if (!over.signal.aborted) log.warn({trouble: troubleOf(error)}, 'no connection to Slack');
      } finally {
        // In an outage of hours each try would leave one behind.
        client.removeListener('disconnected', hear);
      }
      downSinceTicks ??= clock.ticks();
      failures = clock.ticks() - sinceTicks > HELD_MS ? 0 : failures + 1;
      const gapMs = GAPS_MS[Math.min(failures, GAPS_MS.length - 1)] ?? 0;
      if (gapMs > 0) await clock.wait(gapMs, over.signal);
    }
  };

  return {
    start: () =>
      new Promise<void>((resolve) => {
        keeping = keep(resolve);
      }),
    stop: async () => {
      over.abort();
      const closed = new AbortController();
      client.once('disconnected', () => closed.abort());
      // 3.1.0 may never settle this promise when the peer is gone.
      void client.disconnect().catch(() => undefined);
      await clock.wait(CLOSE_WITHIN_MS, closed.signal);
      await Promise.race([keeping, clock.wait(100)]);
    },
    downMs: () => (downSinceTicks === null ? 0 : clock.ticks() - downSinceTicks),
  };
}
