/** Everything that the zoo needs on a machine without a checkout, in one folder: two files of code, and what they read. */
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {buildSync} from 'esbuild';
import {AROUND, bundleProgram, NATIVE} from '../program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SQLITE = 'node_modules/@photostructure/sqlite';

/** `node_modules` there holds the one package that brings a binary, for a Node without SQLite. */
export function bundleZoo(folder: string): void {
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}\n');
  bundleProgram(folder);
  buildSync({
    absWorkingDir: ROOT,
    entryPoints: ['src/playground/gpu/e2e.ts'],
    outfile: join(folder, 'e2e.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: [...NATIVE, 'esbuild'],
    banner: {js: AROUND},
    logLevel: 'error',
  });
  cpSync(join(ROOT, 'src/playground/gpu/zoo'), join(folder, 'zoo'), {recursive: true});
  cpSync(join(ROOT, 'src/playground/lab/inside'), join(folder, 'inside'), {recursive: true});
  for (const path of ['package.json', 'dist', `prebuilds/${process.platform}-${process.arch}`])
    cpSync(join(ROOT, SQLITE, path), join(folder, SQLITE, path), {recursive: true});
  cpSync(join(ROOT, 'node_modules/node-gyp-build'), join(folder, 'node_modules/node-gyp-build'), {recursive: true});
}

/** This very Node beside it, packed: xz where there is one, else gzip. Returns the file's name. */
export function packNode(folder: string): string {
  const packed = spawnSync('xz', ['-6', '-T0', '-c', process.execPath], {maxBuffer: 2 ** 28});
  const name = packed.status === 0 ? 'node.xz' : 'node.gz';
  writeFileSync(join(folder, name), packed.status === 0 ? packed.stdout : gzipSync(readFileSync(process.execPath)));
  return name;
}
