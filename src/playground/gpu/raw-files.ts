/** The committed raw files of runs on a real GPU, put together: one machine, measured in one or several sittings. */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Results} from './results.ts';

export const RAW = fileURLToPath(new URL('../../../docs/gpu-results', import.meta.url));
export const PAGE = fileURLToPath(new URL('../../../docs/gpu-results.md', import.meta.url));

/** Every *.json of the folder, in the order of their names. */
export function readRaw(folder: string): Results {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted();
  return merged(names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Results));
}

/** Rows of several sittings on one kind of machine, the first one's facts on top. Another GPU or driver is another page. */
export function merged(all: readonly Results[]): Results {
  const [first, ...more] = all;
  if (first === undefined) throw new Error('there is no raw file');
  for (const {machine} of more)
    if (
      machine.gpu !== first.machine.gpu ||
      machine.driver !== first.machine.driver ||
      machine.standIn !== first.machine.standIn
    )
      throw new Error(`${machine.gpu}, ${machine.driver} is not ${first.machine.gpu}, ${first.machine.driver}`);
  return {
    machine: first.machine,
    rows: all.flatMap(({rows}) => rows),
    missing: all.flatMap(({missing}) => missing),
  };
}
