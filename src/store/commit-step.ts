/** The write that every step of a run shares. */
import type {Transaction} from 'kysely';
import type {RunEvent, RunPhase} from '../domain/run.ts';
import type {Append, OutboxRow} from '../engine/ports.ts';
import {openApproval, withdrawApproval} from './approvals.ts';
import {NO_LEASE} from './leases.ts';
import {addToOutbox} from './outbox.ts';
import {EVENT_FORMAT, encodeEvent} from './run-codec.ts';
import type {RunRow, Schema} from './schema.ts';

/** What both an append and a decision write: phase and version, events, messages owed, and the approval that they touch. */
export async function commitStep(
  trx: Transaction<Schema>,
  row: RunRow,
  step: {
    readonly phase: RunPhase;
    readonly events: readonly RunEvent[];
    readonly outbox: readonly OutboxRow[];
    readonly openApproval?: Append['openApproval'];
    readonly machine?: Append['machine'];
    readonly releaseLease?: boolean;
    readonly nextLookAtMs?: number | null;
  },
): Promise<void> {
  if (row.phase === 'closed' && step.phase !== 'closed') {
    throw new Error(`Internal error: run ${row.id} is closed; an outcome is final`);
  }
  const version = row.version + 1;
  const updated = await trx
    .updateTable('runs')
    .set({
      phase: step.phase,
      version,
      ...(step.machine && {boot_id: step.machine.bootId, pid_namespace: step.machine.pidNamespace}),
      ...(step.releaseLease && NO_LEASE),
      ...(step.nextLookAtMs !== undefined && {next_look_ms: step.nextLookAtMs}),
    })
    .where('id', '=', row.id)
    .where('version', '=', row.version)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw new Error('Internal error: the version moved inside a transaction');
  await addEvents(trx, row.id, version, step.events);
  await addToOutbox(trx, version, step.events.at(-1)?.atMs ?? row.created_at_ms, step.outbox);
  if (step.openApproval !== undefined || step.phase !== 'awaiting-go') await withdrawApproval(trx, row.id);
  if (step.openApproval !== undefined) await openApproval(trx, row.id, version, step.openApproval);
}

export async function addEvents(
  trx: Transaction<Schema>,
  id: string,
  version: number,
  events: readonly RunEvent[],
): Promise<void> {
  const {last} = await trx
    .selectFrom('run_events')
    .select(({fn}) => fn.max<number | null>('seq').as('last'))
    .where('run_id', '=', id)
    .executeTakeFirstOrThrow();
  for (const [place, event] of events.entries()) {
    await trx
      .insertInto('run_events')
      .values({
        run_id: id,
        seq: (last ?? 0) + 1 + place,
        version,
        kind: event.kind,
        format: EVENT_FORMAT,
        at_ms: event.atMs,
        body: encodeEvent(event),
      })
      .execute();
  }
}
