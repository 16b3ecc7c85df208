/** Who works on a run. A lease has no clock: it ends when it is released, or when its owner is seen dead. */
import type {LeaseOwner, RunId} from '../domain/run.ts';
import type {Reader} from './read-runs.ts';
import type {LeaseColumns} from './schema.ts';

export const NO_LEASE: LeaseColumns = {
  lease_kind: null,
  lease_pid: null,
  lease_start_ticks: null,
  lease_boot_id: null,
  lease_by: null,
};

export function leaseColumns(owner: LeaseOwner): LeaseColumns {
  return {
    lease_kind: owner.kind,
    lease_pid: owner.pid,
    lease_start_ticks: owner.startTicks,
    lease_boot_id: owner.bootId,
    lease_by: owner.by,
  };
}

export function isOwner(row: LeaseColumns, owner: LeaseOwner): boolean {
  return (
    row.lease_pid === owner.pid && row.lease_start_ticks === owner.startTicks && row.lease_boot_id === owner.bootId
  );
}

export async function leaseOf({db}: Reader, id: RunId): Promise<LeaseOwner | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : asOwner(row);
}

export async function takeLease(
  {db}: Reader,
  id: RunId,
  owner: LeaseOwner,
  deadOwner: LeaseOwner | null,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const taken = await trx
      .updateTable('runs')
      .set(leaseColumns(owner))
      .where('id', '=', id)
      .where(({eb, and, or}) =>
        or([
          eb('lease_pid', 'is', null),
          ...(deadOwner === null
            ? []
            : [
                and([
                  eb('lease_pid', '=', deadOwner.pid),
                  eb('lease_start_ticks', '=', deadOwner.startTicks),
                  eb('lease_boot_id', '=', deadOwner.bootId),
                ]),
              ]),
        ]),
      )
      .executeTakeFirst();
    return taken.numUpdatedRows === 1n;
  });
}

/** Does nothing if somebody else has the lease by now. */
export async function releaseLease({db}: Reader, id: RunId, owner: LeaseOwner): Promise<void> {
  await db
    .transaction()
    .execute((trx) =>
      trx
        .updateTable('runs')
        .set(NO_LEASE)
        .where('id', '=', id)
        .where('lease_pid', '=', owner.pid)
        .where('lease_start_ticks', '=', owner.startTicks)
        .where('lease_boot_id', '=', owner.bootId)
        .execute(),
    );
}

function asOwner(row: LeaseColumns): LeaseOwner | null {
  const {lease_kind, lease_pid, lease_start_ticks, lease_boot_id, lease_by} = row;
  if (lease_pid === null || lease_start_ticks === null || lease_boot_id === null || lease_by === null) return null;
  const kind = lease_kind === 'bot' ? 'bot' : 'terminal';
  return {kind, pid: lease_pid, startTicks: lease_start_ticks, bootId: lease_boot_id, by: lease_by};
}
