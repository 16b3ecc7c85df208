/**
 * The production program as one file, made for the sources as they stand and kept for the next process that wants it. It
 * starts in a fifth of the time that its sources take through a loader, and the playground starts it often.
 */
import {createHash, randomUUID} from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {type BuildOptions, build, buildSync, type Plugin} from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Not in the checkout, which may be somebody else's. */
const CACHE = join(tmpdir(), `gpu-reclaim-program-${process.getuid?.() ?? 0}`);
/** A second checkout, or an older state, may be at work with its own: what was asked for so lately stays. */
const KEPT_MS = 3_600_000;
/** A prebuilt binary, and native parts of ssh2 that are not built here: looked for at run time, as in production. */
export const NATIVE = ['@photostructure/sqlite', 'cpu-features', '*.node'];
/** What packages of the older kind find around them, and a module does not. */
export const AROUND =
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;";

let made: string | null = null;

/** Absolute path of main.js. */
export function programFile(): string {
  made ??= make();
  return join(made, 'main.js');
}

function make(): string {
  const wanted = join(CACHE, sourcesKey());
  if (existsSync(join(wanted, 'main.js'))) {
    const now = new Date();
    utimesSync(wanted, now, now);
    return wanted;
  }
  makeCache();
  const fresh = join(CACHE, `making-${randomUUID()}`);
  bundleProgram(fresh);
  dropOld();
  try {
    renameSync(fresh, wanted);
  } catch {
    // Another process was first.
    rmSync(fresh, {recursive: true, force: true});
  }
  return wanted;
}

/** A build of one's own, with parts exchanged by esbuild plugins; its main.js. Removed by whoever asked for it. */
export async function otherProgram(plugins: readonly Plugin[]): Promise<{readonly file: string; remove(): void}> {
  makeCache();
  const folder = join(CACHE, `other-${randomUUID()}`);
  await build({...bundled(folder), plugins: [...plugins]});
  copyScripts(folder);
  return {file: join(folder, 'main.js'), remove: () => rmSync(folder, {recursive: true, force: true})};
}

/** Writes main.js, the remote scripts, which are read as files at run time, and what draws pictures into `folder`. */
export function bundleProgram(folder: string): void {
  buildSync(bundled(folder));
  copyScripts(folder);
}

function bundled(folder: string): BuildOptions {
  return {
    absWorkingDir: ROOT,
    entryPoints: ['src/main.ts'],
    outfile: join(folder, 'main.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: NATIVE,
    banner: {js: AROUND},
    logLevel: 'error',
  };
}

function copyScripts(folder: string): void {
  cpSync(join(ROOT, 'src', 'ssh', 'scripts'), join(folder, 'scripts'), {recursive: true});
  cpSync(join(ROOT, 'src', 'picture', 'draw.mjs'), join(folder, 'draw.mjs'));
  cpSync(join(ROOT, 'src', 'picture', 'fonts'), join(folder, 'fonts'), {recursive: true});
}

/** The file is a module, and finds the native packages, by what stands beside it. */
function makeCache(): void {
  mkdirSync(CACHE, {recursive: true, mode: 0o700});
  writeFileSync(join(CACHE, 'package.json'), '{"type": "module"}\n');
  const link = join(CACHE, 'node_modules');
  // Left by a checkout that is gone, it would lead nowhere.
  if (!existsSync(link)) rmSync(link, {force: true});
  try {
    symlinkSync(join(ROOT, 'node_modules'), link);
  } catch {
    // It is there already.
  }
}

function dropOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (/^[0-9a-f]{16}$/.test(name) && statSync(path).mtimeMs < Date.now() - KEPT_MS)
      rmSync(path, {recursive: true, force: true});
  }
}

function sourcesKey(): string {
  const hash = createHash('sha256').update(stamp(join(ROOT, 'package-lock.json')));
  for (const entry of readdirSync(join(ROOT, 'src'), {recursive: true, withFileTypes: true}))
    if (entry.isFile() && !entry.parentPath.includes('playground'))
      hash.update(stamp(join(entry.parentPath, entry.name)));
  return hash.digest('hex').slice(0, 16);
}

function stamp(path: string): string {
  const {mtimeMs, size} = statSync(path);
  return `${path} ${mtimeMs} ${size}\n`;
}
