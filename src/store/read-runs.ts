/** Rows to runs. A run is read whole, or its reader is told which one can't be. */
import type {Kysely, SelectQueryBuilder} from 'kysely';
import {sql} from 'kysely';
import type {HostName} from '../domain/host.ts';
import {hostName} from '../domain/host.ts';
import type {Run, RunEvent, RunId} from '../domain/run.ts';
import {runId} from '../domain/run.ts';
import type {DueLook} from '../engine/ports.ts';
import {decodeEvent, decodePhase} from './run-codec.ts';
import type {EventRow, RunRow, Schema} from './schema.ts';
import {StoreError} from './store-error.ts';

/** A database, or a transaction on it, and the path that a failure names. */
export interface Reader {
  readonly db: Kysely<Schema>;
  readonly path: string;
}

/** More matches than a person can tell apart aren't read. */
const MOST_FOUND = 20;

export async function loadRun(reader: Reader, id: RunId): Promise<Run | null> {
  const runs = await readRuns(reader, (query) => query.where('id', '=', id));
  return runs[0] ?? null;
}

/** For a caller whose own transaction holds the row. */
export async function mustLoadRun(reader: Reader, id: RunId): Promise<Run> {
  const run = await loadRun(reader, id);
  if (run === null) throw new Error(`Internal error: run ${id} vanished inside a transaction`);
  return run;
}

/** Newest first, at most 20; an empty prefix finds none. */
export async function findRuns(reader: Reader, prefix: string): Promise<readonly Run[]> {
  if (prefix === '') return [];
  return readRuns(reader, (query) =>
    query.where(sql<string>`substr(id, 1, ${prefix.length})`, '=', prefix).limit(MOST_FOUND),
  );
}

export async function openRuns(reader: Reader): Promise<readonly Run[]> {
  return readRuns(reader, (query) => query.where('phase', '<>', 'closed'));
}

export async function recentRuns(reader: Reader, limit: number): Promise<readonly Run[]> {
  return readRuns(reader, (query) => query.limit(limit));
}

export async function openRunOn(reader: Reader, host: HostName): Promise<Run | null> {
  const runs = await readRuns(reader, (query) => query.where('host', '=', host).where('phase', '<>', 'closed'));
  return runs[0] ?? null;
}

/** Without the runs themselves: this is asked every few seconds. */
export async function laterLooks({db}: Reader, limit: number): Promise<readonly DueLook[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'host', 'next_look_ms'])
    .where('next_look_ms', 'is not', null)
    .orderBy('next_look_ms')
    .limit(limit)
    .execute();
  return rows.map((row) => ({runId: runId(row.id), host: hostName(row.host), dueAtMs: Number(row.next_look_ms)}));
}

/** The open run on that machine, under whatever name it was asked for. */
export async function openRunOnMachine(
  reader: Reader,
  machine: {readonly bootId: string; readonly pidNamespace: string},
): Promise<Run | null> {
  const runs = await readRuns(reader, (query) =>
    query
      .where('boot_id', '=', machine.bootId)
      .where('pid_namespace', '=', machine.pidNamespace)
      .where('phase', '<>', 'closed'),
  );
  return runs[0] ?? null;
}

/** Runs that are open or had a go: dry runs, refusals and plans that were left signal nobody and count for nothing. */
export async function countRunsBy(
  {db}: Reader,
  requester: string,
  sinceMs: number,
): Promise<{readonly count: number; readonly oldestAtMs: number | null}> {
  const row = await db
    .selectFrom('runs')
    .select(({fn}) => [fn.countAll<number>().as('count'), fn.min('created_at_ms').as('oldest')])
    .where('requester', '=', requester)
    .where('created_at_ms', '>=', sinceMs)
    .where(({or, eb, exists, selectFrom}) =>
      or([
        eb('phase', '<>', 'closed'),
        exists(
          selectFrom('approvals')
            .select('run_id')
            .whereRef('approvals.run_id', '=', 'runs.id')
            .where('decision', '=', 'approved'),
        ),
      ]),
    )
    .executeTakeFirstOrThrow();
  return {count: row.count, oldestAtMs: row.oldest};
}

type RunQuery = SelectQueryBuilder<Schema, 'runs', RunRow>;

async function readRuns(reader: Reader, narrow: (query: RunQuery) => RunQuery): Promise<readonly Run[]> {
  const query = reader.db.selectFrom('runs').selectAll().orderBy('created_at_ms', 'desc').orderBy('id', 'desc');
  const rows = await narrow(query).execute();
  const runs: Run[] = [];
  for (const row of rows) {
    const events = await reader.db
      .selectFrom('run_events')
      .selectAll()
      .where('run_id', '=', row.id)
      // Another program may append between the two reads: what is newer than the row belongs to the next look.
      .where('version', '<=', row.version)
      .orderBy('seq')
      .execute();
    runs.push(asRun(reader.path, row, events));
  }
  return runs;
}

function asRun(path: string, row: RunRow, events: readonly EventRow[]): Run {
  const phase = decodePhase(row.phase);
  if (phase === null) throw unreadable(path, row.id, `unknown phase ${JSON.stringify(row.phase)}`);
  return {
    id: runId(row.id),
    host: hostName(row.host),
    phase,
    version: row.version,
    createdAtMs: row.created_at_ms,
    events: events.map((event) => asEvent(path, event)),
  };
}

function asEvent(path: string, row: EventRow): RunEvent {
  const decoded = decodeEvent(row.format, row.body);
  if (!decoded.ok) throw unreadable(path, row.run_id, `event ${row.seq}: ${decoded.problem}`);
  return decoded.event;
}

function unreadable(path: string, id: string, problem: string): StoreError {
  return new StoreError({reason: 'store-unreadable', path, detail: `run ${id}: ${problem}`});
}
