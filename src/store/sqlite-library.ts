/** The part of the `node:sqlite` API that this room uses, from whichever of its two homes this Node has. */

export interface SqliteStatement {
  run(...parameters: readonly unknown[]): {readonly changes: number | bigint};
  all(...parameters: readonly unknown[]): unknown[];
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteLibrary {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

/**
 * Built into Node 22.13 and later; before that the package with the same API (a prebuilt binary, no compiler). The
 * package goes when Node 20 does.
 */
export async function load(): Promise<SqliteLibrary> {
  const builtIn = quietly(() => process.getBuiltinModule('node:sqlite'));
  if (builtIn !== undefined) return builtIn as unknown as SqliteLibrary;
  return (await import('@photostructure/sqlite')) as unknown as SqliteLibrary;
}

/** Node 22 warns on every start that its SQLite is experimental: a line that no operator can act on. */
function quietly<T>(work: () => T): T {
  const warn = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = warn;
  }
}
