/** In place of src/store/outbox.ts: nothing is owed to anybody. The chaos run must find out. */
import type {OutboxRow} from '../../../engine/ports.ts';

export async function addToOutbox(): Promise<void> {}

export async function owedRuns(): Promise<readonly never[]> {
  return [];
}

export async function pendingOutbox(): Promise<readonly OutboxRow[]> {
  return [];
}

export async function markPosted(): Promise<void> {}
