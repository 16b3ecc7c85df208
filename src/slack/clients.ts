/**
 * Two clients of the Web API. What must arrive has few tries of its own and an outbox behind it; what only shows progress
 * is dropped at the first trouble. Both have explicit retries and a timeout: the library's own settings wait half an hour.
 */
import {webApi} from '@slack/bolt';
import type {Log} from '../engine/ports.ts';
import type {Secret} from '../secret.ts';
import {boltLogger} from './bolt-logger.ts';

export interface Clients {
  readonly deliver: webApi.WebClient;
  readonly progress: webApi.WebClient;
}

export const API_TIMEOUT_MS = 10_000;
const PROGRESS_TIMEOUT_MS = 5_000;

/** Tries of one call; after them the outbox tries again. The server's Retry-After is waited for in between. */
export const DELIVER_RETRIES = {retries: 2, factor: 2, minTimeout: 300, maxTimeout: 2_000} as const;

export function makeClients(options: {
  readonly botToken: Secret;
  readonly apiUrl: string | null;
  readonly log: Log;
  /** Slack answered something, whatever it was. */
  readonly onAnswer: () => void;
}): Clients {
  const shared = {
    fetch: async (...request: Parameters<typeof fetch>) => {
      const answer = await fetch(...request);
      if (answer.ok) options.onAnswer();
      return answer;
    },
    logger: boltLogger(options.log),
    ...(options.apiUrl === null ? {} : {slackApiUrl: options.apiUrl}),
  };
  const token = options.botToken.reveal();
  return {
    deliver: new webApi.WebClient(token, {...shared, timeout: API_TIMEOUT_MS, retryConfig: {...DELIVER_RETRIES}}),
    progress: new webApi.WebClient(token, {
      ...shared,
      timeout: PROGRESS_TIMEOUT_MS,
      retryConfig: {retries: 0},
      rejectRateLimitedCalls: true,
    }),
  };
}
