/** What a working run is doing, in one line of its card. */
import type {SignalEvent} from '../domain/order.ts';
import {roughMemory, span} from './amounts.ts';
import {STOP_RESULT_WORD} from './owner-stop-words.ts';
import {RESULT_WORD, SEEN_WORD} from './wording.ts';

/** `sinceMs`: how long this run has been watched, by the host's clock. null: no news for people. */
export function progressLine(event: SignalEvent, sinceMs: number): string | null {
  switch (event.kind) {
    case 'order':
      return `${event.signal} to PID ${event.pid}: ${RESULT_WORD[event.result]}`;
    case 'seen':
      return event.observation === 'alive'
        ? null
        : `PID ${event.pid}: ${SEEN_WORD[event.observation]} after ${span(sinceMs)}`;
    case 'heartbeat':
      return `watching, ${span(sinceMs)}`;
    case 'memory':
      return `${roughMemory(Object.values(event.usedMiB).reduce((sum, used) => sum + used, 0))} still in use after ${span(sinceMs)}`;
    case 'stop':
      return `owner: ${STOP_RESULT_WORD[event.result]}`;
    case 'settled':
      return null;
  }
}
