/** The rows behind the go: at most one is pending a run. */
import type {Transaction} from 'kysely';
import type {Append} from '../engine/ports.ts';
import type {Schema} from './schema.ts';

export async function openApproval(
  trx: Transaction<Schema>,
  runId: string,
  version: number,
  approval: NonNullable<Append['openApproval']>,
): Promise<void> {
  await trx
    .insertInto('approvals')
    .values({
      run_id: runId,
      opened_version: version,
      digest: approval.digest,
      expires_at_ms: approval.expiresAtMs,
      decision: 'pending',
      decided_by: null,
      decided_at_ms: null,
    })
    .execute();
}

/** A new plan replaces the old one's approval, and a run that has moved on needs none: a late click must find nothing. */
export async function withdrawApproval(trx: Transaction<Schema>, runId: string): Promise<void> {
  await trx
    .updateTable('approvals')
    .set({decision: 'withdrawn'})
    .where('run_id', '=', runId)
    .where('decision', '=', 'pending')
    .execute();
}
