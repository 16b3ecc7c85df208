/**
 * The clients of the Web API. None waits for a Retry-After by itself: the library would hold back all else of that client,
 * a form whose trigger lasts 3 s with it. All have a timeout: the library's own settings wait half an hour.
 */
import {webApi} from '@slack/bolt';
import type {Log} from '../engine/ports.ts';
import type {Secret} from '../secret.ts';
import {boltLogger} from './bolt-logger.ts';

export interface Clients {
  /** One try a call: whoever calls knows what may have been done, and has an outbox behind it. */
  readonly deliver: webApi.WebClient;
  /** Answers, forms, and questions: a few tries at once. */
  readonly ask: webApi.WebClient;
  /** One try, soon given up. */
  readonly progress: webApi.WebClient;
}

export const API_TIMEOUT_MS = 10_000;
const PROGRESS_TIMEOUT_MS = 5_000;

export const ASK_RETRIES = {retries: 2, factor: 2, minTimeout: 300, maxTimeout: 2_000} as const;

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
    rejectRateLimitedCalls: true,
    ...(options.apiUrl === null ? {} : {slackApiUrl: options.apiUrl}),
  };
  const token = options.botToken.reveal();
  return {
    deliver: new webApi.WebClient(token, {...shared, timeout: API_TIMEOUT_MS, retryConfig: {retries: 0}}),
    ask: new webApi.WebClient(token, {...shared, timeout: API_TIMEOUT_MS, retryConfig: {...ASK_RETRIES}}),
    progress: new webApi.WebClient(token, {...shared, timeout: PROGRESS_TIMEOUT_MS, retryConfig: {retries: 0}}),
  };
}
