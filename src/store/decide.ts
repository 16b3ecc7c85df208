/** The go, the no, the end of the time, the cancelling: one conditional UPDATE lets one of them win. */
import type {Transaction} from 'kysely';
import type {DecideResult, RunStore} from '../engine/ports.ts';
import {commitStep} from './commit-step.ts';
import {leaseColumns, NO_LEASE} from './leases.ts';
import type {Reader} from './read-runs.ts';
import {mustLoadRun} from './read-runs.ts';
import type {ApprovalRow, Schema} from './schema.ts';

type Decision = Parameters<RunStore['decide']>[0];

/** The decision, its events, phase, messages and lease in one commit; or who was first, and nothing written. */
export async function decide({db, path}: Reader, decision: Decision): Promise<DecideResult> {
  return db.transaction().execute(async (trx): Promise<DecideResult> => {
    if (!(await winsPending(trx, decision))) return lost(await latestApproval(trx, decision.runId), decision);
    const {runId, owner, phase} = decision;
    const row = await trx.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirstOrThrow();
    await commitStep(trx, row, decision);
    if (owner !== null || phase === 'closed') {
      const lease = owner === null ? NO_LEASE : leaseColumns(owner);
      await trx.updateTable('runs').set(lease).where('id', '=', runId).execute();
    }
    return {won: true, run: await mustLoadRun({db: trx, path}, runId)};
  });
}

async function winsPending(trx: Transaction<Schema>, decision: Decision): Promise<boolean> {
  let update = trx
    .updateTable('approvals')
    .set({decision: decision.decision, decided_by: decision.by, decided_at_ms: decision.nowMs})
    .where('run_id', '=', decision.runId)
    .where('decision', '=', 'pending');
  if (decision.digest !== null) update = update.where('digest', '=', decision.digest);
  // Withdrawing and closing the book are possible after the time is up; a go and a no come too late.
  if (needsTime(decision)) update = update.where('expires_at_ms', '>', decision.nowMs);
  const updated = await update.executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

function lost(latest: ApprovalRow | undefined, decision: Decision): DecideResult {
  if (latest === undefined || latest.decision === 'withdrawn') return {won: false, why: 'none'};
  if (latest.decision === 'pending') {
    if (decision.digest !== null && decision.digest !== latest.digest) {
      return {won: false, why: 'outdated', currentDigest: latest.digest};
    }
    return {won: false, why: 'expired', atMs: latest.expires_at_ms};
  }
  if (latest.decision === 'expired') return {won: false, why: 'expired', atMs: latest.expires_at_ms};
  return {
    won: false,
    why: 'already-decided',
    by: latest.decided_by ?? '',
    decision: latest.decision,
    atMs: latest.decided_at_ms ?? 0,
  };
}

function needsTime(decision: Decision): boolean {
  return decision.decision === 'approved' || decision.decision === 'denied';
}

async function latestApproval(trx: Transaction<Schema>, runId: string): Promise<ApprovalRow | undefined> {
  return trx
    .selectFrom('approvals')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('opened_version', 'desc')
    .limit(1)
    .executeTakeFirst();
}
