// Types to JavaScript, then what the compiler leaves behind: the remote scripts are read as files at run time.
import {execFileSync} from 'node:child_process';
import {chmodSync, cpSync, rmSync} from 'node:fs';

rmSync('dist', {recursive: true, force: true});
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {stdio: 'inherit'});
cpSync('src/ssh/scripts', 'dist/ssh/scripts', {recursive: true});
chmodSync('dist/main.js', 0o755);
