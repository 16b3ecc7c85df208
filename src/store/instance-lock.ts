/**
 * One bot a store: an exclusive transaction on a side file, held for the bot's whole life. The operating system lets go
 * of it however the bot ends, kill -9 included. The terminal does not take it: several may work beside a bot.
 */
import {fail, ok, type Result, type StoreFailure} from '../domain/failure.ts';
import {load} from './sqlite-library.ts';
import {asStoreError, isBusy, StoreError} from './store-error.ts';

export interface InstanceLock {
  release(): void;
}

export async function takeInstanceLock(databasePath: string): Promise<Result<InstanceLock, StoreFailure>> {
  const path = `${databasePath}.bot-lock`;
  const {DatabaseSync} = await load();
  try {
    const side = new DatabaseSync(path);
    try {
      side.exec('pragma busy_timeout = 0');
      side.exec('begin exclusive');
    } catch (error) {
      side.close();
      throw error;
    }
    return ok({release: () => side.close()});
  } catch (error) {
    if (isBusy(error)) return fail({reason: 'store-in-use', path: databasePath});
    const told = asStoreError(error, path);
    if (told instanceof StoreError) return fail(told.failure);
    throw error;
  }
}
