/** Kysely over the `node:sqlite` API. Kysely's own SQLite driver wants better-sqlite3 and begins its writes too late. */
import {statSync} from 'node:fs';
import type {
  CompiledQuery,
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  QueryCompiler,
  QueryResult,
} from 'kysely';
import {SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler} from 'kysely';
import type {SqliteDatabase} from './sqlite-library.ts';
import {asStoreError, StoreError} from './store-error.ts';

/** An opened database and the file that it was opened from. */
export interface SqliteFile {
  readonly database: SqliteDatabase;
  readonly path: string;
}

export class SqliteDialect implements Dialect {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  createDriver(): Driver {
    return new SqliteDriver(this.#file);
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new SqliteAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature.
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** One connection, lent to one transaction after another. */
class SqliteDriver implements Driver {
  readonly #file: SqliteFile;
  readonly #connection: DatabaseConnection;
  readonly #inode: string;
  #lent: Promise<void> = Promise.resolve();
  #giveBack: () => void = () => {};

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#connection = new SqliteConnection(file);
    this.#inode = inodeOf(file.path);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lent;
    let giveBack = (): void => {};
    this.#lent = new Promise((resolve) => {
      giveBack = resolve;
    });
    await before;
    this.#giveBack = giveBack;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#giveBack();
  }

  /**
   * IMMEDIATE: the write lock is waited for here, where the busy timeout works, and not in the middle. A file that was
   * removed or replaced would still take writes that nobody finds again, so it is refused.
   */
  async beginTransaction(): Promise<void> {
    const {path} = this.#file;
    if (inodeOf(path) !== this.#inode) {
      throw new StoreError({reason: 'store-unwritable', path, detail: 'the file was removed or replaced'});
    }
    this.#exec('begin immediate');
  }

  async commitTransaction(): Promise<void> {
    this.#exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    try {
      this.#file.database.exec('rollback');
    } catch (error) {
      // A full disk makes SQLite roll back by itself; the first error is the one to tell.
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) {
        throw asStoreError(error, this.#file.path);
      }
    }
  }

  async destroy(): Promise<void> {
    this.#file.database.close();
  }

  #exec(sql: string): void {
    try {
      this.#file.database.exec(sql);
    } catch (error) {
      throw asStoreError(error, this.#file.path);
    }
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async executeQuery<R>({sql, parameters, query}: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const statement = this.#file.database.prepare(sql);
      if (query.kind === 'SelectQueryNode' || query.kind === 'RawNode') {
        return {rows: statement.all(...parameters) as R[]};
      }
      // `run`, because it alone reports the result code in both libraries.
      return {rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes)};
    } catch (error) {
      throw asStoreError(error, this.#file.path);
    }
  }

  // biome-ignore lint/correctness/useYield: nothing in this room streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Internal error: the store does not stream');
  }
}

/** `device:inode`, or `none`. */
function inodeOf(path: string): string {
  const found = statSync(path, {throwIfNoEntry: false});
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`;
}
