/** A response_url: takes five answers in 30 minutes, also where the bot is no member. */
import type {PrivateMessage} from './desk.ts';

/** It takes nothing any more. */
export class SpentUrl extends Error {}

const TIMEOUT_MS = 10_000;

/** Rejects with SpentUrl where no further try can help. */
export function respondTo(url: string): (message: PrivateMessage) => Promise<void> {
  return async (message) => {
    const answered = await fetch(url, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // Read to its end, so that the connection can be used again.
    const said = await answered.text();
    if (answered.ok) return;
    if (answered.status === 404 || answered.status === 410) throw new SpentUrl(said.slice(0, 200));
    throw new Error(`response_url answered ${answered.status}: ${said.slice(0, 200)}`);
  };
}
