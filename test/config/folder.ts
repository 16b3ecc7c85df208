/** A home folder with keys and known_hosts as the example file expects them, for one test file. */
import {execFileSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';

export interface Folder {
  readonly home: string;
  path(name: string): string;
  write(name: string, content: string | Buffer, mode?: number): string;
  link(name: string, to: string): void;
  read(name: string): string;
  remove(): void;
}

/** An OpenSSH private key's frame with a cipher name in it: what the loader looks at, and no key. */
export function keyText(cipher: 'none' | 'aes256-ctr'): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(cipher.length);
  const blob = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, Buffer.from(cipher), Buffer.alloc(40)]);
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${blob.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

export function makeFolder(): Folder {
  const home = mkdtempSync(join(tmpdir(), 'gpu-reclaim-config-'));
  const folder: Folder = {
    home,
    path: (name) => join(home, name),
    write: (name, content, mode = 0o600) => {
      const path = join(home, name);
      mkdirSync(dirname(path), {recursive: true});
      writeFileSync(path, content);
      chmodSync(path, mode);
      return path;
    },
    link: (name, to) => {
      const path = join(home, name);
      mkdirSync(dirname(path), {recursive: true});
      symlinkSync(to, path);
    },
    read: (name) => readFileSync(join(home, name), 'utf8'),
    remove: () => rmSync(home, {recursive: true, force: true}),
  };
  folder.write('.ssh/gpu-look', keyText('none'));
  folder.write('.ssh/gpu-act', keyText('aes256-ctr'));
  folder.write('.ssh/known_hosts', '', 0o644);
  return folder;
}

/** A real key by ssh-keygen, beside its public half; returns its path. */
export function realKey(path: string, passphrase: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'a comment', '-f', path]);
  return path;
}
