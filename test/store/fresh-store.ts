/** Stores that end with the test. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {RunStore} from '../../src/engine/ports.ts';
import {openStore} from '../../src/store/open-store.ts';

/** A path in a fresh folder that ends with the test. */
export function storePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-reclaim-store-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  return join(folder, 'runs.db');
}

/** Opens, or fails the test; closed with it. */
export async function opened(path: string): Promise<RunStore> {
  const store = await openStore(path);
  if (!store.ok) throw new Error(JSON.stringify(store.failure));
  onTestFinished(() => store.value.close());
  return store.value;
}
