/** Opening a run and adding to it. Each is one transaction that happens whole, or not at all. */
import type {RunId} from '../domain/run.ts';
import type {Append, AppendResult, RunStore} from '../engine/ports.ts';
import {addEvents, commitStep} from './commit-step.ts';
import {isOwner, leaseColumns} from './leases.ts';
import type {Reader} from './read-runs.ts';
import {loadRun, mustLoadRun, openRunOn, openRunOnMachine} from './read-runs.ts';
import {isUniqueViolation} from './store-error.ts';

/** Version 1 with its first event. The index by host decides between two that come at once. */
export async function openRun({db, path}: Reader, run: Parameters<RunStore['open']>[0]): ReturnType<RunStore['open']> {
  const {id, host, atMs, requester, event, owner} = run;
  for (;;) {
    try {
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto('runs')
          .values({
            id,
            host,
            requester,
            phase: 'looking',
            version: 1,
            created_at_ms: atMs,
            boot_id: null,
            pid_namespace: null,
            stop_by: null,
            stop_at_ms: null,
            next_look_ms: null,
            ...leaseColumns(owner),
          })
          .execute();
        await addEvents(trx, id, 1, [event]);
      });
      return {ok: true, run: {id, host, phase: 'looking', version: 1, createdAtMs: atMs, events: [event]}};
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      const busy = await openRunOn({db, path}, host);
      if (busy !== null) return {ok: false, busy};
      if ((await loadRun({db, path}, id)) !== null) throw new Error(`Internal error: run id ${id} was given twice`);
      // The other run closed between our two statements: the host is free now.
    }
  }
}

export async function appendToRun({db, path}: Reader, append: Append): Promise<AppendResult> {
  try {
    return await db.transaction().execute(async (trx): Promise<AppendResult> => {
      const row = await trx.selectFrom('runs').selectAll().where('id', '=', append.runId).executeTakeFirst();
      if (row === undefined) return {ok: false, conflict: 'version', other: null};
      if (row.version !== append.expectedVersion) return refused('version', {db: trx, path}, append.runId);
      if (append.owner !== undefined && !isOwner(row, append.owner)) {
        return refused('lease-lost', {db: trx, path}, append.runId);
      }
      await commitStep(trx, row, append);
      return {ok: true, run: await mustLoadRun({db: trx, path}, append.runId)};
    });
  } catch (error) {
    if (!isUniqueViolation(error) || append.machine === undefined) throw error;
    return {ok: false, conflict: 'machine-busy', other: await openRunOnMachine({db, path}, append.machine)};
  }
}

async function refused(conflict: 'version' | 'lease-lost', reader: Reader, id: RunId): Promise<AppendResult> {
  return {ok: false, conflict, other: await loadRun(reader, id)};
}
