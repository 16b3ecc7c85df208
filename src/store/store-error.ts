/** How a broken store is told: the port's methods aren't Result-typed, so what they can't do is thrown as this class. */
import type {StoreFailure} from '../domain/failure.ts';

/** Thrown by every method of the store when it could not read, or could not durably write. Nothing was half-written. */
export class StoreError extends Error {
  readonly failure: StoreFailure;

  constructor(failure: StoreFailure) {
    super([failure.reason, failure.path, ...('detail' in failure ? [failure.detail] : [])].join(': '));
    this.name = 'StoreError';
    this.failure = failure;
  }
}

/** SQLite's primary result codes (https://sqlite.org/rescode.html) that speak of the file or the disk, not of a bug of ours. */
const UNWRITABLE = new Set([3, 5, 6, 7, 8, 10, 13, 14, 15, 23]);
const UNREADABLE = new Set([11, 24, 26]);
/** SQLITE_IOERR_READ and SQLITE_IOERR_SHORT_READ. */
const READ_ERRORS = new Set([266, 522]);
const BUSY = 5;
const CONSTRAINT_UNIQUE = 2067;
const CONSTRAINT_PRIMARY_KEY = 1555;

/** The package for Node 20 leaves the code out of errors of `all()`: then SQLite's fixed English text tells it. */
const CODE_BY_TEXT: readonly (readonly [text: string, code: number])[] = [
  ['database is locked', BUSY],
  ['attempt to write a readonly database', 8],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['database or disk is full', 13],
  ['unable to open database file', 14],
  ['file is not a database', 26],
  ['UNIQUE constraint failed', CONSTRAINT_UNIQUE],
];

/** Turns an error of SQLite about its file into a StoreError; any other error is given back as it came. */
export function asStoreError(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === null || !(error instanceof Error)) return error;
  const detail = error.message;
  if (READ_ERRORS.has(code) || UNREADABLE.has(code & 0xff)) {
    return new StoreError({reason: 'store-unreadable', path, detail});
  }
  if (UNWRITABLE.has(code & 0xff)) return new StoreError({reason: 'store-unwritable', path, detail});
  return error;
}

/** A row with that key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARY_KEY;
}

/** Another process holds the lock that was wanted. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && (code & 0xff) === BUSY;
}

/** The extended result code, or null if `error` isn't SQLite's. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return null;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return CODE_BY_TEXT.find(([text]) => error.message.includes(text))?.[1] ?? null;
}
