/** What is about to be done, as the event that must be on disk before it is. */
import type {Move} from '../domain/escalation.ts';
import type {SignalBatch} from '../domain/order.ts';
import type {RunEvent} from '../domain/run.ts';
import {stoppedOwner} from './asked-stops.ts';
import type {Ladder} from './ladder.ts';

/** null where the move only watches. */
export function intentOf(move: Move, batch: SignalBatch, ladder: Ladder, rung: number, atMs: number): RunEvent | null {
  const {machine, notAfterUptimeMs} = batch;
  if (move.do === 'stop-owner' && batch.stop !== null) {
    const {members, timeoutMs} = batch.stop;
    const owner = stoppedOwner(ladder.stops.at(move.at));
    const identities = members.map((member) => member.identity);
    return {kind: 'stop-intended', atMs, rung, owner, identities, machine, notAfterUptimeMs, timeoutMs};
  }
  if (move.do !== 'signal' || batch.orders.length === 0) return null;
  const identities = batch.orders.map((order) => order.identity);
  return {kind: 'signal-intended', atMs, rung, identities, signal: move.signal, machine, notAfterUptimeMs};
}
