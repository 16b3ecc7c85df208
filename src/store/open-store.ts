/** Opens the embedded store: one SQLite file on a local disk, made private, brought up to date, proven writable. */
import {closeSync, mkdirSync, openSync, statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {Kysely} from 'kysely';
import type {Result, StoreFailure} from '../domain/failure.ts';
import {fail, ok} from '../domain/failure.ts';
import type {RunStore} from '../engine/ports.ts';
import {makeRunStore} from './run-store.ts';
import type {Schema} from './schema.ts';
import {MIGRATIONS} from './schema.ts';
import {SqliteDialect} from './sqlite-dialect.ts';
import type {SqliteDatabase} from './sqlite-library.ts';
import {load} from './sqlite-library.ts';
import {asStoreError, isBusy, StoreError} from './store-error.ts';

/** Another writer holds its lock for milliseconds; one that holds it this long hangs. SQLite waits inside the call. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens, or makes, the store at `path`. Fails as store-unwritable or store-unreadable; then nothing was changed. */
export async function openStore(path: string): Promise<Result<RunStore, StoreFailure>> {
  // An absolute path: SQLite would take `file:…` and `:memory:` for something else.
  const file = resolve(path);
  let database: SqliteDatabase | null = null;
  try {
    makePrivate(file);
    const {DatabaseSync} = await load();
    database = new DatabaseSync(file);
    await prepare(database, file);
    const db = new Kysely<Schema>({dialect: new SqliteDialect({database, path: file})});
    return ok(makeRunStore(db, file));
  } catch (error) {
    database?.close();
    const told = asStoreError(error, file);
    if (told instanceof StoreError) return fail(told.failure);
    if (isFileError(error)) return fail({reason: 'store-unwritable', path: file, detail: error.message});
    throw error;
  }
}

/** Folder 0700 and file 0600 where we make them; what an admin has made keeps its mode. */
function makePrivate(file: string): void {
  mkdirSync(dirname(file), {recursive: true, mode: 0o700});
  const found = statSync(file, {throwIfNoEntry: false});
  if (found !== undefined && !found.isFile()) {
    throw new StoreError({reason: 'store-unwritable', path: file, detail: 'not a file'});
  }
  closeSync(openSync(file, 'a', 0o600));
}

async function prepare(database: SqliteDatabase, path: string): Promise<void> {
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // Before anything is changed: is this file ours to change?
  await untilFree(() => versionOf(database, path));
  await untilFree(() => useWal(database, path));
  // FULL: a commit that was acknowledged survives a power cut; NORMAL would lose the last ones in WAL mode.
  database.exec('pragma synchronous = full');
  migrate(database, path);
}

function useWal(database: SqliteDatabase, path: string): void {
  const [row] = database.prepare('pragma journal_mode = wal').all() as {readonly journal_mode: string}[];
  if (row?.journal_mode === 'wal') return;
  throw new StoreError({reason: 'store-unwritable', path, detail: `journal mode stays ${row?.journal_mode}`});
}

/** Also when there is nothing to do it takes the write lock: a store that can't be written is found at the start. */
function migrate(database: SqliteDatabase, path: string): void {
  database.exec('begin immediate');
  const version = versionOf(database, path);
  for (const sql of MIGRATIONS.slice(version).flat()) database.exec(sql);
  if (version === 0) database.exec('create table store_version (version bigint not null)');
  database.exec('delete from store_version');
  database.prepare('insert into store_version (version) values (?)').run(MIGRATIONS.length);
  database.exec('commit');
}

/** 0 for an empty file; throws for a later program's store and for another program's database. */
function versionOf(database: SqliteDatabase, path: string): number {
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as {
    readonly name: string;
  }[];
  if (tables.length === 0) return 0;
  if (!tables.some((table) => table.name === 'store_version')) {
    throw new StoreError({reason: 'store-unreadable', path, detail: 'the database of another program'});
  }
  const [row] = database.prepare('select version from store_version').all() as {readonly version: number}[];
  if (row !== undefined && row.version <= MIGRATIONS.length) return row.version;
  const detail = `schema version ${row?.version ?? 'missing'}, this program knows ${MIGRATIONS.length}`;
  throw new StoreError({reason: 'store-unreadable', path, detail});
}

/**
 * Tries again while another process makes or recovers the same file: there SQLite says "locked" without waiting (seen
 * in 1 of 100 first openings by two at once).
 */
async function untilFree<T>(work: () => T): Promise<T> {
  const deadlineMs = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      await wait(10);
    }
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'errno' in error;
}
