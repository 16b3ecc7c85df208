// Types to JavaScript, then what the compiler leaves behind: the remote scripts are read as files at run time, and pictures
// are drawn by a program of their own.
import {spawnSync} from 'node:child_process';
import {chmodSync, cpSync, rmSync} from 'node:fs';

rmSync('dist', {recursive: true, force: true});
const types = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (types.status !== 0) process.exit(types.status ?? 1);
cpSync('src/ssh/scripts', 'dist/ssh/scripts', {recursive: true});
cpSync('src/picture/draw.mjs', 'dist/picture/draw.mjs');
cpSync('src/picture/fonts', 'dist/picture/fonts', {recursive: true});
chmodSync('dist/main.js', 0o755);
