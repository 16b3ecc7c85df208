import {readFileSync, statSync} from 'node:fs';

export interface KeyProblem {
  readonly problem: string;
  readonly wayOut: string;
}

/** What is wrong with a private key file, seen without its passphrase; null if nothing is. */
export function keyFileProblem(path: string, hasPassphrase: boolean): KeyProblem | null {
  let text: string;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return {problem: `${path} is no file`, wayOut: 'name the private key file itself'};
    // Group rights are left alone: that is how a mounted secret reaches a service account.
    if ((stats.mode & 0o007) !== 0) {
      return {problem: `${path} is open to every user of this machine`, wayOut: `chmod 600 ${path}`};
    }
    text = readFileSync(path, 'latin1').slice(0, 65_536);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? {problem: `${path} is not there`, wayOut: `ssh-keygen -t ed25519 -f ${path}, or name the key that you have`}
      : {problem: `${path} cannot be read (${code})`, wayOut: 'let the user that runs gpu-reclaim read it'};
  }
  if (!/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text.trimStart())) {
    const isPublic = /^(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ /.test(text);
    return isPublic
      ? {problem: `${path} is the public half`, wayOut: `name ${path.replace(/\.pub$/, '')}, the private key`}
      : {problem: `${path} is no private key`, wayOut: 'name a key as ssh-keygen -t ed25519 makes it'};
  }
  if (isEncrypted(text) && !hasPassphrase) {
    return {
      problem: `${path} needs a passphrase`,
      wayOut: 'write passphraseEnv: NAME beside it and put the passphrase into that variable, or use an agent',
    };
  }
  return null;
}

/** OpenSSH's own format names its cipher in the first field after the magic (PROTOCOL.key); PEM says it in words. */
function isEncrypted(text: string): boolean {
  if (!text.includes('BEGIN OPENSSH PRIVATE KEY')) return /ENCRYPTED/.test(text);
  const blob = Buffer.from(text.replace(/-----[^-]*-----/g, ''), 'base64');
  const magic = 'openssh-key-v1\0';
  if (blob.length < magic.length + 8) return false;
  const length = blob.readUInt32BE(magic.length);
  return blob.subarray(magic.length + 4, magic.length + 4 + length).toString('latin1') !== 'none';
}
